// Work whose duration callers must not learn from.
import { setTimeout } from 'node:timers/promises'

/** Does the work, and is done no sooner than after so many milliseconds: how long it took is not told. What it throws is thrown at once. */
export async function noSooner<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const [result] = await Promise.all([work(), setTimeout(milliseconds)])
  return result
}

/** Waits until a multiple of so many milliseconds has passed since `started`, a time by `performance.now()`. */
export async function untilBeat(milliseconds: number, started: number): Promise<void> {
  await setTimeout(milliseconds - ((performance.now() - started) % milliseconds))
}
