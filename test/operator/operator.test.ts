// The operator at a real API server: what is applied there becomes live, says how it stands, and goes when it is deleted.
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../src/operator/cluster.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { listPermittedSources, listRealmSources } from '../../src/service/sources/source-records.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, readResources } from '../support/kubernetes.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  type AnyResource,
  createNamespace,
  getOperatorCluster,
  resource,
  startOperator,
  startTestOperator,
  stopTestOperator,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
  })
  afterAll(() => stopTestOperator(kubernetes, operated))

  const clientOf = async (realm: string, name: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation

  test('the examples become live, say so, follow an edit, and are gone when they are deleted', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const examples = globSync('examples/kubernetes/*.yaml')
      .flatMap(readResources)
      .map((one) => (one.kind === 'Realm' ? { ...one, spec: { ...(one.spec as object), realm } } : one))
    for (const one of examples) await space.apply(one)
    const own = examples.filter(({ kind }) => kind !== 'Secret')
    for (const one of own) await space.waitForReady(one, 'True')
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Web shop' })
    const shop = examples.find(({ metadata }) => metadata.name === 'shop')!
    await space.apply({ ...shop, spec: { ...(shop.spec as object), name: 'Another shop' } })
    await waitUntil(async () => (await clientOf(realm, 'shop'))?.name === 'Another shop')
    await space.delete(...examples)
    for (const one of own) await space.waitForDeletion(one)
    expect(await service.findRealms([realm])).toEqual([])
    expect(operated.failures).toEqual([])
  })

  test('an object of a resource with deletionPolicy Orphan stays, and is nobody’s', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const client = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, deletionPolicy: 'Orphan' })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(client)
    await space.waitForReady(client, 'True')
    await space.delete(client)
    await space.waitForDeletion(client)
    expect(await clientOf(realm, 'shop')).toBeDefined()
  })

  test('a wrong resource says where, keeps what was live, and holds up nobody; corrected, it goes on', async () => {
    const [platform, team] = [await createNamespace(kubernetes), await createNamespace(kubernetes)]
    const realm = newName()
    const realmRef = { name: 'acme', namespace: platform.namespace }
    await platform.apply(resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: team.namespace }] }))
    const stated = (spec: object) => resource('RealmClient', 'portal', { realmRef, name: 'Portal', ...spec })
    const shop = (name: string) => resource('RealmClient', 'shop', { realmRef, name })
    await platform.apply(stated({}))
    await team.apply(shop('One'))
    await team.waitForReady(shop('One'), 'True')
    await platform.waitForReady(stated({}), 'True')
    const wrong = stated({ name: 'Other', defaultClientScopes: ['no-such-scope'] })
    await platform.apply(wrong)
    const { status } = await platform.waitForReady(wrong, 'False', 'Invalid')
    expect(status.conditions.map(({ type, status }: AnyResource) => [type, status])).toEqual([
      ['Ready', 'False'],
      ['Stalled', 'True'],
    ])
    expect(status.conditions[0].message).toMatch(/^spec\.defaultClientScopes\[0\]: .*no-such-scope/)
    await team.apply(shop('Two'))
    await waitUntil(async () => (await clientOf(realm, 'shop'))?.name === 'Two')
    expect(await clientOf(realm, 'portal')).toMatchObject({ name: 'Portal' })
    await platform.apply(stated({ name: 'Other' }))
    await waitUntil(async () => (await clientOf(realm, 'portal'))?.name === 'Other')
    await platform.waitForReady(wrong, 'True')
  })

  test('of two that state one field differently both say so, neither wins, and what is live stays', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const [one, other] = ['One', 'Other'].map((name) =>
      resource('RealmClient', name.toLowerCase(), { realmRef: { name: 'acme' }, clientId: 'shop', name }),
    )
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(one!)
    await space.waitForReady(one!, 'True')
    await space.apply(other!)
    for (const each of [one!, other!]) {
      const { status } = await space.waitForReady(each, 'False', 'Invalid')
      expect(status.conditions[0].message).toContain(
        'spec.name: client shop: name is declared differently at spec.name of RealmClient',
      )
    }
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'One' })
    await space.delete(one!)
    await space.waitForReady(other!, 'True')
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Other' })
  })

  test('without a grant a namespace states nothing in another’s realm, by any reference, and takes no realm over', async () => {
    const [owner, stranger] = [await createNamespace(kubernetes), await createNamespace(kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    await owner.apply(acme)
    await owner.waitForReady(acme, 'True')
    const made = await service.createRealm(
      SYSTEM,
      { representation: { realm: newName() } },
      async ({ realm }) => realm.name,
    )
    const refused: [kind: string, name: string, spec: object, reason: string][] = [
      ['RealmClient', 'by-resource', { realmRef: { name: 'acme', namespace: owner.namespace } }, 'NotAdmitted'],
      ['RealmUser', 'by-name', { realm }, 'NotAdmitted'],
      ['RealmRole', 'of-master', { realm: 'master' }, 'RealmNotFound'],
      ['Realm', 'same', { realm }, 'RealmTaken'],
      ['Realm', 'made-by-rest', { realm: made, displayName: 'Taken' }, 'RealmTaken'],
      ['Realm', 'master', { displayName: 'Taken' }, 'RealmTaken'],
    ]
    for (const [kind, name, spec, reason] of refused) {
      const one = resource(kind, name, spec)
      await stranger.apply(one)
      await stranger.waitForReady(one, 'False', reason)
    }
    expect(await clientOf(realm, 'by-resource')).toBeUndefined()
    await owner.apply(resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: stranger.namespace }] }))
    await stranger.waitForReady(resource('RealmClient', 'by-resource', {}), 'True')
    expect(await clientOf(realm, 'by-resource')).toBeDefined()
    // What is stated there gives no administrative power.
    const boss = resource('RealmUser', 'boss', { realm, clientRoles: { 'realm-management': ['realm-admin'] } })
    await stranger.apply(boss)
    const { status } = await stranger.waitForReady(boss, 'False', 'Invalid')
    expect(status.conditions[0].message).toContain('realm-admin')
  })

  test('only a Secret with the label is read, and what it holds is live when it changes', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const secret = (text: string, labels = {}) => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop', labels }, data: { secret: btoa(text) } },
    })
    const shop = resource('RealmClient', 'shop', {
      realmRef: { name: 'acme' },
      secret: { secretKeyRef: { name: 'shop', key: 'secret' } },
    })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(secret('first-secret'))
    await space.apply(shop)
    await space.waitForReady(shop, 'False', 'SecretNotFound')
    expect(await clientOf(realm, 'shop')).toBeUndefined()
    for (const text of ['first-secret', 'second-secret']) {
      await space.apply(secret(text, { 'regent.dev/secret': 'true' }))
      await waitUntil(async () => {
        const { secret } = (await clientOf(realm, 'shop')) ?? {}
        return typeof secret === 'string' && service.vault.open(secret) === text
      })
    }
    expect(JSON.stringify((await space.waitForReady(shop, 'True')).status)).not.toContain('secret-')
  })

  test('a plan that waits is approved by an annotation with its id', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (clients: string[], annotations = {}) =>
      resource(
        'Realm',
        'acme',
        { realm, guards: { deletions: 0 }, clients: clients.map((clientId) => ({ clientId })) },
        { annotations },
      )
    await space.apply(acme(['a', 'b']))
    await space.waitForReady(acme([]), 'True')
    await space.apply(acme(['a']))
    const { status } = await space.waitForReady(acme([]), 'False', 'PendingApproval')
    expect(await clientOf(realm, 'b')).toBeDefined()
    await space.apply(acme(['a'], { 'regent.dev/approved-plan': status.plan.id }))
    await space.waitForReady(acme([]), 'True')
    expect(await clientOf(realm, 'b')).toBeUndefined()
  })

  test('what vanished, and nobody deleted, waits; after a restart with everything in sync nothing is written', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, displayName: 'Acme' })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    await space.apply(acme)
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await operated.stop()
    const [unchanged, applied] = [service.applyCounts.unchanged, await service.read(SYSTEM, realm, listRealmSources)]
    const asked = new Map<string, number>()
    const cluster = getOperatorCluster()
    const count = (verb: string) => asked.set(verb, (asked.get(verb) ?? 0) + 1)
    const counting: Cluster = {
      ...cluster,
      ask: (method, ...rest) => {
        count(method)
        return cluster.ask(method, ...rest)
      },
    }
    const known = await listPermittedSources(service, SYSTEM)
    const realms = new Set(known.flatMap(({ source, realm }) => (source.startsWith('kubernetes:') ? [realm] : [])))
    operated = startOperator(service, { cluster: counting })
    await waitUntil(async () => service.applyCounts.unchanged - unchanged >= realms.size)
    expect(await service.read(SYSTEM, realm, listRealmSources)).toEqual(applied)
    expect([...asked.keys()]).toEqual(['GET'])

    await operated.stop()
    for (const one of [acme, shop]) await space.removeFinalizers(one)
    await space.delete(acme, shop)
    const told: string[] = []
    operated = startOperator(service, { say: (line) => told.push(line) })
    await waitUntil(async () => told.some((line) => line.includes(`declares the realm ${realm} any more`)))
    expect(await clientOf(realm, 'shop')).toBeDefined()
    // It comes back, and nothing has happened.
    await space.apply(acme)
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    expect((await listSavedPlans(service, SYSTEM)).filter(({ realms }) => realms[0]?.name === realm)).toEqual([])
  })

  test('what somebody else writes into a status or takes away of finalizers is put right', async () => {
    const space = await createNamespace(kubernetes)
    const acme = resource('Realm', 'acme', { realm: newName() })
    await space.apply(acme)
    const { status, metadata } = await space.waitForReady(acme, 'True')
    const path = `/apis/regent.dev/v1alpha1/namespaces/${space.namespace}/realms/acme`
    const merge = { 'content-type': 'application/merge-patch+json' }
    await kubernetes.request('PATCH', `${path}/status`, { status: { drift: 5, realm: 'other' } }, merge)
    await waitUntil(async () => (await space.get(acme)).status.realm === status.realm)
    expect((await space.get(acme)).status).toEqual(status)
    await space.removeFinalizers(acme)
    await waitUntil(async () => (await space.get(acme)).metadata.finalizers !== undefined)
    expect((await space.get(acme)).metadata.finalizers).toEqual(metadata.finalizers)
  })

  test('drift is shown where it is stated, and the resource stays ready', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name: 'Shop' })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Changed' })
    await waitUntil(async () => (await space.get(shop)).status.drift === 1)
    const drifted = (await space.get(shop)).status.conditions.find(({ type }: AnyResource) => type === 'Drifted')
    expect(drifted).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/client shop: name was changed by ann/),
    })
    await space.apply(resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name: 'Stated anew' }))
    await waitUntil(async () => (await space.get(shop)).status.drift === 0)
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Stated anew' })
  })
})
