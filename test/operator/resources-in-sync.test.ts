// What is in sync costs next to nothing: a restart only reads, and an edit is followed by what it changed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Cluster } from '../../src/operator/cluster.ts'
import { namesOf, sourceNames } from '../../src/operator/names.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { isTransaction, newName, openNewService } from '../support/service.ts'
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

/** What was asked of the API server, by verb. */
type Asked = Readonly<Record<'list' | 'watch' | 'POST' | 'PATCH', string[]>>

/** The API server, and what was asked of it since. */
function counting(): { cluster: Cluster; asked: Asked } {
  const cluster = getOperatorCluster()
  const asked: Asked = { list: [], watch: [], POST: [], PATCH: [] }
  const count = (method: string, path: string) => {
    // Of many resources of others a list has several pages, and other tests bring imports there, and take them away.
    if (path.includes('&continue=') || path.startsWith('/apis/k8s.keycloak.org/')) return
    asked[(method === 'GET' ? 'list' : method) as keyof Asked].push(path.replace(/\?.*/, ''))
  }
  return {
    asked,
    cluster: {
      ...cluster,
      ask: (method, path, ...rest) => {
        count(method, path)
        return cluster.ask(method, path, ...rest)
      },
      lines: (path, ...rest) => {
        count('watch', path)
        return cluster.lines(path, ...rest)
      },
    },
  }
}

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const statements: string[] = []
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  let space: TestNamespace
  beforeAll(async () => {
    service = await openNewService({ onStatement: ({ sql }) => void statements.push(sql) })
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    kubernetes = await openKubernetes()
    operated = startOperator(service)
    space = await createNamespace(kubernetes)
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes, operated)
    await service?.close()
  })

  const realms = ['one', 'two'].map((name) => resource('Realm', name, { realm: newName() }))
  const clientsIn = (realm: string, count: number) =>
    Array.from({ length: count }, (_, at) =>
      resource('RealmClient', `${realm}-${at}`, { realmRef: { name: realm }, name: 'Client' }),
    )
  const bring = async (resources: readonly ReturnType<typeof resource>[]) => {
    await Promise.all(resources.map((one) => space.apply(one)))
    for (const one of resources) await space.waitForReady(one, 'True')
  }
  /** Another operator takes over, and has found everything in sync: what it asked of the store. */
  const restarted = async (cluster?: Cluster) => {
    await operated.stop()
    statements.length = 0
    const before = service.applyCounts.unchanged
    operated = startOperator(service, cluster && { cluster })
    await waitUntil(async () => service.applyCounts.unchanged - before >= realms.length)
    await operated.stop()
    const asked = statements.filter((sql) => !isTransaction(sql) && !sql.includes('lease'))
    operated = startOperator(service, cluster && { cluster })
    // Two realms are looked at beside each other.
    return asked.sort()
  }

  test('a restart writes nothing to the store, and asks it the same however many resources there are', async () => {
    await bring([...realms, ...clientsIn('one', 2), ...clientsIn('two', 1)])
    const few = await restarted()
    await bring(clientsIn('one', 30))
    const many = await restarted()
    expect(many).toEqual(few)
    expect(few.filter((sql) => /\b(insert into|update|delete from)\b/i.test(sql))).toEqual([])
  })

  test('it reads each kind once from the API server, and an edit is told where it was made, and nowhere else', async () => {
    await bring([...realms, ...clientsIn('one', 30), ...clientsIn('two', 1)])
    await operated.stop()
    const { cluster, asked } = counting()
    const before = service.applyCounts.unchanged
    operated = startOperator(service, { cluster })
    await waitUntil(async () => service.applyCounts.unchanged - before >= realms.length)
    const names = [...Object.values(kinds).map(namesOf), sourceNames]
    const own = names.map(({ plural }) => `/apis/regent.dev/v1alpha1/${plural}`)
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const expected = [...own, definitions, '/api/v1/namespaces', '/api/v1/secrets']
    expect(asked.list.toSorted()).toEqual(expected.sort())
    expect(new Set(asked.watch)).toEqual(new Set(asked.list))

    const [edited] = clientsIn('one', 1)
    await space.apply(resource('RealmClient', 'one-0', { ...(edited!.spec as object), name: 'Edited' }))
    const { metadata } = await space.waitForReady(edited!, 'True')
    await waitUntil(async () => asked.POST.length > 0)
    await operated.stop()
    const at = (plural: string, name: string) =>
      `/apis/regent.dev/v1alpha1/namespaces/${metadata.namespace}/${plural}/${name}/status`
    expect(asked.PATCH.sort()).toEqual([at('realmclients', 'one-0'), at('realms', 'one')])
    expect(asked.POST).toEqual([`/apis/events.k8s.io/v1/namespaces/${metadata.namespace}/events`])
    expect(asked.list).toHaveLength(expected.length)
    operated = startOperator(service)
  })
})
