// Measures edits of a realm whose operator also has many wrong resources: the time from an edit until the resource is ready again, with
// and without them.
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectToCluster } from '../src/operator/cluster/cluster-client.ts'
import { openKubernetes } from '../test/support/kubernetes.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { quantile } from './measure.ts'
import { createStore, startOperatorServer } from './operator-server.ts'
import { createResource, isReady, type WatchedResources, watchResources } from './resources.ts'

const CLIENTS = 30
const EDITS = 20
/** The limit of the ratio of the two medians. */
const MAX_RATIO = 1.5

const createClient = (name: string, spec: object) =>
  createResource('RealmClient', name, { realmRef: { name: 'realm-0' }, ...spec })

/** Measures edits without and with this many wrong resources, and prints the results. Returns whether the ratio is within the limit. */
export async function measureWrongResources(wrongCount: number): Promise<boolean> {
  const config = process.env.KUBECONFIG
  if (!config) throw new Error('no Kubernetes cluster: set KUBECONFIG to the path of its kubeconfig')
  const api = await openKubernetes()
  const postgres = await startPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const watches = new AbortController()
  try {
    await cp(config, join(folder, 'kubeconfig'))
    const namespace = await api.newNamespace()
    const store = await createStore(postgres.url, 'wrong_resources')
    const resources = watchResources(connectToCluster(), namespace, watches.signal)
    const server = await startOperatorServer(folder, store.url, namespace)
    try {
      return await measureEdits(resources, wrongCount)
    } finally {
      await resources.remove()
      await server.stop()
      await store.close()
    }
  } finally {
    watches.abort()
    await api.removeNamespaces()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureEdits(resources: WatchedResources, wrongCount: number): Promise<boolean> {
  const clients = Array.from({ length: CLIENTS }, (_, at) => createClient(`client-${at}`, { publicClient: true }))
  await resources.apply(createResource('Realm', 'realm-0', { realm: 'realm-0' }), ...clients)
  await resources.waitUntil(() => resources.list().filter(isReady).length === CLIENTS + 1)
  // The first edits of a server are slower.
  await timeEdits(resources, 'Warm')
  const without = await timeEdits(resources, 'First')
  const wrongResources = Array.from({ length: wrongCount }, (_, at) => createClient(`wrong-${at}`, { rootUrl: 'none' }))
  await resources.apply(...wrongResources)
  const countReported = () => resources.list().filter(({ status }) => status?.conditions?.length).length
  await resources.waitUntil(() => countReported() === CLIENTS + 1 + wrongCount)
  const withWrong = await timeEdits(resources, 'Second')
  const ratio = quantile(withWrong, 0.5) / quantile(without, 0.5)
  const format = (times: readonly number[]) =>
    `${quantile(times, 0.5).toFixed(0)} ms, at most ${Math.max(...times).toFixed(0)} ms`
  console.log(`${CLIENTS} clients, ${EDITS} edits, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}`)
  console.log(
    `edit to ready: median ${format(without)}; with ${wrongCount} wrong resources: median ${format(withWrong)}`,
  )
  console.log(`ratio ${ratio.toFixed(2)} of ${MAX_RATIO}`)
  return ratio <= MAX_RATIO
}

/** Edits clients one after the other. Returns the milliseconds until each is ready. */
async function timeEdits(resources: WatchedResources, label: string): Promise<number[]> {
  const times: number[] = []
  for (let edit = 0; edit < EDITS; edit++) {
    const id = `client-${edit % CLIENTS}`
    const name = `${label} ${edit}`
    const isLive = () =>
      resources.list().some((item) => item.metadata.name === id && item.spec?.name === name && isReady(item))
    const start = performance.now()
    await resources.apply(createClient(id, { publicClient: true, name }))
    times.push((await resources.waitUntil(isLive)) - start)
  }
  return times
}
