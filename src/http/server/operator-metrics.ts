// Metrics of the operator: its work queues and reconciliations, its requests to the API server, and the leases of this process.
import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Measurements, Quantity } from '../../lib/measurements.ts'

const WAIT_BUCKETS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300]
const RECONCILIATION_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Exports what is measured from now on. */
export function serveOperatorMetrics(app: FastifyInstance, measurements: Measurements, registers: Registry[]): void {
  const metrics = createOperatorMetrics(registers)
  const unsubscribe = measurements.subscribe(({ quantity, labels, value }) => {
    const metric = metrics[quantity]
    if (metric instanceof Histogram) metric.observe(labels, value)
    else if (metric instanceof Gauge) metric.set(labels, value)
    else metric.inc(labels, value)
  })
  app.addHook('onClose', async () => unsubscribe())
}

function createOperatorMetrics(registers: Registry[]): Record<Quantity, Counter | Gauge | Histogram> {
  const queue = { labelNames: ['queue'], registers }
  const lease = { labelNames: ['lease'], registers }
  return {
    queueDepth: new Gauge({
      ...{ name: 'regent_work_queue_depth', help: 'Keys in work queues of the operator that are due.', ...queue },
    }),
    queueAdd: new Counter({
      ...{ name: 'regent_work_queue_adds_total', help: 'Keys added to work queues of the operator.', ...queue },
    }),
    queueRetry: new Counter({
      ...{ name: 'regent_work_queue_retries_total', help: 'Keys that are retried after a failure.', ...queue },
    }),
    queueWait: new Histogram({
      name: 'regent_work_queue_wait_seconds',
      help: 'Time of keys in work queues of the operator, until their reconciliation begins.',
      buckets: WAIT_BUCKETS,
      ...queue,
    }),
    reconciliation: new Histogram({
      name: 'regent_reconcile_duration_seconds',
      help: 'Duration of reconciliations by controller and result: success or error.',
      labelNames: ['controller', 'result'],
      buckets: RECONCILIATION_BUCKETS,
      registers,
    }),
    clusterRequest: new Counter({
      name: 'regent_kubernetes_requests_total',
      help: 'Requests to the Kubernetes API server by verb, resource and status; "unreachable" if there was no response.',
      labelNames: ['verb', 'resource', 'status'],
      registers,
    }),
    leaseHeld: new Gauge({
      name: 'regent_lease_held',
      help: 'Whether this server holds the lease: "operate" to apply Kubernetes resources, "reconcile" for other sources.',
      ...lease,
    }),
    leaseTaken: new Counter({
      ...{ name: 'regent_lease_transitions_total', help: 'How often this server has taken the lease.', ...lease },
    }),
  }
}
