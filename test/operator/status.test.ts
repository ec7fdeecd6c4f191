// What resources say of themselves, one status after the other, by the rules of kstatus; what is told as events.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cluster, openCluster } from '../../src/operator/cluster.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  type AnyResource,
  createNamespace,
  findCondition,
  resource,
  startTestOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

/** What is wrong with a version of a resource, given the one before. */
function broken({ metadata, status }: AnyResource, before: AnyResource): string[] {
  // So the API server says that nobody has looked at it yet.
  if (status.observedGeneration === -1) return []
  const conditions: AnyResource[] = status.conditions ?? []
  const of = (type: string) => findCondition({ status }, type)
  const [ready, reconciling, stalled] = ['Ready', 'Reconciling', 'Stalled'].map(of)
  const rules: Record<string, boolean> = {
    'Ready is always there': ready !== undefined,
    'each type is there once': new Set(conditions.map(({ type }) => type)).size === conditions.length,
    'what says that something is not as usual is there only while it is so': conditions.every(
      ({ type, status }) => type === 'Ready' || status === 'True',
    ),
    'nothing works on what is stalled': !(reconciling && stalled),
    'what is ready is neither being worked on nor stalled': ready?.status !== 'True' || !(reconciling || stalled),
    'each says why': conditions.every(({ reason, message }) => /^[A-Z]\w+$/.test(reason) && message),
    'no generation is observed before it is there': status.observedGeneration <= metadata.generation,
    'each speaks of the generation that was observed': conditions.every(
      ({ observedGeneration }) => observedGeneration === status.observedGeneration,
    ),
    'no generation is observed after a later one': !(before?.status?.observedGeneration > status.observedGeneration),
    'the time of a condition is that of its last change': conditions.every(({ type, status, lastTransitionTime }) => {
      const last = findCondition(before ?? {}, type)
      return (
        !last || (last.status === status) === (last.lastTransitionTime === lastTransitionTime) || last.status !== status
      )
    }),
    'five runs are remembered': (status.history ?? []).length <= 5,
  }
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]))
}

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let cluster: Cluster
  let operated: TestOperator
  const ending = new AbortController()
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
    cluster = openCluster()
  })
  afterAll(async () => {
    ending.abort()
    await stopTestOperator(kubernetes, operated)
  })

  /** Keeps every version of the resources of a kind, and looks at each as it comes. */
  function recorded({ namespace }: TestNamespace, plural: string, look: (version: AnyResource) => void = () => {}) {
    const versions: AnyResource[] = []
    const path = `/apis/regent.dev/v1alpha1/namespaces/${namespace}/${plural}?watch=true`
    const line = (text: string) => {
      const { type, object } = JSON.parse(text)
      // What is deleted is shown once more as it was.
      if (type === 'DELETED') return
      versions.push(object)
      look(object)
    }
    void cluster.lines(path, line, ending.signal).catch(() => {})
    return versions
  }
  const nameOf = async (realm: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'client', 'shop').catch(() => undefined))?.representation.name

  test('whatever happens to resources, each status that they had obeys the rules, and none is ready before it is live', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const claims: Promise<{ claimed: number; live: number }>[] = []
    const realms = recorded(space, 'realms')
    // The name of the client is the generation that states it: what is live is never earlier than what is claimed to be.
    const clients = recorded(space, 'realmclients', ({ metadata, status }) => {
      if (findCondition({ status }, 'Ready')?.status !== 'True' || metadata.deletionTimestamp) return
      const claimed = status.observedGeneration as number
      claims.push(nameOf(realm).then((live) => ({ claimed, live: Number(live) })))
    })
    const acme = (spec: object = {}) => resource('Realm', 'acme', { realm, ...spec })
    const shop = (generation: number, spec: object = {}) =>
      resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name: `${generation}`, ...spec })
    await space.apply(shop(1))
    await space.waitForReady(shop(1), 'False', 'RealmNotFound')
    await space.apply(acme())
    await space.waitForReady(shop(1), 'True')
    for (const generation of [2, 3, 4, 5, 6, 7, 8]) await space.apply(shop(generation))
    await space.waitForReady(shop(8), 'True')
    await space.apply(shop(9, { defaultClientScopes: ['no-such-scope'] }))
    await space.apply(shop(10, { defaultClientScopes: ['no-such-scope'] }))
    await space.waitForReady(shop(10), 'False', 'Invalid')
    await space.apply(shop(11))
    await space.waitForReady(shop(11), 'True')
    // Drift that is told while another generation comes must not say that this one is live.
    for (const generation of [12, 13, 14]) {
      await updateObject(service, ANN, realm, 'client', ['shop'], { description: `drift ${generation}` })
      await space.apply(shop(generation, { description: 'Stated' }))
    }
    await space.waitForReady(shop(14), 'True')
    await space.apply(acme({ suspend: true }))
    await space.apply(shop(15))
    await space.waitForReady(shop(15), 'False', 'Suspended')
    await space.apply(acme({ mode: 'plan' }))
    await space.waitForReady(shop(15), 'False', 'Planned')
    await space.apply(acme({ dependsOn: ['nobody'] }))
    await space.waitForReady(acme(), 'False', 'DependencyNotReady')
    await space.apply(acme())
    await space.waitForReady(shop(15), 'True')
    await space.delete(shop(15), acme())
    for (const one of [shop(15), acme()]) await space.waitForDeletion(one)

    const late = (await Promise.all(claims)).filter(({ claimed, live }) => live < claimed)
    expect(late).toEqual([])
    expect(claims.length).toBeGreaterThan(4)
    for (const versions of [realms, clients]) {
      const found = versions.flatMap((version, at) =>
        broken(version, versions[at - 1]).map((rule) => `${rule}: ${JSON.stringify(version.status)}`),
      )
      expect(found).toEqual([])
      // Two that follow each other never say the same: nothing is written then.
      const said = versions.map(({ status, metadata: { generation, deletionTimestamp, finalizers } }) =>
        JSON.stringify([status, generation, deletionTimestamp, finalizers]),
      )
      expect(said.filter((one, at) => one === said[at - 1])).toEqual([])
    }
    const reasons = clients.flatMap(({ status }) => findCondition({ status }, 'Ready')?.reason ?? [])
    for (const one of ['RealmNotFound', 'Applied', 'Invalid', 'Suspended', 'Planned']) expect(reasons).toContain(one)
  })

  test('five runs are remembered, the latest first, and events tell of changes, drift, failures and plans that wait', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (displayName: string, spec: object = {}) =>
      resource('Realm', 'acme', { realm, displayName, guards: { deletions: 0 }, ...spec })
    const groups = { groups: [{ name: 'a' }] }
    const applied: string[] = []
    for (const at of [1, 2, 3, 4, 5, 6]) {
      await space.apply(acme(`Acme ${at}`, groups))
      applied.unshift((await space.waitForReady(acme(''), 'True')).status.lastAppliedRevision)
    }
    const { status } = await space.get(acme(''))
    expect(status.history.map(({ revision }: AnyResource) => revision)).toEqual(applied.slice(0, 5))
    expect(status.history.every(({ outcome }: AnyResource) => outcome === 'Applied')).toBe(true)
    expect(status).toMatchObject({ plan: { create: 0, update: 1, delete: 0 }, inventory: { objects: 2 }, drift: 0 })

    await updateObject(service, ANN, realm, 'realm', [realm], { displayName: 'Changed' })
    await waitUntil(async () => findCondition(await space.get(acme('')), 'Drifted') !== undefined)
    await space.apply(acme('Acme 6', { ...groups, defaultDefaultClientScopes: ['no-such-scope'] }))
    const failed = await space.waitForReady(acme(''), 'False', 'Invalid')
    expect(failed.status.history[0]).toMatchObject({ outcome: 'Failed', message: expect.stringContaining('no-such') })
    expect(failed.status.lastAppliedRevision).toBe(applied[0])
    await space.apply(acme('Acme 6', { groups: [] }))
    const guarded = await space.waitForReady(acme(''), 'False', 'PendingApproval')
    expect(guarded.status.plan).toMatchObject({ delete: 1, id: expect.any(String) })
    await space.apply(acme('Acme 6', groups))
    await space.waitForReady(acme(''), 'True')

    const path = `/apis/events.k8s.io/v1/namespaces/${space.namespace}/events`
    const told = async () => {
      const { items } = (await kubernetes.request('GET', path)).body
      return items.map(({ type, reason, note }: AnyResource) => `${type} ${reason}: ${note}`).join('\n')
    }
    await waitUntil(async () => (await told()).includes('PendingApproval'))
    const notes = await told()
    expect(notes).toMatch(/Normal Applied: objects of the realm: configured 1$/m)
    expect(notes).toMatch(/Warning Drifted: realm \S+: displayName was changed by ann/)
    expect(notes).toMatch(/Warning Invalid: spec.defaultDefaultClientScopes\[0\]: .*no-such-scope/)
    expect(notes).toMatch(/Warning PendingApproval: [Tt]he plan \S+ is pending approval/)
  })
})
