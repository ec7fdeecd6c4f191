/** Of the wait, up to this share is left out by chance: what failed together is not tried together again. */
const SPREAD = 0.2

/** Milliseconds until the next try after so many failures, of which the first waits `first`: twice as long each time, up to `longest`. */
export function backOff(failures: number, first: number, longest: number): number {
  return Math.min(first * 2 ** (failures - 1), Math.max(first, longest)) * (1 - SPREAD * Math.random())
}
