// Work queues of the operator's controllers, which have the same concurrency and back-off.
import type { Measurements } from '../lib/measurements.ts'
import { getBackOff } from '../lib/timing/back-off.ts'
import { type Reconcile, WorkQueue, type WorkQueueObserver } from '../lib/timing/work-queue.ts'
import { isConflict } from './cluster/resource-writer.ts'

/** Maximum keys of one queue that are reconciled at a time. */
const CONCURRENCY = 4
/** Milliseconds until the first retry, and at most. */
const [MIN_DELAY, MAX_DELAY] = [500, 300_000]

/** The name of a queue in metrics, and what measures it. */
export interface QueueMeasurement {
  readonly name: string
  readonly measurements: Measurements
}

/** Creates a work queue. `onError` reports what `reconcile` throws. */
export function createOperatorQueue(
  reconcile: Reconcile<string>,
  onError: (error: unknown) => void,
  measured: QueueMeasurement,
): WorkQueue<string> {
  const observer = createObserver(measured)
  return new WorkQueue(reconcile, { backOff: getOperatorBackOff, concurrency: CONCURRENCY, failed: onError, observer })
}

/** Creates a work queue for writes to the API server. Conflicts are retried without a report. */
export function createWriteQueue(
  reconcile: Reconcile<string>,
  onError: (error: unknown) => void,
  measured: QueueMeasurement,
): WorkQueue<string> {
  const reportUnlessConflict = (error: unknown) => {
    if (!isConflict(error)) onError(error)
  }
  return createOperatorQueue(reconcile, reportUnlessConflict, measured)
}

function createObserver({ name: queue, measurements }: QueueMeasurement): WorkQueueObserver {
  return {
    onAdd(depth) {
      measurements.record('queueDepth', { queue }, depth)
      measurements.record('queueAdd', { queue })
    },
    onStart(depth, waited) {
      measurements.record('queueDepth', { queue }, depth)
      measurements.record('queueWait', { queue }, waited)
    },
    onRetry: () => measurements.record('queueRetry', { queue }),
    onEnd: (result, seconds) => measurements.record('reconciliation', { controller: queue, result }, seconds),
  }
}

/** Returns the milliseconds to wait after so many consecutive failures. */
function getOperatorBackOff(failures: number): number {
  return getBackOff(failures, MIN_DELAY, MAX_DELAY)
}
