// What the server tells Prometheus. Anybody who reaches it may read this: it names neither realms nor people nor sources.
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { driftWatch } from '../reconcile/drift-watch.ts'
import { countWaiting } from '../service/outbox.ts'
import type { Service } from '../service/service.ts'
import { countSourcesNotReady } from '../service/source-states.ts'
import { countChanged } from '../service/sources.ts'

/** Measures every request from now on, and serves what was measured at /metrics. */
export async function serveMetrics(app: FastifyInstance, service: Service): Promise<void> {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'regent_http_request_duration_seconds',
    help: 'Requests by operation (elsewhere by route), method and status, and how long they took.',
    labelNames: ['operation', 'method', 'status'],
    registers,
  })
  new Counter({
    name: 'regent_applies_total',
    help: 'Applies of a source by how they ended: changed, unchanged or failed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(service.applies)) this.inc({ outcome }, count)
    },
  })
  new Counter({
    name: 'regent_messages_total',
    help: 'Attempts to deliver a mail or a notice by how they ended: delivered, postponed or dropped.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(service.attempts)) this.inc({ outcome }, count)
    },
  })
  new Gauge({
    name: 'regent_outbox_messages',
    help: 'Mails and notices that wait to be delivered.',
    registers,
    async collect() {
      this.set(await countWaiting(service))
    },
  })
  new Gauge({
    name: 'regent_changed_objects',
    help: 'Objects that sources own and somebody else has changed since they were applied; regent drift names them.',
    registers,
    async collect() {
      this.set(await countChanged(service))
    },
  })
  const events = new Counter({
    name: 'regent_drift_events_total',
    help: 'What was seen of drift since the server began: drift, that something is not as a source applied it, and settled.',
    labelNames: ['event'],
    registers,
  })
  const watch = driftWatch(service)
  const watching = await watch.subscribe((news) => {
    for (const { event } of news.events) events.inc({ event })
  })
  app.addHook('onClose', async () => watching.stop())
  new Gauge({
    name: 'regent_drift',
    help: 'Fields and objects that are not as a source last applied them, in all realms; regent drift names them.',
    registers,
    collect() {
      this.set(watch.size())
    },
  })
  new Gauge({
    name: 'regent_sources_not_ready',
    help: 'Sources whose last statement is not live; regent source list names them.',
    registers,
    async collect() {
      this.set(await countSourcesNotReady(service))
    },
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    const operation = routeOptions.config.operation ?? routeOptions.url ?? 'none'
    requests.observe({ operation, method, status: statusCode }, elapsedTime / 1000)
  })
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
}
