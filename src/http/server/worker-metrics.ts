// Adds up the metrics of all workers. A worker that receives a request for /metrics requests them from the primary process.
import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, type Registry } from 'prom-client'
import { expireAfter } from '../../lib/timing/deadline.ts'

/** A request of a worker for the metrics of all, and the response, which has their text. */
interface MetricsMessage {
  readonly topic: 'metrics'
  /** The number of the request in its worker. */
  readonly request: number
  readonly text?: string
}

/** Milliseconds that a worker waits for the metrics of all. */
const TIMEOUT = 6_000

const isMetricsMessage = (message: unknown): message is MetricsMessage =>
  typeof message === 'object' && message !== null && 'topic' in message && message.topic === 'metrics'

/** Responds to the requests of workers. For the primary process. */
export function serveWorkerMetrics(): void {
  const registry = new AggregatorRegistry()
  cluster.on('message', async (worker: Worker, message: unknown) => {
    if (!isMetricsMessage(message)) return
    const response: MetricsMessage = { ...message, text: await registry.clusterMetrics().catch(() => '') }
    if (worker.isConnected()) worker.send(response)
  })
}

let requests = 0

/** Returns a function that collects the metrics of all workers as a text. For a worker, whose own metrics are those of the registry. */
export function createMetricsCollector(registry: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries(registry)
  // It makes the worker respond to the primary process.
  new AggregatorRegistry()
  return async () => {
    // A worker that drains has no connection to the primary process any more.
    if (!process.connected) return registry.metrics()
    const request = ++requests
    const text = await new Promise<string | undefined>((resolve) => {
      const receive = (message: unknown) => {
        if (isMetricsMessage(message) && message.request === request) finish(message.text)
      }
      const cancel = expireAfter(TIMEOUT, () => finish(undefined))
      const finish = (result: string | undefined) => {
        cancel()
        process.off('message', receive)
        resolve(result)
      }
      process.on('message', receive)
      process.send!({ topic: 'metrics', request } satisfies MetricsMessage)
    })
    return text || registry.metrics()
  }
}
