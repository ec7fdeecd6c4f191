// Reads of another server, which has a second to learn of a change. A busy machine may take longer to answer.
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds after which another server knows of a change. */
export const LIMIT = 1_000

/** Reads until the value is current, and returns it. Returns the first value that is not although the read began a second after the call. */
export async function readSoon<T>(read: () => Promise<T>, isCurrent: (value: T) => boolean): Promise<T> {
  const calledAt = performance.now()
  while (true) {
    const startedAt = performance.now()
    const value = await read()
    if (isCurrent(value) || startedAt - calledAt >= LIMIT) return value
    await sleep(10)
  }
}
