// Each status of resources in sequence, by the rules of kstatus, and events.
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClusterClient, connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes, type Resource, readResources } from '../support/kubernetes.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  type AnyResource,
  createNamespace,
  findCondition,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

/** Returns the rules that a version of a resource violates, given the version before. */
function listViolations({ metadata, status }: AnyResource, before: AnyResource): string[] {
  // The default value, until the operator has observed the resource.
  if (status.observedGeneration === -1) return []
  const conditions: AnyResource[] = status.conditions ?? []
  const getCondition = (type: string) => findCondition({ status }, type)
  const [ready, reconciling, stalled] = ['Ready', 'Reconciling', 'Stalled'].map(getCondition)
  const rules: Record<string, boolean> = {
    'Ready always exists': ready !== undefined,
    'each type exists once': new Set(conditions.map(({ type }) => type)).size === conditions.length,
    'other conditions than Ready exist only while they are true': conditions.every(
      ({ type, status }) => type === 'Ready' || status === 'True',
    ),
    'a stalled resource is not reconciling': !(reconciling && stalled),
    'a ready resource is neither reconciling nor stalled': ready?.status !== 'True' || !(reconciling || stalled),
    'each condition has a reason and a message': conditions.every(
      ({ reason, message }) => /^[A-Z]\w+$/.test(reason) && message,
    ),
    'the observed generation exists': status.observedGeneration <= metadata.generation,
    'each condition has the observed generation': conditions.every(
      ({ observedGeneration }) => observedGeneration === status.observedGeneration,
    ),
    'the observed generation never decreases': !(before?.status?.observedGeneration > status.observedGeneration),
    'lastTransitionTime changes only with the status': conditions.every(({ type, status, lastTransitionTime }) => {
      const last = findCondition(before ?? {}, type)
      return (
        !last || (last.status === status) === (last.lastTransitionTime === lastTransitionTime) || last.status !== status
      )
    }),
    'the history has at most five runs': (status.history ?? []).length <= 5,
  }
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]))
}

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  let cluster: ClusterClient
  const ending = new AbortController()
  beforeAll(async () => {
    cluster = connectToCluster()
  })
  afterAll(() => ending.abort())

  /** Collects every version of the resources of a kind, and passes each to `look`. */
  function collectVersions(
    { namespace }: TestNamespace,
    plural: string,
    look: (version: AnyResource) => void = () => {},
  ) {
    const versions: AnyResource[] = []
    const path = `/apis/regent.dev/v1alpha1/namespaces/${namespace}/${plural}?watch=true`
    const line = (text: string) => {
      const { type, object } = JSON.parse(text)
      // The event of a deletion repeats the last version.
      if (type === 'DELETED') return
      versions.push(object)
      look(object)
    }
    void cluster.streamLines(path, line, ending.signal).catch(() => {})
    return versions
  }
  const findClientName = async (realm: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop').catch(() => undefined))?.representation.name

  test('each status of a resource follows the rules, and none is ready before its object is live', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const readyClaims: Promise<{ generation: number; live: number }>[] = []
    const realms = collectVersions(space, 'realms')
    // The name of the client is the generation that declares it, so that the live name must not be below the observed generation.
    const clients = collectVersions(space, 'realmclients', ({ metadata, status }) => {
      if (findCondition({ status }, 'Ready')?.status !== 'True' || metadata.deletionTimestamp) return
      const generation = status.observedGeneration as number
      readyClaims.push(findClientName(realm).then((live) => ({ generation, live: Number(live) })))
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
    await space.waitForReady(shop(10), 'False', 'ReferenceNotFound')
    await space.apply(shop(11))
    await space.waitForReady(shop(11), 'True')
    // A report of drift during a new generation must not report this generation as live.
    for (const generation of [12, 13, 14]) {
      await updateObject(setup.service, ANN, realm, 'client', ['shop'], { description: `drift ${generation}` })
      await space.apply(shop(generation, { description: 'Declared' }))
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
    for (const item of [shop(15), acme()]) await space.waitForDeletion(item)

    const prematureClaims = (await Promise.all(readyClaims)).filter(({ generation, live }) => live < generation)
    expect(prematureClaims).toEqual([])
    expect(readyClaims.length).toBeGreaterThan(4)
    for (const versions of [realms, clients]) {
      const violations = versions.flatMap((version, at) =>
        listViolations(version, versions[at - 1]).map((rule) => `${rule}: ${JSON.stringify(version.status)}`),
      )
      expect(violations).toEqual([])
      // Two successive versions always differ, since an unchanged status is not written.
      const statuses = versions.map(({ status, metadata: { generation, deletionTimestamp, finalizers } }) =>
        JSON.stringify([status, generation, deletionTimestamp, finalizers]),
      )
      expect(statuses.filter((status, at) => status === statuses[at - 1])).toEqual([])
    }
    const reasons = clients.flatMap(({ status }) => findCondition({ status }, 'Ready')?.reason ?? [])
    for (const reason of ['RealmNotFound', 'Applied', 'ReferenceNotFound', 'Suspended', 'Planned'])
      expect(reasons).toContain(reason)
  })

  test('resources that refer to others which come later are reconciling, never stalled', async () => {
    const space = await createNamespace(setup.kubernetes)
    const examples = globSync('examples/kubernetes/*.yaml').flatMap(readResources)
    // Others use the name of the realm.
    const realm = newName()
    const toItem = (example: Resource) =>
      example.kind === 'Realm'
        ? { ...example, spec: { ...(example.spec as object), realm, browserFlow: 'mine' } }
        : example
    const flow = resource('RealmFlow', 'mine', {
      ...{ realmRef: { name: examples.find(({ kind }) => kind === 'Realm')!.metadata.name } },
      ...{ providerId: 'basic-flow', topLevel: true },
      authenticationExecutions: [
        { authenticator: 'auth-username-password-form', requirement: 'REQUIRED', priority: 10 },
      ],
    })
    // The Secrets come last.
    const isSecret = ({ kind }: Resource) => kind === 'Secret'
    const items = [
      ...examples
        .filter((example) => !isSecret(example))
        .reverse()
        .map(toItem),
      flow,
    ]
    const versions = await Promise.all(
      [...new Set(items.map(({ kind }) => kind))].map(async (kind) => {
        const path = await setup.kubernetes.pathOf({ apiVersion: 'regent.dev/v1alpha1', kind })
        return collectVersions(space, path.split('/').at(-1)!)
      }),
    )
    for (const item of items) await space.apply(item)
    await space.waitForReady(flow, 'True')
    for (const item of examples.filter(isSecret)) await space.apply(item)
    for (const item of items) await space.waitForReady(item, 'True')
    const stalled = versions.flat().filter((version) => findCondition(version, 'Stalled'))
    expect(stalled.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([])
    expect(versions.flat().filter((version) => findCondition(version, 'Reconciling')).length).toBeGreaterThan(1)
  })

  test('the history has the last five runs, and events report changes, drift, errors and pending plans', async () => {
    const space = await createNamespace(setup.kubernetes)
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

    await updateObject(setup.service, ANN, realm, 'realm', [realm], { displayName: 'Changed' })
    await waitUntil(async () => findCondition(await space.get(acme('')), 'Drifted') !== undefined)
    await space.apply(acme('Acme 6', { ...groups, passwordPolicy: 'lenght(8)' }))
    const invalid = await space.waitForReady(acme(''), 'False', 'Invalid')
    expect(invalid.status.history[0]).toMatchObject({ outcome: 'Failed', message: expect.stringContaining('lenght') })
    expect(invalid.status.lastAppliedRevision).toBe(applied[0])
    await space.apply(acme('Acme 6', { groups: [] }))
    const pending = await space.waitForReady(acme(''), 'False', 'PendingApproval')
    expect(pending.status.plan).toMatchObject({ delete: 1, id: expect.any(String) })
    await space.apply(acme('Acme 6', groups))
    await space.waitForReady(acme(''), 'True')

    const path = `/apis/events.k8s.io/v1/namespaces/${space.namespace}/events`
    const readEvents = async () => {
      const { items } = (await setup.kubernetes.request('GET', path)).body
      return items.map(({ type, reason, note }: AnyResource) => `${type} ${reason}: ${note}`).join('\n')
    }
    await waitUntil(async () => (await readEvents()).includes('PendingApproval'))
    const events = await readEvents()
    expect(events).toMatch(/Normal Applied: 0 created, 1 updated, 0 deleted$/m)
    expect(events).toMatch(/Warning Drifted: realm \S+: displayName was changed by ann/)
    expect(events).toMatch(/Warning Invalid: .*lenght/)
    expect(events).toMatch(/Warning PendingApproval: [Tt]he plan \S+ is pending approval/)
  })
})
