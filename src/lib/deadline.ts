// By when something must have ended: asked for between its steps.

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

/** Throws `overdue` once the moment has passed. */
export function demandTime(deadline: Deadline | undefined): void {
  if (deadline && deadline.left() <= 0) throw deadline.overdue
}
