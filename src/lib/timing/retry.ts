// Repeats a call whose caller waits for the result. Use a work queue for work in the background.
import { setTimeout } from 'node:timers/promises'

/** The delays between the attempts of a call. */
export interface RetryOptions {
  /** Returns the milliseconds to wait after this error, given the number of failures so far; undefined: the error is thrown. */
  readonly delayAfter: (error: unknown, failures: number) => number | undefined
  /** Ends a delay: an AbortError is thrown then. */
  readonly signal?: AbortSignal | undefined
}

/** Calls `attempt` until it succeeds, and returns its result. Throws the first error after which it is not repeated. */
export async function retry<T>(attempt: () => Promise<T>, { delayAfter, signal }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const delay = delayAfter(error, failures)
      if (delay === undefined) throw error
      await setTimeout(delay, undefined, signal && { signal })
    }
  }
}
