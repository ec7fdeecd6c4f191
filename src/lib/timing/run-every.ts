// Work that is repeated at a fixed interval.
import { WorkQueue } from './work-queue.ts'

/** Work that is repeated until it is closed. */
export interface RepeatedWork {
  /** Begins no further run, and resolves when a run in progress has ended. */
  close(): Promise<void>
}

/**
 * Runs the work after so many milliseconds, and as long after the end of each run. `failed` reports what a run throws. It does not
 * keep the process alive.
 */
export function runEvery(
  milliseconds: number,
  work: () => unknown,
  failed: (error: unknown) => void = () => {},
): RepeatedWork {
  const run = async () => {
    await work()
    return { requeueAfter: milliseconds }
  }
  const queue = new WorkQueue(run, { backOff: () => milliseconds, failed })
  queue.addAfter(work, milliseconds)
  return queue
}
