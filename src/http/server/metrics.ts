// What the server tells Prometheus. Anybody who reaches it may read this: it names neither realms nor people nor sources.
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { getDriftWatch } from '../../reconcile/drift/drift-watch.ts'
import type { Service } from '../../service/context/service.ts'
import { countOutboxMessages } from '../../service/messages/outbox.ts'
import { countSourcesNotReady } from '../../service/sources/source-status.ts'
import { countMarkedObjects } from '../../service/sources/source-records.ts'

/** Measures every request from now on, and serves what was measured at /metrics. */
export async function serveMetrics(app: FastifyInstance, service: Service): Promise<void> {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  measureRequests(app, registers)
  measureAttempts(service, registers)
  measureStore(service, registers)
  await measureDrift(app, service, registers)
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
}

function measureRequests(app: FastifyInstance, registers: Registry[]): void {
  const requests = new Histogram({
    name: 'regent_http_request_duration_seconds',
    help: 'Requests by operation (elsewhere by route), method and status, and how long they took.',
    labelNames: ['operation', 'method', 'status'],
    registers,
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    const operation = routeOptions.config.operation ?? routeOptions.url ?? 'none'
    requests.observe({ operation, method, status: statusCode }, elapsedTime / 1000)
  })
}

/** Measures what the service counts by outcome. */
function measureAttempts(service: Service, registers: Registry[]): void {
  new Counter({
    name: 'regent_applies_total',
    help: 'Applies of a source by how they ended: changed, unchanged or failed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(service.applyCounts)) this.inc({ outcome }, count)
    },
  })
  new Counter({
    name: 'regent_messages_total',
    help: 'Attempts to deliver a mail or a notice by how they ended: delivered, postponed or dropped.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(service.deliveryCounts)) this.inc({ outcome }, count)
    },
  })
}

/** Measures what the store holds whenever somebody reads the metrics. */
function measureStore(service: Service, registers: Registry[]): void {
  const measure = (name: string, help: string, count: (service: Service) => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await count(service))
      },
    })
  measure('regent_outbox_messages', 'Mails and notices that wait to be delivered.', countOutboxMessages)
  measure(
    'regent_changed_objects',
    'Objects that sources own and somebody else has changed since they were applied; regent drift names them.',
    countMarkedObjects,
  )
  measure(
    'regent_sources_not_ready',
    'Sources whose last statement is not live; regent source list names them.',
    countSourcesNotReady,
  )
}

async function measureDrift(app: FastifyInstance, service: Service, registers: Registry[]): Promise<void> {
  const events = new Counter({
    name: 'regent_drift_events_total',
    help: 'What was seen of drift since the server began: drift, that something is not as a source applied it, and resolved.',
    labelNames: ['event'],
    registers,
  })
  const watch = getDriftWatch(service)
  const watching = await watch.subscribe((news) => {
    for (const { event } of news.events) events.inc({ event })
  })
  app.addHook('onClose', async () => watching.unsubscribe())
  new Gauge({
    name: 'regent_drift',
    help: 'Fields and objects that are not as a source last applied them, in all realms; regent drift names them.',
    registers,
    collect() {
      this.set(watch.countDrift())
    },
  })
}
