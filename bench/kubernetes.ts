// The operator with many resources at a real API server: how soon all are ready, what a restart and standing still cost, and
// how soon an edit is live.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { type Cluster, openCluster } from '../src/operator/cluster.ts'
import { type Kubernetes, openKubernetes } from '../test/support/kubernetes.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { quantile } from './measure.ts'
import { newStore, type Store, serve } from './operating.ts'
import { isReady, type Resources, resource, resourcesIn, resourcesOf } from './resources.ts'

/** How long it may take: seconds, and for an edit milliseconds at the 99th percentile. */
const AT_MOST = { ready: 60, restart: 5, edit: 500 }
const EDITS = 200
/** Seconds without a change. */
const STILL = 60

/** What is measured, and by what. */
interface Bed {
  readonly count: number
  readonly realms: number
  readonly resources: Resources
  readonly store: Store
  readonly proxy: CountingProxy
}

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
    await api.removeNamespaces()
    await postgres.stop()
  }
  return within
}

async function measured(api: Kubernetes, cluster: Cluster, admin: string, count: number, realms: number) {
  const namespace = await api.newNamespace()
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const store = await newStore(admin, `resources_in_${realms}`)
  const proxy = await countingProxy()
  await writeFile(join(folder, 'kubeconfig'), proxy.config)
  const ending = new AbortController()
  const resources = resourcesIn(cluster, namespace, ending.signal)
  const bed: Bed = { count, realms, resources, store, proxy }
  const load = loadavg()[0]!.toFixed(1)
  console.log(`\n${count.toLocaleString('en')} resources in ${realms} realm${realms > 1 ? 's' : ''}, load ${load}`)
  let server = await serve(folder, store.url, namespace)
  try {
    const isSoon = await becomeReady(bed)
    print('', `${asked(proxy).text}; ${await server.memory()}`)
    await server.stop()
    const before = await store.written()
    const start = performance.now()
    server = await serve(folder, store.url, namespace)
    await server.unchanged(realms)
    const isBack = await inSync(bed, performance.now() - start, before)
    print('', await server.memory())
    const isFast = await edits(bed)
    print('', `${asked(proxy).text}; ${await server.memory()}`)
    return isSoon && isBack && isFast
  } finally {
    await resources.remove().catch((error: unknown) => console.error(error))
    await server.stop()
    ending.abort()
    await proxy.close()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Applies all of them, and waits until they are ready. */
async function becomeReady({ count, realms, resources }: Bed): Promise<boolean> {
  const start = performance.now()
  await resources.apply(...resourcesOf(count, realms))
  const applied = performance.now() - start
  const took = (await resources.until(() => resources.all().filter(isReady).length === count)) - start
  print('new, all ready', `${seconds(took)} of ${AT_MOST.ready}; applying them took ${seconds(applied)}`)
  return took <= AT_MOST.ready * 1000
}

/** What a restart that took so long has written and asked, and what standing still does then. `before`: rows written before. */
async function inSync({ store, proxy }: Bed, took: number, before: number): Promise<boolean> {
  const [rows, first] = [(await store.written()) - before, asked(proxy)]
  print('restart, in sync', `${seconds(took)} of ${AT_MOST.restart}; ${rows} rows written; ${first.text}`)
  await after(STILL * 1000)
  const [later, still] = [(await store.written()) - before, asked(proxy)]
  print(`standing still, ${STILL} s`, `${later - rows} rows written; ${still.text}`)
  return took <= AT_MOST.restart * 1000 && later === 0 && first.onlyReads && still.onlyReads
}

/** Edits one client after the other, each when the one before is ready. */
async function edits({ resources, store }: Bed): Promise<boolean> {
  const times = { live: [] as number[], watched: [] as number[], ready: [] as number[] }
  const clients = resources.all().filter(({ kind }) => kind === 'RealmClient')
  for (let edit = 0; edit < EDITS; edit++) {
    const { kind, metadata, spec } = clients[(edit * 7) % clients.length]!
    const latest = () => resources.all().find(({ metadata: { uid } }) => uid === metadata.uid)!
    const name = `Edit ${edit}`
    const isThere = () => latest().spec?.name === name
    const start = performance.now()
    const [live, watched, ready] = await Promise.all([
      store.live(`realm-${metadata.name.split('-')[1]}`, metadata.name, name),
      resources.until(isThere),
      resources.until(() => isThere() && isReady(latest())),
      resources.apply(resource(kind, metadata.name, { ...spec, name })),
    ])
    times.live.push(live - start)
    times.watched.push(watched - start)
    times.ready.push(ready - start)
  }
  print(`${EDITS} edits, live`, `${milliseconds(times.live)}, of ${AT_MOST.edit}`)
  print('', `seen by a bare watch: ${milliseconds(times.watched)}; ready: ${milliseconds(times.ready)}`)
  return quantile(times.live, 0.99) <= AT_MOST.edit
}

function print(what: string, how: string): void {
  console.log(`${what.padEnd(22)}${how}`)
}

/** What was asked of the API server since the last time. */
function asked(proxy: CountingProxy): { text: string; onlyReads: boolean } {
  const counts = Object.entries(proxy.counted())
  return {
    text: `requests: ${counts.map(([verb, count]) => `${count} ${verb}`).join(', ') || 'none'}`,
    onlyReads: counts.every(([verb]) => verb === 'list' || verb === 'watch'),
  }
}

const seconds = (time: number) => `${(time / 1000).toFixed(1)} s`

function milliseconds(times: readonly number[]): string {
  return `${quantile(times, 0.5).toFixed(0)} ms, 99th percentile ${quantile(times, 0.99).toFixed(0)} ms`
}
