// By when something must have ended.

/** A moment after which nothing more is begun. */
export interface Deadline {
  /** Milliseconds that are left; less than nothing when it has passed. */
  left(): number
  /** What is thrown then. */
  readonly overdue: Error
}

/** The moment in so many milliseconds. */
export function deadlineIn(milliseconds: number, overdue: Error): Deadline {
  const at = performance.now() + milliseconds
  return { left: () => at - performance.now(), overdue }
}

/** Calls `expire` once so many milliseconds have passed, unless the returned function is called before. It does not keep the process alive. */
export function expireAfter(milliseconds: number, expire: () => void): () => void {
  const timer = setTimeout(expire, milliseconds).unref()
  return () => clearTimeout(timer)
}

/** Resolves with the work, or after so many milliseconds: the work goes on by itself then. Throws what it throws until then. */
export async function endedWithin(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = expireAfter(milliseconds, resolve)
  await Promise.race([work, promise]).finally(cancel)
}

/** Throws `overdue` once the moment has passed. */
export function demandTime(deadline: Deadline | undefined): void {
  if (deadline && deadline.left() <= 0) throw deadline.overdue
}
