// Metrics for Prometheus. They name neither realms nor users nor sources, and namespaces only where they are not public.
import cluster from 'node:cluster'
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { getDriftWatch } from '../../reconcile/drift/drift-watch.ts'
import type { Service } from '../../service/context/service.ts'
import { countUndeliveredAuditEntries } from '../../service/messages/audit-deliveries.ts'
import { countOutboxMessages } from '../../service/messages/outbox.ts'
import { countPlansPendingApproval } from '../../service/sources/saved-plans.ts'
import { countMarkedObjects } from '../../service/sources/source-records.ts'
import { countSourcesNotReady } from '../../service/sources/source-status.ts'
import { serveOperatorMetrics } from './operator-metrics.ts'
import { createMetricsCollector } from './worker-metrics.ts'

/** For what every worker measures about all of them. The others are added up. */
const MEASURED_BY_ALL = { aggregator: 'max' } as const

/** Measures requests and serves /metrics. */
export async function serveMetrics(
  app: FastifyInstance,
  service: Service,
  { isPublic }: { readonly isPublic: boolean },
): Promise<void> {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  measureRequests(app, registers)
  measureAttempts(service, registers)
  measureStore(service, registers)
  serveOperatorMetrics(app, service.measurements, registers)
  if (!isPublic) measureResources(service, registers)
  await measureDrift(app, service, registers)
  const collect = cluster.isWorker ? createMetricsCollector(registry) : () => registry.metrics()
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await collect()))
}

function measureRequests(app: FastifyInstance, registers: Registry[]): void {
  const requests = new Histogram({
    name: 'regent_http_request_duration_seconds',
    help: 'Duration of requests by operation or route, method and status.',
    labelNames: ['operation', 'method', 'status'],
    registers,
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    const operation = routeOptions.config.operation ?? routeOptions.url ?? 'none'
    requests.observe({ operation, method, status: statusCode }, elapsedTime / 1000)
  })
}

/** Exports the counters of the service by outcome. */
function measureAttempts(service: Service, registers: Registry[]): void {
  new Counter({
    name: 'regent_applies_total',
    help: 'Applies of sources by outcome: changed, unchanged or failed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(service.applyCounts)) this.inc({ outcome }, count)
    },
  })
  new Counter({
    name: 'regent_messages_total',
    help: 'Attempts to deliver emails and notifications by outcome: delivered, postponed or dropped.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(service.deliveryCounts)) this.inc({ outcome }, count)
    },
  })
}

/** Exports figures that are read from the store on each scrape. */
function measureStore(service: Service, registers: Registry[]): void {
  const measure = (name: string, help: string, count: (service: Service) => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      ...MEASURED_BY_ALL,
      async collect() {
        this.set(await count(service))
      },
    })
  measure('regent_outbox_messages', 'Emails and notifications waiting for delivery.', countOutboxMessages)
  measure(
    'regent_audit_entries_pending',
    'Entries of the audit trail that no receiver has accepted yet.',
    countUndeliveredAuditEntries,
  )
  measure(
    'regent_changed_objects',
    'Managed objects changed since the last apply, also in unmanaged fields only. "regent drift" lists the managed ones.',
    countMarkedObjects,
  )
  measure(
    'regent_sources_not_ready',
    'Sources whose last revision is not applied. "regent source list" lists them.',
    countSourcesNotReady,
  )
  measure(
    'regent_plans_pending',
    'Plans that are pending approval. "regent plans" lists them.',
    countPlansPendingApproval,
  )
}

/** Exports the readiness of Kubernetes resources, in the process that applies them. */
function measureResources(service: Service, registers: Registry[]): void {
  const labelNames = ['kind', 'namespace', 'reason'] as const
  new Gauge({
    name: 'regent_resource_ready',
    help: 'Whether the Kubernetes resources with this reason are ready: 1 or 0.',
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const { isReady, count: _, ...labels } of service.listResourceReadiness?.() ?? [])
        this.set(labels, Number(isReady))
    },
  })
  new Gauge({
    name: 'regent_resources',
    help: 'Kubernetes resources by the reason of their condition Ready.',
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const { isReady: _, count, ...labels } of service.listResourceReadiness?.() ?? []) this.set(labels, count)
    },
  })
}

async function measureDrift(app: FastifyInstance, service: Service, registers: Registry[]): Promise<void> {
  const events = new Counter({
    name: 'regent_drift_events_total',
    help: 'Drift events since the server started: drift and resolved.',
    labelNames: ['event'],
    registers,
    ...MEASURED_BY_ALL,
  })
  const watch = getDriftWatch(service)
  const watching = await watch.subscribe((news) => {
    for (const { event } of news.events) events.inc({ event })
  })
  app.addHook('onClose', async () => watching.unsubscribe())
  new Gauge({
    name: 'regent_drift',
    help: 'Drifted fields and objects in all realms. "regent drift" lists them.',
    registers,
    ...MEASURED_BY_ALL,
    collect() {
      this.set(watch.countDrift())
    },
  })
}
