// Starts the server and reconciles its sources.

import cluster from 'node:cluster'
import { setFlagsFromString } from 'node:v8'
import { readSettings, type ServerSettings } from '../../config.ts'
import { createErrorLog } from '../../http/server/health.ts'
import { listen } from '../../http/server/listen.ts'
import { readFiles } from '../../http/server/secure-server.ts'
import { createServer, type ServerOptions } from '../../http/server.ts'
import { createOutbound, type Outbound } from '../../lib/http/outbound.ts'
import { listenToProgress } from '../../lib/timing/progress.ts'
import { startDriftNotifier } from '../../reconcile/drift/drift-notifications.ts'
import { openKeyStoreDirectory } from '../../service/context/key-store-directory.ts'
import { openPasswordBlacklists } from '../../service/context/password-blacklists.ts'
import type { Service } from '../../service/context/service.ts'
import type { StoreLocation } from '../../service/context/store-types.ts'
import { openVaultDirectory } from '../../service/context/vault-directory.ts'
import { bootstrap, hasAdministrator } from '../../service/operations/bootstrap.ts'
import { type LeaseElection, RECONCILE_LEASE, startLeaseElection } from '../../service/operations/leases.ts'
import { openService } from '../../service/operations/open-service.ts'
import { createAuditReceivers, listAuditSinks } from '../audit-receivers.ts'
import { startBackgroundWork } from '../background-work.ts'
import { readConfiguredSources, readPermissions } from '../configured-sources.ts'
import { createNotificationReceivers } from '../notification-receivers.ts'
import { startTracing } from '../open-telemetry.ts'
import type { RunningOperator } from '../operator.ts'
import { createLeaseCandidate } from '../source-replica.ts'
import { reportNewStore } from '../store-place.ts'
import { releaseSignals } from '../terminal/interruption.ts'
import { clearProgress, showWork } from '../terminal/progress.ts'
import { hasTextLog, textLog } from '../terminal/text-log.ts'
import { openSource, type WatchedSource } from '../watched-source.ts'
import { createWebhook } from '../webhooks.ts'
import { runWorkers } from '../workers.ts'
import { readKey } from './key.ts'

