// Hides from callers how long work takes, so that they learn nothing from its duration.
import { setTimeout } from 'node:timers/promises'

/** Runs the work and returns its result after at least so many milliseconds. Errors of the work are thrown at once. */
export async function runAtLeast<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const [result] = await Promise.all([work(), setTimeout(milliseconds)])
  return result
}

/** Waits until a multiple of so many milliseconds has passed since `started`, a time of `performance.now()`. */
export async function waitForBeat(milliseconds: number, started: number): Promise<void> {
  await setTimeout(milliseconds - ((performance.now() - started) % milliseconds))
}
