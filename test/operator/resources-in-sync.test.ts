// The cost of resources in sync: a restart only reads, and an edit writes only what it changed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { ClusterClient } from '../../src/operator/cluster/cluster-client.ts'
import { getResourceNames, realmSourceNames } from '../../src/operator/cluster/resource-names.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { newName, openNewService } from '../support/service.ts'
import {
  createNamespace,
  getOperatorCluster,
  resource,
  startOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

/** The paths of requests to the API server, by verb. */
type ApiRequests = Readonly<Record<'list' | 'watch' | 'POST' | 'PATCH', string[]>>

/** Returns a connection that records its requests. */
function recordRequests(): { cluster: ClusterClient; requests: ApiRequests } {
  const cluster = getOperatorCluster()
  const requests: ApiRequests = { list: [], watch: [], POST: [], PATCH: [] }
  const record = (method: string, path: string) => {
    // Not recorded: further pages of long lists, and imports, whose definition other tests install and remove.
    if (path.includes('&continue=') || path.startsWith('/apis/k8s.keycloak.org/')) return
    requests[(method === 'GET' ? 'list' : method) as keyof ApiRequests].push(path.replace(/\?.*/, ''))
  }
  return {
    requests,
    cluster: {
      ...cluster,
      request: (method, path, ...rest) => {
        record(method, path)
        return cluster.request(method, path, ...rest)
      },
      streamLines: (path, ...rest) => {
        record('watch', path)
        return cluster.streamLines(path, ...rest)
      },
    },
  }
}

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const statements: string[] = []
  let service: Service
  let kubernetes: Kubernetes
  let operator: TestOperator
  let space: TestNamespace
  beforeAll(async () => {
    service = await openNewService({ onStatement: ({ sql }) => void statements.push(sql) })
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    kubernetes = await openKubernetes()
    operator = startOperator(service)
    space = await createNamespace(kubernetes)
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes, operator)
    await service?.close()
  })

  const realms = ['one', 'two'].map((name) => resource('Realm', name, { realm: newName() }))
  const clientsIn = (realm: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      resource('RealmClient', `${realm}-${index}`, { realmRef: { name: realm }, name: 'Client' }),
    )
  const applyAll = async (resources: readonly ReturnType<typeof resource>[]) => {
    await Promise.all(resources.map((item) => space.apply(item)))
    for (const item of resources) await space.waitForReady(item, 'True')
  }
  /** Restarts the operator, waits until it has found everything in sync, and returns the statements that it executed. */
  const restart = async (cluster?: ClusterClient) => {
    await operator.stop()
    statements.length = 0
    const before = service.applyCounts.unchanged
    operator = startOperator(service, cluster && { cluster })
    await waitUntil(async () => service.applyCounts.unchanged - before >= realms.length)
    await operator.stop()
    const executed = statements.filter((sql) => !sql.includes('lease'))
    operator = startOperator(service, cluster && { cluster })
    // The two realms are reconciled concurrently.
    return executed.sort()
  }

  test('a restart writes nothing to the store, and executes the same statements for any number of resources', async () => {
    await applyAll([...realms, ...clientsIn('one', 2), ...clientsIn('two', 1)])
    const withFewResources = await restart()
    await applyAll(clientsIn('one', 30))
    const withManyResources = await restart()
    expect(withManyResources).toEqual(withFewResources)
    expect(withFewResources.filter((sql) => /\b(insert into|update|delete from)\b/i.test(sql))).toEqual([])
  })

  test('a start lists each kind once, and an edit writes only the statuses of its resource and realm, and one event', async () => {
    await applyAll([...realms, ...clientsIn('one', 30), ...clientsIn('two', 1)])
    await operator.stop()
    const { cluster, requests } = recordRequests()
    const before = service.applyCounts.unchanged
    operator = startOperator(service, { cluster })
    await waitUntil(async () => service.applyCounts.unchanged - before >= realms.length)
    const names = [...Object.values(kinds).map(getResourceNames), realmSourceNames]
    const resourcePaths = names.map(({ plural }) => `/apis/regent.dev/v1alpha1/${plural}`)
    const expected = [...resourcePaths, '/api/v1/namespaces', '/api/v1/secrets']
    // Other tests install the definitions of Keycloak's operator, for which the operator looks again and again.
    const withoutKeycloak = (paths: readonly string[]) => paths.filter((path) => !path.includes('/k8s.keycloak.org'))
    expect(withoutKeycloak(requests.list).toSorted()).toEqual(expected.sort())
    expect(new Set(withoutKeycloak(requests.watch))).toEqual(new Set(expected))

    const [edited] = clientsIn('one', 1)
    await space.apply(resource('RealmClient', 'one-0', { ...(edited!.spec as object), name: 'Edited' }))
    const { metadata } = await space.waitForReady(edited!, 'True')
    await waitUntil(async () => requests.POST.length > 0)
    await operator.stop()
    const toStatusPath = (plural: string, name: string) =>
      `/apis/regent.dev/v1alpha1/namespaces/${metadata.namespace}/${plural}/${name}/status`
    expect(requests.PATCH.sort()).toEqual([toStatusPath('realmclients', 'one-0'), toStatusPath('realms', 'one')])
    expect(requests.POST).toEqual([`/apis/events.k8s.io/v1/namespaces/${metadata.namespace}/events`])
    expect(withoutKeycloak(requests.list)).toHaveLength(expected.length)
    operator = startOperator(service)
  })
})
