// Starts the server and reconciles its sources.
import { readSettings, type ServerSettings } from '../../config.ts'
import { listen } from '../../http/server/listen.ts'
import { createServer } from '../../http/server.ts'
import { createOutbound, type Outbound } from '../../lib/http/outbound.ts'
import { runEvery } from '../../lib/timing/run-every.ts'
import { deliverers } from '../../oidc/mail/deliver.ts'
import { startDriftNotifier } from '../../reconcile/drift/drift-notifications.ts'
import type { Service } from '../../service/context/service.ts'
import type { StoreLocation } from '../../service/context/store-types.ts'
import { startOutbox } from '../../service/messages/outbox.ts'
import { bootstrap, hasAdministrator } from '../../service/operations/bootstrap.ts'
import { type LeaseElection, RECONCILE_LEASE, startLeaseElection } from '../../service/operations/leases.ts'
import { openService } from '../../service/operations/open-service.ts'
import { sweepExpiredRows } from '../../service/operations/sweeper.ts'
import { readConfiguredSources } from '../configured-sources.ts'
import { type RunningOperator, startOperator } from '../operator.ts'
import { createLeaseCandidate } from '../source-replica.ts'
import { openSource, type WatchedSource } from '../watched-source.ts'
import { createWebhook, readSecret } from '../webhooks.ts'
import { readKey } from './key.ts'

/** Milliseconds between deletions of expired rows. */
const SWEEP_INTERVAL = 15 * 60 * 1000
/** Milliseconds between looks for due messages, including those of replicas that stopped. */
const DELIVERY_INTERVAL = 5_000

/** `regent serve`: runs the server until it is stopped by a signal. */
export async function serve(flags: Record<string, unknown>): Promise<void> {
  const started = performance.now()
  const settings = readSettings(flags, process.env)
  const key = await readKey(settings)
  const service = await openService({
    location: toLocation(settings),
    key,
    passwordLists: settings.passwordLists,
    outbound: createOutboundGuard(settings),
  })
  try {
    await run(service, settings, started)
  } finally {
    await service.close()
  }
}

/** Returns the location of the server's store, and how to connect to it. */
function toLocation(settings: ServerSettings): StoreLocation {
  if (!settings.database) return { folder: settings.data }
  return {
    url: settings.database,
    connections: {
      poolSize: settings.databasePool,
      directUrl: settings.databaseDirect,
      preparesStatements: settings.databasePreparedStatements === 'on',
    },
  }
}

/** Creates the guard of outbound connections from the settings. */
export function createOutboundGuard({ production, outboundAllow = [] }: ServerSettings): Outbound {
  return createOutbound({ development: !production, allow: outboundAllow })
}

async function run(service: Service, settings: ServerSettings, started: number): Promise<void> {
  const { adminUser, adminPassword } = settings
  await bootstrap(service, adminUser && adminPassword ? { user: adminUser, password: adminPassword } : undefined)
  if (settings.production && !(await hasAdministrator(service)))
    throw new Error(
      'This store has no administrator. Pass --admin-user and --admin-password (REGENT_ADMIN_USER, REGENT_ADMIN_PASSWORD), or create one with "regent admin-password".',
    )
  const driftWebhook = await readDriftWebhook(settings)
  const stopped = waitForSignal()
  const configuredSources = await readConfiguredSources(settings)
  const sources: WatchedSource[] = []
  let operator: RunningOperator | undefined
  const app = await createServer(service, {
    basePath: settings.basePath,
    hostname: settings.hostname,
    ownHost: settings.host,
    proxies: settings.proxyHeaders && { headers: settings.proxyHeaders, trusted: settings.proxyTrustedAddresses },
    logLevel: settings.logLevel,
    showRealms: !settings.production,
    metrics: true,
    apiReference: true,
    webhook: await createWebhook(service, settings, { sources, inCluster: () => operator?.webhooks }),
  })
  const logged = (error: unknown) => app.log.error(error)
  const outbox = startOutbox(service, deliverers, logged)
  const driftNotifications = driftWebhook && (await startDriftNotifier(service, driftWebhook, logged))
  const delivering = runEvery(DELIVERY_INTERVAL, outbox.wake)
  const sweeping = runEvery(SWEEP_INTERVAL, () => sweepExpiredRows(service, new Date()), logged)
  let following: LeaseElection | undefined
  try {
    const addresses = await listen(app, { host: settings.host, port: settings.port, https: toHttpsOptions(settings) })
    await service.announceUrl(addresses.local)
    const address = settings.hostname ?? addresses.public
    console.log(renderBanner(service.engine, settings, { address, took: performance.now() - started }))
    const ending = new AbortController()
    void stopped.then(() => ending.abort())
    const hooks = settings.sourceWebhookSecretFile !== undefined
    for (const configured of configuredSources) sources.push(await openSource(configured, hooks, ending.signal))
    if (sources.length)
      following = startLeaseElection(service, createLeaseCandidate(service, sources, logged), {
        name: RECONCILE_LEASE,
        seconds: settings.sourceLease,
      })
    if (settings.operator) operator = await startOperator(service, settings, logged)
    await stopped
  } finally {
    const repeatedWork = Promise.all([sweeping.close(), delivering.close()])
    await following?.close()
    await operator?.close()
    for (const source of sources) await source.close()
    await app.close()
    await driftNotifications?.close()
    await outbox.close()
    await repeatedWork
  }
}

function toHttpsOptions({ httpsPort, httpsCertificateFile, httpsCertificateKeyFile }: ServerSettings) {
  if (!httpsCertificateFile || !httpsCertificateKeyFile) return undefined
  return { port: httpsPort, certificateFile: httpsCertificateFile, keyFile: httpsCertificateKeyFile }
}

async function readDriftWebhook({ driftWebhook: url, driftWebhookSecretFile: file }: ServerSettings) {
  return url === undefined ? undefined : { url, secret: file === undefined ? undefined : await readSecret(file) }
}

function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    // Not once: the launcher passes on what a terminal has sent to this process already.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

/** Renders the greeting. `took` is the start time in milliseconds. */
function renderBanner(
  engine: Service['engine'],
  settings: ServerSettings,
  { address, took }: { address: string; took: number },
): string {
  const embedded = `embedded in the folder ${settings.data} (PGlite), for development and small realms; for PostgreSQL, pass --database <URL>`
  const admin = settings.production
    ? 'with an administrator of the master realm'
    : `${settings.adminUser} / ${settings.adminPassword} (development mode)`
  return [
    `Regent is ready at ${address}  (${(took / 1000).toFixed(1)} s)`,
    `  Log in:  ${admin}`,
    `  Store:   ${engine === 'PGlite' ? embedded : 'PostgreSQL'}`,
    `  Try:     npx regent get ''              the realms, over REST`,
    `           npx regent init my-realm.yaml  a realm file of your own, then: npx regent plan my-realm.yaml`,
    '',
  ].join('\n')
}
