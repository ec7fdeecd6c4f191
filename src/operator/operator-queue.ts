// Work queues of the operator: all have the same concurrency and back-off.
import { getBackOff } from '../lib/timing/back-off.ts'
import { type Reconcile, WorkQueue } from '../lib/timing/work-queue.ts'

/** Keys that one queue reconciles at a time. */
const CONCURRENCY = 4
/** Milliseconds after the first failure, and at most. */
const [FIRST, LONGEST] = [500, 300_000]

/** Creates a work queue. `failed` reports what `reconcile` throws. */
export function operatorQueue(reconcile: Reconcile<string>, failed: (error: unknown) => void): WorkQueue<string> {
  return new WorkQueue(reconcile, { backOff: operatorBackOff, concurrency: CONCURRENCY, failed })
}

/** Returns the milliseconds to wait after so many consecutive failures. */
export function operatorBackOff(failures: number): number {
  return getBackOff(failures, FIRST, LONGEST)
}
