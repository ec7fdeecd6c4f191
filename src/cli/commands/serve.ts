// Starts the server, reconciles its sources, and keeps watching them.
import { readSettings, type Settings } from '../../config.ts'
import { listen } from '../../http/server/listen.ts'
import { createServer } from '../../http/server.ts'
import { type Outbound, outboundGuard } from '../../lib/http/outbound.ts'
import { runEvery } from '../../lib/timing/run-every.ts'
import { deliverers } from '../../oidc/mail/deliver.ts'
import { startDriftNotices } from '../../reconcile/drift/drift-notices.ts'
import type { Service } from '../../service/context/service.ts'
import { startOutbox } from '../../service/messages/outbox.ts'
import { bootstrap, hasAdministrator } from '../../service/operations/bootstrap.ts'
import { RECONCILE, type Seeker, seekLease } from '../../service/operations/leases.ts'
import { openService } from '../../service/operations/open-service.ts'
import { sweep } from '../../service/operations/sweeper.ts'
import { namedSources } from '../named.ts'
import { type Operating, startOperator } from '../operating.ts'
import { replica } from '../replica.ts'
import { openSource, type Watched } from '../watched.ts'
import { secretIn, webhookOf } from '../webhooks.ts'
import { readKey } from './key.ts'

/** How often goes what is over. */
const SWEEP_EVERY = 15 * 60 * 1000
/** How often to look for messages that are due again, or that other processes have left. */
const DELIVER_EVERY = 5_000

/** `regent serve`. Returns when the server has stopped. */
export async function serve(flags: Record<string, unknown>): Promise<void> {
  const started = performance.now()
  const settings = readSettings(flags, process.env)
  const key = await readKey(settings)
  const service = await openService({
    location: settings.database ? { url: settings.database } : { folder: settings.data },
    key,
    passwordLists: settings.passwordLists,
    outbound: outboundOf(settings),
  })
  try {
    await run(service, settings, started)
  } finally {
    await service.close()
  }
}

/** Returns the guard of connections that the settings ask for. */
export function outboundOf({ production, outboundAllow = [] }: Settings): Outbound {
  return outboundGuard({ development: !production, allow: outboundAllow })
}

async function run(service: Service, settings: Settings, started: number): Promise<void> {
  const { adminUser, adminPassword } = settings
  await bootstrap(service, adminUser && adminPassword ? { user: adminUser, password: adminPassword } : undefined)
  if (settings.production && !(await hasAdministrator(service)))
    throw new Error(
      'nobody can administer this store: give --admin-user and --admin-password (REGENT_ADMIN_USER, REGENT_ADMIN_PASSWORD) for the first administrator, or make one with "regent admin-password"',
    )
  const driftWebhook = await driftWebhookOf(settings)
  const stopped = untilStopped()
  const named = await namedSources(settings)
  const sources: Watched[] = []
  let operating: Operating | undefined
  const app = await createServer(service, {
    basePath: settings.basePath,
    hostname: settings.hostname,
    ownHost: settings.host,
    proxies: settings.proxyHeaders && { headers: settings.proxyHeaders, trusted: settings.proxyTrustedAddresses },
    logLevel: settings.logLevel,
    showRealms: !settings.production,
    metrics: true,
    webhook: await webhookOf(service, settings, { sources, inCluster: () => operating?.webhooks }),
  })
  const logged = (error: unknown) => app.log.error(error)
  const outbox = startOutbox(service, deliverers, logged)
  const notices = driftWebhook && (await startDriftNotices(service, driftWebhook, logged))
  const delivering = runEvery(DELIVER_EVERY, outbox.wake)
  const sweeping = runEvery(SWEEP_EVERY, () => sweep(service, new Date()), logged)
  let following: Seeker | undefined
  try {
    const addresses = await listen(app, { host: settings.host, port: settings.port, https: httpsOf(settings) })
    await service.announce(addresses.own)
    const address = settings.hostname ?? addresses.public
    console.log(banner(service.engine, settings, { address, took: performance.now() - started }))
    const ending = new AbortController()
    void stopped.then(() => ending.abort())
    const hooks = settings.sourceWebhookSecretFile !== undefined
    for (const one of named) sources.push(await openSource(one, hooks, ending.signal))
    if (sources.length)
      following = seekLease(service, RECONCILE, settings.sourceLease, replica(service, sources, logged))
    if (settings.operator) operating = await startOperator(service, settings, logged)
    await stopped
  } finally {
    const repeatedWork = Promise.all([sweeping.close(), delivering.close()])
    await following?.close()
    await operating?.close()
    for (const source of sources) await source.close()
    await app.close()
    await notices?.close()
    await outbox.close()
    await repeatedWork
  }
}

function httpsOf({ httpsPort, httpsCertificateFile, httpsCertificateKeyFile }: Settings) {
  if (!httpsCertificateFile || !httpsCertificateKeyFile) return undefined
  return { port: httpsPort, certificateFile: httpsCertificateFile, keyFile: httpsCertificateKeyFile }
}

async function driftWebhookOf({ driftWebhook: url, driftWebhookSecretFile: file }: Settings) {
  return url === undefined ? undefined : { url, secret: file === undefined ? undefined : await secretIn(file) }
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    // Not once: the launcher passes on what a terminal has sent to this process already.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

/** `took`: milliseconds until the server was ready. */
function banner(
  engine: Service['engine'],
  settings: Settings,
  { address, took }: { address: string; took: number },
): string {
  const embedded = `PGlite in ${settings.data}: one process, fine for development and small realms; --database names a PostgreSQL`
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
