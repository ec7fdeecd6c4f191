// Delays between attempts.

/** The largest share of a delay that is left out at random, so that what failed together is not retried together. */
const JITTER = 0.2

/**
 * Returns the milliseconds to wait after so many consecutive failures: `first` after one failure, then twice as long each time, up
 * to `longest`, less the jitter.
 */
export function getBackOff(failures: number, first: number, longest: number): number {
  return Math.min(first * 2 ** (failures - 1), Math.max(first, longest)) * (1 - JITTER * Math.random())
}

/** Returns the milliseconds to wait after so many consecutive failures by a table; its last delay holds for all further failures. */
export function getSteppedBackOff(failures: number, delays: readonly number[]): number {
  return delays[Math.min(failures, delays.length) - 1] ?? 0
}
