// The operator with many resources at a real API server: how soon all are ready, what a restart and standing still cost, and
// how soon an edit is live.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import { limited } from '../src/lib/limited.ts'
import { type Cluster, openCluster } from '../src/operator/cluster.ts'
import type { Resource } from '../src/operator/resource.ts'
import { type Kept, watchKind } from '../src/operator/watch.ts'
import { type Kubernetes, openKubernetes } from '../test/support/kubernetes.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { quantile } from './measure.ts'

/** How long it may take: seconds, and for an edit milliseconds at the 99th percentile. */
const AT_MOST = { ready: 60, restart: 5, edit: 500 }
const EDITS = 200
/** Seconds without a change. */
const STILL = 60
/** Resources that are applied at a time. */
const AT_ONCE = 16
/** Of the objects of a realm, so many in ten. */
const SHARES = { RealmClient: 5, RealmRole: 3, RealmUser: 2 } as const
const PLURALS = {
  Realm: 'realms',
  RealmClient: 'realmclients',
  RealmRole: 'realmroles',
  RealmUser: 'realmusers',
} as const

/** Measures so many resources, in ten realms and in one, and prints what they cost. Whether all is within its limits. */
export async function kubernetes(count: number): Promise<boolean> {
  if (!process.env.KUBECONFIG) throw new Error('there is no Kubernetes here: name its configuration in KUBECONFIG')
  const api = await openKubernetes()
  const cluster = openCluster()
  const { gitVersion } = await cluster.ask<{ gitVersion: string }>('GET', '/version')
  console.log(`Kubernetes ${gitVersion}, PostgreSQL, Node ${process.version}, ${availableParallelism()} cores`)
  const postgres = await startPostgres()
  let within = true
  try {
    for (const realms of [10, 1]) within = (await measured(api, cluster, postgres.url, count, realms)) && within
  } finally {
    await api.leave()
    await postgres.stop()
  }
  return within
}

/** What there is in the cluster, and what changes. */
interface Seen {
  all(): Resource[]
  /** Resolves with the time when it is so. */
  until(what: () => boolean): Promise<number>
}

