// Measures the operator with many resources at a real API server: the time until all are ready, the cost of a restart and of an
// idle minute, and the time until an edit is live.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterClient, connectToCluster } from '../src/operator/cluster/cluster-client.ts'
import { type Kubernetes, openKubernetes } from '../test/support/kubernetes.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { type KubernetesCountingProxy, startKubernetesCountingProxy } from './kubernetes-counting-proxy.ts'
import { quantile } from './measure.ts'
import { createStore, type OperatorServer, type OperatorStore, startOperatorServer } from './operator-server.ts'
import { createResource, createResources, isReady, type WatchedResources, watchResources } from './resources.ts'

/** The limits: seconds until all resources are ready and for a restart, milliseconds for an edit at the 99th percentile. */
const LIMITS = { ready: 60, restart: 5, edit: 500 }
const EDITS = 200
/** Seconds without a change. */
const IDLE_SECONDS = 60

/** The resources that are measured, and access to the store and the API server. */
interface Setup {
  readonly resourceCount: number
  readonly realmCount: number
  readonly resources: WatchedResources
  readonly store: OperatorStore
  readonly proxy: KubernetesCountingProxy
}

/**
 * Measures this many resources in each number of realms, and prints the results. Returns whether all are within the limits, which are
 * those for 1,000 resources.
 */
export async function measureKubernetes(resourceCount: number, realmCounts: readonly number[]): Promise<boolean> {
  if (!process.env.KUBECONFIG) throw new Error('no Kubernetes cluster: set KUBECONFIG to the path of its kubeconfig')
  const api = await openKubernetes()
  const cluster = connectToCluster()
  const { gitVersion } = await cluster.request<{ gitVersion: string }>('GET', '/version')
  console.log(`Kubernetes ${gitVersion}, PostgreSQL, Node ${process.version}, ${availableParallelism()} cores`)
  const postgres = await startPostgres()
  let isWithinLimits = true
  try {
    for (const realmCount of realmCounts)
      isWithinLimits =
        (await measureNamespace(api, cluster, { adminUrl: postgres.url, resourceCount, realmCount })) && isWithinLimits
  } finally {
    await api.removeNamespaces()
    await postgres.stop()
  }
  return isWithinLimits
}

