// Starts the server, reconciles its sources, and keeps watching them.
import { existsSync } from 'node:fs'
import { readSettings, type Settings } from '../config.ts'
import { listen } from '../http/listen.ts'
import { createServer } from '../http/server.ts'
import { deliverers } from '../oidc/deliver.ts'
import { watchFileSource } from '../reconcile/sources/watch.ts'
import { bootstrap, hasAdministrator } from '../service/bootstrap.ts'
import { startOutbox } from '../service/outbox.ts'
import type { Ceiling } from '../service/power.ts'
import { openService, type Service } from '../service/service.ts'
import { sweep } from '../service/sweeper.ts'
import { type Followed, follow } from './follow.ts'
import { readKey } from './key.ts'
import { report } from './report.ts'
import { readSource } from './source.ts'

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
  })
  try {
    await run(service, settings, started)
  } finally {
    await service.close()
  }
}

async function run(service: Service, settings: Settings, started: number): Promise<void> {
  const { adminUser, adminPassword } = settings
  await bootstrap(service, adminUser && adminPassword ? { user: adminUser, password: adminPassword } : undefined)
  if (settings.production && !(await hasAdministrator(service)))
    throw new Error(
      'nobody can administer this store: give --admin-user and --admin-password (REGENT_ADMIN_USER, REGENT_ADMIN_PASSWORD) for the first administrator, or make one with "regent admin-password"',
    )
  const app = await createServer(service, {
    basePath: settings.basePath,
    hostname: settings.hostname,
    proxies: settings.proxyHeaders && { headers: settings.proxyHeaders, trusted: settings.proxyTrustedAddresses },
    logLevel: settings.logLevel,
    showRealms: !settings.production,
    metrics: true,
  })
  const stopped = untilStopped()
  const outbox = startOutbox(service, deliverers, (error) => app.log.error(error))
  const delivering = setInterval(outbox.wake, DELIVER_EVERY)
  const sweeping = setInterval(
    () => sweep(service, new Date()).catch((error: unknown) => app.log.error(error)),
    SWEEP_EVERY,
  )
  try {
    const addresses = await listen(app, { host: settings.host, port: settings.port, https: httpsOf(settings) })
    await service.announce(addresses.own)
    console.log(banner(service, settings, settings.hostname ?? addresses.public, performance.now() - started))
    const watchers = []
    const sources = sourcesOf(settings).map((path) => followed(path, settings))
    const follower = follow(service, sources)
    await follower.begin()
    for (const source of sources) {
      const { called } = source
      const failed = (error: unknown) => console.error(`${called} may change without being noticed: ${report(error)}\n`)
      watchers.push(await watchFileSource(called, { changed: () => follower.changed(source), failed }))
      console.log(`Watching ${called}. Edit a file there, and it is applied.\n`)
    }
    await stopped
    for (const close of watchers) await close()
  } finally {
    clearInterval(sweeping)
    clearInterval(delivering)
    await app.close()
    await outbox.close()
  }
}

function httpsOf({ httpsPort, httpsCertificateFile, httpsCertificateKeyFile }: Settings) {
  if (!httpsCertificateFile || !httpsCertificateKeyFile) return undefined
  return { port: httpsPort, certificateFile: httpsCertificateFile, keyFile: httpsCertificateKeyFile }
}

/** In development mode, the examples of the folder are a source where none is named. */
function sourcesOf({ source, production }: Settings): readonly string[] {
  return source ?? (!production && existsSync('examples') ? ['examples'] : [])
}

/** A file or folder as a source, with the limit that it has. */
function followed(path: string, settings: Settings): Followed {
  const ceilingOf = ceilingsIn(settings)
  const { unknownFields } = settings
  return {
    called: path,
    async read() {
      const state = await readSource(path, { unknownFields })
      return { ...state, ceiling: ceilingOf(state.name) }
    },
  }
}

/** The limit of a source, by its name. */
function ceilingsIn({ sourceLimits = [] }: Settings): (source: string) => Ceiling | undefined {
  const limits = new Map(sourceLimits.map(({ source, ...ceiling }) => [source, ceiling]))
  return (source) => limits.get(source) ?? limits.get('*')
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    // Not once: the launcher passes on what a terminal has sent to this process already.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

function banner(service: Service, settings: Settings, address: string, took: number): string {
  const embedded = `PGlite in ${settings.data}: one process, fine for development and small realms; --database names a PostgreSQL`
  const admin = settings.production
    ? 'with an administrator of the master realm'
    : `${settings.adminUser} / ${settings.adminPassword} (development mode)`
  return [
    `Regent is ready at ${address}  (${(took / 1000).toFixed(1)} s)`,
    `  Log in:  ${admin}`,
    `  Store:   ${service.engine === 'PGlite' ? embedded : 'PostgreSQL'}`,
    `  Try:     npx regent get ''              the realms, over REST`,
    `           npx regent init my-realm.yaml  a realm file of your own, then: npx regent plan my-realm.yaml`,
    '',
  ].join('\n')
}