async function measured(api: Kubernetes, cluster: Cluster, admin: string, count: number, realms: number) {
  const namespace = await api.newNamespace()
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const store = await database(admin, `resources_in_${realms}`)
  const proxy = await countingProxy()
  await writeFile(join(folder, 'kubeconfig'), proxy.config)
  const ending = new AbortController()
  const seen = watching(cluster, namespace, ending.signal)
  const begin = () => serve(folder, store.url, namespace)
  let server = await begin()
  try {
    console.log(
      `\n${count.toLocaleString('en')} resources in ${realms} realm${realms > 1 ? 's' : ''}, load ${loadavg()[0]!.toFixed(1)}`,
    )
    const resources = resourcesOf(count, realms)
    const start = performance.now()
    await applied(cluster, namespace, resources)
    const given = performance.now()
    const ready = await seen.until(() => seen.all().filter(isReady).length === count)
    const asked = proxy.counted()
    print(
      'new, all ready',
      `${seconds(ready - start)} of ${AT_MOST.ready}; applying them took ${seconds(given - start)}`,
    )
    print('', `${told(asked)}; ${await server.memory()}`)

    await server.stop()
    const before = await store.written()
    proxy.counted()
    const again = performance.now()
    server = await begin()
    await server.unchanged(realms)
    const restart = performance.now() - again
    const rows = (await store.written()) - before
    print('restart, in sync', `${seconds(restart)} of ${AT_MOST.restart}; ${rows} rows written`)
    const first = proxy.counted()
    print('', `${told(first)}; ${await server.memory()}`)

    await after(STILL * 1000)
    const still = proxy.counted()
    print(`standing still, ${STILL} s`, `${told(still)}; ${(await store.written()) - before} rows written`)

    const times = await edited(cluster, namespace, seen, store, realms)
    print(`${EDITS} edits, live`, `${milliseconds(times.live)}, of ${AT_MOST.edit}`)
    print('', `a bare watch sees them: ${milliseconds(times.watched)}; ready: ${milliseconds(times.ready)}`)
    print('', `${told(proxy.counted())}; ${await server.memory()}`)
    return (
      ready - start <= AT_MOST.ready * 1000 &&
      restart <= AT_MOST.restart * 1000 &&
      rows === 0 &&
      quantile(times.live, 0.99) <= AT_MOST.edit &&
      [first, still].every((counts) => Object.keys(counts).every((verb) => verb === 'list' || verb === 'watch'))
    )
  } finally {
    await gone(cluster, namespace, seen)
    await server.stop()
    ending.abort()
    await proxy.close()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const isReady = ({ status, metadata }: Resource): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true

function resourcesOf(count: number, realms: number): Resource[] {
  const kinds = Object.entries(SHARES).flatMap(([kind, share]) => Array.from({ length: share }, () => kind))
  return Array.from({ length: realms }, (_, realm) => realm).flatMap((realm) => {
    const realmRef = { name: `realm-${realm}` }
    const objects = Array.from({ length: count / realms - 1 }, (_, at) => {
      const kind = kinds[at % kinds.length]!
      return resource(kind, `${kind.slice(5).toLowerCase()}-${realm}-${at}`, { realmRef, ...specOf(kind, at) })
    })
    return [resource('Realm', realmRef.name, { realm: realmRef.name, enabled: true }), ...objects]
  })
}

function specOf(kind: string, at: number): object {
  if (kind === 'RealmRole') return { description: `Role ${at}` }
  if (kind === 'RealmUser') return { enabled: true, email: `person-${at}@example.com`, lastName: `Number ${at}` }
  return { name: `Client ${at}`, redirectUris: [`https://client-${at}.example.com/*`], publicClient: true }
}

const resource = (kind: string, name: string, spec: object) =>
  ({ apiVersion: 'regent.dev/v1alpha1', kind, metadata: { name }, spec }) as unknown as Resource

const pathOf = (kind: string, namespace: string, name: string) =>
  `/apis/regent.dev/v1alpha1/namespaces/${namespace}/${PLURALS[kind as keyof typeof PLURALS]}/${name}`

/** `kubectl apply --server-side`. */
const apply = (cluster: Cluster, namespace: string, one: Resource) =>
  cluster.ask(
    'PATCH',
    `${pathOf(one.kind, namespace, one.metadata.name)}?fieldManager=bench`,
    one,
    'application/apply-patch+yaml',
  )

async function applied(cluster: Cluster, namespace: string, resources: readonly Resource[]): Promise<void> {
  const turn = limited(AT_ONCE)
  await Promise.all(resources.map((one) => turn(() => apply(cluster, namespace, one))))
}

function watching(cluster: Cluster, namespace: string, signal: AbortSignal): Seen {
  let wake = Promise.withResolvers<void>()
  const changed = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const failed = (error: unknown) => console.error(error)
  const kept: Kept[] = Object.keys(PLURALS).map((kind) =>
    watchKind(cluster, pathOf(kind, namespace, '').slice(0, -1), '', { changed, failed }, signal),
  )
  return {
    all: () => kept.flatMap(({ resources }) => [...resources.values()]),
    async until(what) {
      while (!what()) await wake.promise
      return performance.now()
    },
  }
}

/** Edits one client after the other, each when the one before is ready. */
async function edited(cluster: Cluster, namespace: string, seen: Seen, store: Store, realms: number) {
  const times = { live: [] as number[], watched: [] as number[], ready: [] as number[] }
  const clients = seen.all().filter(({ kind }) => kind === 'RealmClient')
  for (let edit = 0; edit < EDITS; edit++) {
    const { kind, metadata, spec } = clients[(edit * 7) % clients.length]!
    const latest = () => seen.all().find(({ metadata: { uid } }) => uid === metadata.uid)!
    const name = `Edit ${edit}`
    const start = performance.now()
    const asked = apply(cluster, namespace, resource(kind, metadata.name, { ...spec, name }))
    const [live, watched, ready] = await Promise.all([
      store.live(`realm-${Number(metadata.name.split('-')[1]) % realms}`, metadata.name, name),
      seen.until(() => latest().spec?.name === name),
      seen.until(() => latest().spec?.name === name && isReady(latest())),
      asked,
    ])
    times.live.push(live - start)
    times.watched.push(watched - start)
    times.ready.push(ready - start)
  }
  return times
}

/** The store, asked past the server. */
interface Store {
  readonly url: string
  /** Rows written so far; leases are renewed all the time. */
  written(): Promise<number>
  /** Resolves with the time when the client has that name. */
  live(realm: string, client: string, name: string): Promise<number>
  close(): Promise<void>
}

async function database(admin: string, name: string): Promise<Store> {
  const first = new pg.Client(admin)
  await first.connect()
  await first.query(`create database ${name}`)
  await first.end()
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href
  const client = new pg.Client(url)
  await client.connect()
  const one = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0]
  return {
    url,
    async written() {
      // A session tells of what it wrote when it is idle, at most once a second.
      await after(1_100)
      const { sum } = await one(`select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as sum
        from pg_stat_user_tables where relname <> 'lease'`)
      return sum
    },
    async live(realm, client, name) {
      const { number } = await one('select number from realm where name = $1', [realm])
      const text = `select 1 from client where realm = $1 and client_id = $2 and body ->> 'name' = $3`
      while (!(await one(text, [number, client, name]))) await after(1)
      return performance.now()
    },
    close: () => client.end(),
  }
}

/** The server under measurement, in a process of its own. */
interface Server {
  /** Waits until so many realms were looked at and found in sync. */
  unchanged(realms: number): Promise<void>
  /** The most that it has had so far. */
  memory(): Promise<string>
  stop(): Promise<void>
}

async function serve(folder: string, database: string, namespace: string): Promise<Server> {
  const command = join(import.meta.dirname, '..', 'bin', 'regent.js')
  await writeFile(join(folder, 'key'), Buffer.alloc(32, 1).toString('base64'))
  const flags = ['--port', '0', '--database', database, '--key-file', 'key', '--operator']
  flags.push('--operator-namespaces', namespace)
  const child = spawn(process.execPath, [command, 'serve', ...flags], {
    cwd: folder,
    env: { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), REGENT_SOURCE: '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const over = once(child, 'exit')
  while (!/ready at \S+/.test(output)) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await Promise.race([once(child.stdout, 'data'), over])
  }
  const [, url] = /ready at (\S+)/.exec(output)!
  return {
    async unchanged(realms) {
      const count = async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text()
        return Number(/^regent_applies_total\{outcome="unchanged"\} (\d+)/m.exec(metrics)?.[1] ?? 0)
      }
      while ((await count()) < realms) await after(20)
    },
    async memory() {
      const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))![1]
      return `memory at most ${Math.round(Number(peak) / 1024)} MB`
    },
    async stop() {
      if (child.exitCode === null) child.kill('SIGINT')
      await over
    },
  }
}

/** Takes the resources away while the server still runs, which lets them go. */
async function gone(cluster: Cluster, namespace: string, seen: Seen): Promise<void> {
  for (const kind of ['Realm', 'RealmClient', 'RealmRole', 'RealmUser'])
    await cluster.ask('DELETE', pathOf(kind, namespace, '').slice(0, -1))
  await seen.until(() => !seen.all().length)
}

function print(what: string, how: string): void {
  console.log(`${what.padEnd(22)}${how}`)
}

function told(counts: ReturnType<CountingProxy['counted']>): string {
  const all = Object.entries(counts).map(([verb, count]) => `${count} ${verb}`)
  return `asked of the API server: ${all.join(', ') || 'nothing'}`
}

const seconds = (time: number) => `${(time / 1000).toFixed(1)} s`

function milliseconds(times: readonly number[]): string {
  return `${quantile(times, 0.5).toFixed(0)} ms, 99th percentile ${quantile(times, 0.99).toFixed(0)} ms`
}