async function measureNamespace(
  api: Kubernetes,
  cluster: ClusterClient,
  { adminUrl, resourceCount, realmCount }: { adminUrl: string; resourceCount: number; realmCount: number },
) {
  const namespace = await api.newNamespace()
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const store = await createStore(adminUrl, `resources_in_${realmCount}`)
  const proxy = await startKubernetesCountingProxy()
  await writeFile(join(folder, 'kubeconfig'), proxy.config)
  const watches = new AbortController()
  const resources = watchResources(cluster, namespace, watches.signal)
  const setup: Setup = { resourceCount, realmCount, resources, store, proxy }
  const load = loadavg()[0]!.toFixed(1)
  console.log(
    `\n${resourceCount.toLocaleString('en')} resources in ${realmCount} realm${realmCount > 1 ? 's' : ''}, load ${load}`,
  )
  let server = await startOperatorServer(folder, store.url, namespace)
  try {
    const isCreationFast = await measureCreation(setup)
    print('', `${takeRequestCounts(proxy).text}; ${await server.describeMemory()}`)
    await server.stop()
    const rowsBefore = await store.countWrittenRows()
    const start = performance.now()
    server = await startOperatorServer(folder, store.url, namespace)
    await server.waitForUnchangedRealms(realmCount)
    const isRestartFast = await measureRestart(setup, server, { restartTime: performance.now() - start, rowsBefore })
    const isEditFast = await measureEdits(setup)
    print('', `${takeRequestCounts(proxy).text}; ${await server.describeMemory()}`)
    return isCreationFast && isRestartFast && isEditFast
  } finally {
    await resources.remove().catch((error: unknown) => console.error(error))
    await server.stop()
    watches.abort()
    await proxy.close()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Applies all resources and waits until they are ready. Returns whether this is within the limit, like the functions below. */
async function measureCreation({ resourceCount, realmCount, resources }: Setup): Promise<boolean> {
  const start = performance.now()
  await resources.apply(...createResources(resourceCount, realmCount))
  const applyTime = performance.now() - start
  const areAllReady = () => resources.list().filter(isReady).length === resourceCount
  const readyTime = (await resources.waitUntil(areAllReady, 100)) - start
  print('new, all ready', `${seconds(readyTime)} of ${LIMITS.ready}; kubectl apply took ${seconds(applyTime)}`)
  return readyTime <= LIMITS.ready * 1000
}

/** Counts the rows and requests of a restart, which took this time in milliseconds, and of the idle time after it. */
async function measureRestart(
  { store, proxy }: Setup,
  server: OperatorServer,
  { restartTime, rowsBefore }: { readonly restartTime: number; readonly rowsBefore: number },
): Promise<boolean> {
  const [restartRows, restart] = [(await store.countWrittenRows()) - rowsBefore, takeRequestCounts(proxy)]
  print(
    'restart, in sync',
    `${seconds(restartTime)} of ${LIMITS.restart}; ${restartRows} rows written; ${restart.text}`,
  )
  const cpuBefore = await server.readCpuSeconds()
  await delay(IDLE_SECONDS * 1000)
  const cpu = (await server.readCpuSeconds()) - cpuBefore
  const [allRows, idle] = [(await store.countWrittenRows()) - rowsBefore, takeRequestCounts(proxy)]
  print(`idle, ${IDLE_SECONDS} s`, `${allRows - restartRows} rows written; ${idle.text}`)
  print('', `CPU ${cpu.toFixed(1)} s; ${await server.describeMemory()}`)
  return restartTime <= LIMITS.restart * 1000 && allRows === 0 && restart.areReads && idle.areReads
}

/** Edits clients one after the other, each when the previous one is ready. */
async function measureEdits({ resources, store }: Setup): Promise<boolean> {
  const times = { live: [] as number[], watched: [] as number[], ready: [] as number[] }
  const clients = resources.list().filter(({ kind }) => kind === 'RealmClient')
  for (let edit = 0; edit < EDITS; edit++) {
    const { kind, metadata, spec } = clients[(edit * 7) % clients.length]!
    const findLatest = () => resources.list().find(({ metadata: { uid } }) => uid === metadata.uid)!
    const name = `Edit ${edit}`
    const isEdited = () => findLatest().spec?.name === name
    const start = performance.now()
    const [live, watched, ready] = await Promise.all([
      store.waitForClientName(`realm-${metadata.name.split('-')[1]}`, metadata.name, name),
      resources.waitUntil(isEdited),
      resources.waitUntil(() => isEdited() && isReady(findLatest())),
      resources.apply(createResource(kind, metadata.name, { ...spec, name })),
    ])
    times.live.push(live - start)
    times.watched.push(watched - start)
    times.ready.push(ready - start)
  }
  print(`${EDITS} edits, live`, `${milliseconds(times.live)}, of ${LIMITS.edit}`)
  print('', `seen by a watch: ${milliseconds(times.watched)}; ready: ${milliseconds(times.ready)}`)
  return quantile(times.live, 0.99) <= LIMITS.edit
}

function print(label: string, text: string): void {
  console.log(`${label.padEnd(22)}${text}`)
}

/** Returns the requests to the API server since the last call as text, and whether all of them are reads. */
function takeRequestCounts(proxy: KubernetesCountingProxy): { text: string; areReads: boolean } {
  const counts = Object.entries(proxy.takeCounts())
  return {
    text: `requests: ${counts.map(([verb, count]) => `${count} ${verb}`).join(', ') || 'none'}`,
    areReads: counts.every(([verb]) => verb === 'list' || verb === 'watch'),
  }
}

const seconds = (time: number) => `${(time / 1000).toFixed(1)} s`

function milliseconds(times: readonly number[]): string {
  return `${quantile(times, 0.5).toFixed(0)} ms, 99th percentile ${quantile(times, 0.99).toFixed(0)} ms`
}