/** `regent serve`: runs the server until it is stopped by a signal. */
export async function serve(flags: Record<string, unknown>): Promise<void> {
  const started = performance.now()
  const settings = readSettings(flags, process.env)
  if (settings.workers > 1 && cluster.isPrimary) return runWorkers(settings.workers)
  await reportNewStore(settings)
  const key = await readKey(settings)
  const permissions = readPermissions(settings)
  const tracing = await startTracing(process.env)
  const open = () =>
    openService({
      location: toLocation(settings),
      key,
      passwordBlacklists: openPasswordBlacklists(settings.passwordLists),
      vaultDirectory: openVaultDirectory(settings.vaultDir),
      keyStoreDirectory: openKeyStoreDirectory(settings.keyStoreDir),
      requiresSecondApprover: settings.requireSecondApprover,
      auditSinks: listAuditSinks(settings),
      searchableClientAttributes: settings.clientSearchableAttributes,
      findSourcePermissions: (source) => permissions.get(source),
      outbound: createOutboundGuard(settings),
    })
  const service = await listenToProgress(showWork, open).finally(clearProgress)
  try {
    await run(service, settings, started)
  } finally {
    await service.close()
    await tracing?.close()
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

/** V8's default: the young generation of the heap grows with the load. The command begins with another factor: see commands.ts. */
const GROWING_YOUNG_GENERATION = '--semi-space-growth-factor=2'

async function run(service: Service, settings: ServerSettings, started: number): Promise<void> {
  const { adminUser, adminPassword, journalRetention: retention } = settings
  await bootstrap(service, adminUser && adminPassword ? { user: adminUser, password: adminPassword } : undefined)
  if (settings.production && !(await hasAdministrator(service)))
    throw new Error(
      'This store has no administrator. Pass --admin-user and --admin-password (REGENT_ADMIN_USER, REGENT_ADMIN_PASSWORD), or create one with "regent admin-password NAME --create".',
    )
  service.notificationReceivers = await createNotificationReceivers(settings)
  const auditReceivers = await createAuditReceivers(settings)
  const stopped = waitForSignal()
  const configuredSources = await readConfiguredSources(settings)
  const sources: WatchedSource[] = []
  let operator: RunningOperator | undefined
  const app = await createServer(service, {
    basePath: settings.basePath,
    hostname: settings.hostname,
    ownHost: settings.host,
    ...toProxyOptions(settings),
    ...toLogOptions(settings),
    showRealms: !settings.production,
    metrics: true,
    hasManagementPort: settings.managementPort !== undefined,
    apiReference: true,
    ...(await toConsoleOptions(settings)),
    webhook: await createWebhook(service, settings, { sources, inCluster: () => operator?.webhooks }),
  })
  const logged = createErrorLog(app, service)
  const background = startBackgroundWork(service, logged, { retention, auditReceivers })
  const driftNotifier = await startDriftNotifier(service, logged)
  let following: LeaseElection | undefined
  try {
    const { host, port, managementPort } = settings
    const listening = await listen(app, { host, port, managementPort, https: toHttpsOptions(settings) })
    await service.announceUrl(listening.localUrl)
    const address = settings.hostname ?? listening.publicUrl
    printBanner(service.engine, settings, { address, took: performance.now() - started })
    setFlagsFromString(GROWING_YOUNG_GENERATION)
    const ending = new AbortController()
    void stopped.then(() => ending.abort())
    const hooks = settings.sourceWebhookSecretFile !== undefined
    for (const configured of configuredSources) sources.push(await openSource(configured, hooks, ending.signal))
    if (sources.length)
      following = startLeaseElection(service, createLeaseCandidate(service, sources, logged), {
        name: RECONCILE_LEASE,
        seconds: settings.sourceLease,
      })
    else if (!settings.operator && isFirstProcess())
      console.log('No source is followed. To follow files or a git repository, pass --source or --sources.\n')
    operator = await startConfiguredOperator(service, settings, logged)
    await stopped
    if (cluster.worker) await listening.drain(() => cluster.worker!.disconnect())
  } finally {
    await following?.close()
    await operator?.close()
    for (const source of sources) await source.close()
    await app.close()
    await driftNotifier?.close()
    await background.close()
  }
}

/** Returns which consoles are served. Servers without Keycloak's do not load the code that reads it. */
async function toConsoleOptions({ console, adminConsole: folder }: ServerSettings): Promise<Partial<ServerOptions>> {
  if (folder === undefined) return { console: console === 'on' }
  const { openConsoleTheme } = await import('../../http/server/console-theme.ts')
  return { console: console === 'on', adminConsole: await openConsoleTheme(folder) }
}

/** Starts the operator if it is configured. Other servers do not load the Kubernetes client, which is large. */
async function startConfiguredOperator(
  service: Service,
  settings: ServerSettings,
  failed: (error: unknown) => void,
): Promise<RunningOperator | undefined> {
  return settings.operator ? (await import('../operator.ts')).startOperator(service, settings, failed) : undefined
}

/** Returns the options for the log. */
function toLogOptions({ logLevel, logFormat }: ServerSettings): Pick<ServerOptions, 'logLevel' | 'logTo'> {
  return { logLevel, ...(hasTextLog(logFormat) && { logTo: textLog }) }
}

/** Returns the options for requests through a proxy, and for certificates of clients. */
function toProxyOptions({
  proxyHeaders: headers,
  proxyTrustedAddresses: trusted,
  proxyCertificateHeader: certificateHeader,
  httpsClientCaFile,
}: ServerSettings): Pick<ServerOptions, 'proxies' | 'clientCertificates'> {
  return {
    proxies: headers && { headers, trusted, certificateHeader },
    clientCertificates: httpsClientCaFile !== undefined || certificateHeader !== undefined,
  }
}

function toHttpsOptions(settings: ServerSettings) {
  const { httpsPort, httpsCertificateFile, httpsCertificateKeyFile, httpsClientCaFile } = settings
  if (!httpsCertificateFile || !httpsCertificateKeyFile) return undefined
  return {
    port: httpsPort,
    readCertificate: readFiles({ certificateFile: httpsCertificateFile, keyFile: httpsCertificateKeyFile }),
    clientCaFile: httpsClientCaFile,
    isClientOptional: true,
  }
}

function waitForSignal(): Promise<void> {
  releaseSignals()
  return new Promise((resolve) => {
    // Not once: the launcher passes on what a terminal has sent to this process already.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

/** Prints the greeting, in the first worker only. */
function printBanner(...greeting: Parameters<typeof renderBanner>): void {
  if (isFirstProcess()) console.log(renderBanner(...greeting))
}

function isFirstProcess(): boolean {
  return cluster.isPrimary || cluster.worker?.id === 1
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
    ...(settings.console === 'on' ? [`  Console: ${address}/console`] : []),
    `  Log in:  ${admin}`,
    `  Store:   ${engine === 'PGlite' ? embedded : 'PostgreSQL'}`,
    settings.production
      ? `  Try:     npx regent get --server ${address}`
      : `  Try:     npx regent get                 the realms, over REST`,
    ...(settings.production
      ? []
      : [`           npx regent init my-realm.yaml  a realm file of your own, then: npx regent plan my-realm.yaml`]),
    '',
  ].join('\n')
}
