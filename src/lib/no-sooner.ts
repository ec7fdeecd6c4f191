import { setTimeout } from 'node:timers/promises'

/** Does the work, and is done no sooner than after so many milliseconds: how long it took is not told. What it throws is thrown at once. */
export async function noSooner<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const [result] = await Promise.all([work(), setTimeout(milliseconds)])
  return result
}
