// Work queues of the operator's controllers, which have the same concurrency and back-off.
import { getBackOff } from '../lib/timing/back-off.ts'
import { type Reconcile, WorkQueue } from '../lib/timing/work-queue.ts'
import { isConflict } from './cluster/resource-writer.ts'

/** Maximum keys of one queue that are reconciled at a time. */
const CONCURRENCY = 4
/** Milliseconds until the first retry, and at most. */
const [MIN_DELAY, MAX_DELAY] = [500, 300_000]

/** Creates a work queue. `onError` reports what `reconcile` throws. */
export function createOperatorQueue(
  reconcile: Reconcile<string>,
  onError: (error: unknown) => void,
): WorkQueue<string> {
  return new WorkQueue(reconcile, { backOff: getOperatorBackOff, concurrency: CONCURRENCY, failed: onError })
}

/** Creates a work queue for writes to the API server. Conflicts are retried without a report. */
export function createWriteQueue(reconcile: Reconcile<string>, onError: (error: unknown) => void): WorkQueue<string> {
  return createOperatorQueue(reconcile, (error) => {
    if (!isConflict(error)) onError(error)
  })
}

/** Returns the milliseconds to wait after so many consecutive failures. */
function getOperatorBackOff(failures: number): number {
  return getBackOff(failures, MIN_DELAY, MAX_DELAY)
}
