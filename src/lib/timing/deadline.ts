// Deadlines and time-outs.

/** The longest milliseconds of a timer; a longer one would end at once. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** A time after which no further step of the work may begin. */
export interface Deadline {
  /** Returns the remaining milliseconds; negative after the deadline. */
  remaining(): number
  /** The error to throw after the deadline. */
  readonly timeoutError: Error
}

/** Creates the deadline in so many milliseconds. */
export function createDeadline(milliseconds: number, timeoutError: Error): Deadline {
  const at = performance.now() + milliseconds
  return { remaining: () => at - performance.now(), timeoutError }
}

/** Returns a deadline that passes when the signal is aborted. */
export function expireOnAbort(signal: AbortSignal, timeoutError: Error): Deadline {
  return { remaining: () => (signal.aborted ? -1 : Number.POSITIVE_INFINITY), timeoutError }
}

/** Calls `expire` after so many milliseconds, unless the returned function is called before. The timer does not keep the process alive. */
export function expireAfter(milliseconds: number, expire: () => void): () => void {
  const timer = setTimeout(expire, Math.min(milliseconds, LONGEST_TIMER)).unref()
  return () => clearTimeout(timer)
}

/** Waits for the work, at most so many milliseconds; the work then continues in the background. Throws the errors of the work until then. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = expireAfter(milliseconds, resolve)
  await Promise.race([work, promise]).finally(cancel)
}

/** Throws the error of the deadline if it has passed. */
export function checkDeadline(deadline: Deadline | undefined): void {
  if (deadline && deadline.remaining() <= 0) throw deadline.timeoutError
}
