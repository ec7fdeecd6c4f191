// The operator on a real API server: it applies resources, reports in their status, and deletes their objects with them.
import { globSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ClusterClient } from '../../src/operator/cluster/cluster-client.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { listPermittedSources, listRealmSources } from '../../src/service/sources/source-records.ts'
import { hasKubernetes, onKubernetes, readResources } from '../support/kubernetes.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  type AnyResource,
  createNamespace,
  getOperatorCluster,
  resource,
  setUpOperator,
  startOperator,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  const findClient = async (realm: string, name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation

  test('the examples are applied and become ready, an edit is applied, and deletion deletes the realm', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const examples = globSync('examples/kubernetes/*.yaml')
      .flatMap(readResources)
      .map((example) =>
        example.kind === 'Realm' ? { ...example, spec: { ...(example.spec as object), realm } } : example,
      )
    for (const example of examples) await space.apply(example)
    const regentResources = examples.filter(({ kind }) => kind !== 'Secret')
    for (const item of regentResources) await space.waitForReady(item, 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Web shop' })
    const shop = examples.find(({ metadata }) => metadata.name === 'shop')!
    await space.apply({ ...shop, spec: { ...(shop.spec as object), name: 'Another shop' } })
    await waitUntil(async () => (await findClient(realm, 'shop'))?.name === 'Another shop')
    await space.delete(...examples)
    for (const item of regentResources) await space.waitForDeletion(item)
    expect(await setup.service.findRealms([realm])).toEqual([])
    expect(setup.operator.failures).toEqual([])
  })

  test('an object of a resource with deletionPolicy Orphan is retained', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const client = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, deletionPolicy: 'Orphan' })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(client)
    await space.waitForReady(client, 'True')
    await space.delete(client)
    await space.waitForDeletion(client)
    expect(await findClient(realm, 'shop')).toBeDefined()
  })

  test('an invalid resource reports the path of its error, and neither changes its object nor blocks other resources', async () => {
    const [platform, team] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const realmRef = { name: 'acme', namespace: platform.namespace }
    await platform.apply(resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: team.namespace }] }))
    const portal = (spec: object) => resource('RealmClient', 'portal', { realmRef, name: 'Portal', ...spec })
    const shop = (name: string) => resource('RealmClient', 'shop', { realmRef, name })
    await platform.apply(portal({}))
    await team.apply(shop('One'))
    await team.waitForReady(shop('One'), 'True')
    await platform.waitForReady(portal({}), 'True')
    const invalidPortal = portal({ name: 'Other', defaultClientScopes: ['no-such-scope'] })
    await platform.apply(invalidPortal)
    const { status } = await platform.waitForReady(invalidPortal, 'False', 'ReferenceNotFound')
    expect(status.conditions.map(({ type, status }: AnyResource) => [type, status])).toEqual([
      ['Ready', 'False'],
      ['Reconciling', 'True'],
    ])
    expect(status.conditions[0].message).toMatch(/^spec\.defaultClientScopes\[0\]: .*no-such-scope/)
    await team.apply(shop('Two'))
    await waitUntil(async () => (await findClient(realm, 'shop'))?.name === 'Two')
    expect(await findClient(realm, 'portal')).toMatchObject({ name: 'Portal' })
    await platform.apply(portal({ name: 'Other' }))
    await waitUntil(async () => (await findClient(realm, 'portal'))?.name === 'Other')
    await platform.waitForReady(invalidPortal, 'True')
  })

  test('two resources that declare different values for a field are both invalid, and the live value stays', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const [first, second] = ['One', 'Other'].map((name) =>
      resource('RealmClient', name.toLowerCase(), { realmRef: { name: 'acme' }, clientId: 'shop', name }),
    )
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(first!)
    await space.waitForReady(first!, 'True')
    await space.apply(second!)
    for (const item of [first!, second!]) {
      const { status } = await space.waitForReady(item, 'False', 'Invalid')
      expect(status.conditions[0].message).toContain(
        'spec.name: client shop: name is declared differently at spec.name of RealmClient',
      )
    }
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'One' })
    await space.delete(first!)
    await space.waitForReady(second!, 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Other' })
  })

  test('a namespace that is not admitted can neither declare objects of a foreign realm nor take it over', async () => {
    const [owner, stranger] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    await owner.apply(acme)
    await owner.waitForReady(acme, 'True')
    const foreignRealm = await setup.service.createRealm(
      SYSTEM,
      { representation: { realm: newName() } },
      async ({ realm }) => realm.name,
    )
    const refused: [kind: string, name: string, spec: object, reason: string][] = [
      ['RealmClient', 'by-resource', { realmRef: { name: 'acme', namespace: owner.namespace } }, 'NotAdmitted'],
      ['RealmUser', 'by-name', { realm }, 'NotAdmitted'],
      ['RealmRole', 'of-master', { realm: 'master' }, 'RealmNotFound'],
      ['Realm', 'same', { realm }, 'RealmTaken'],
      ['Realm', 'made-by-rest', { realm: foreignRealm, displayName: 'Taken' }, 'RealmTaken'],
      ['Realm', 'master', { displayName: 'Taken' }, 'RealmTaken'],
    ]
    for (const [kind, name, spec, reason] of refused) {
      const candidate = resource(kind, name, spec)
      await stranger.apply(candidate)
      await stranger.waitForReady(candidate, 'False', reason)
    }
    expect(await findClient(realm, 'by-resource')).toBeUndefined()
    await owner.apply(
      resource('Realm', 'acme', {
        realm,
        allowedNamespaces: [{ name: stranger.namespace, kinds: ['RealmClient', 'RealmUser'] }],
      }),
    )
    await stranger.waitForReady(resource('RealmClient', 'by-resource', {}), 'True')
    expect(await findClient(realm, 'by-resource')).toBeDefined()
    // A tenant namespace cannot grant admin permissions.
    const admin = resource('RealmUser', 'root', { realm, clientRoles: { 'realm-management': ['realm-admin'] } })
    await stranger.apply(admin)
    const { status } = await stranger.waitForReady(admin, 'False', 'Invalid')
    expect(status.conditions[0].message).toContain('realm-admin')
  })

  test('only a Secret with the label is read, and a change of it is applied', async () => {
    const space = await createNamespace(setup.kubernetes)
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
    expect(await findClient(realm, 'shop')).toBeUndefined()
    for (const text of ['first-secret', 'second-secret']) {
      await space.apply(secret(text, { 'regent.dev/secret': 'true' }))
      await waitUntil(async () => {
        const { secret } = (await findClient(realm, 'shop')) ?? {}
        return typeof secret === 'string' && setup.service.vault.open(secret) === text
      })
    }
    expect(JSON.stringify((await space.waitForReady(shop, 'True')).status)).not.toContain('secret-')
  })

  test('an annotation with the id of a pending plan approves it', async () => {
    const space = await createNamespace(setup.kubernetes)
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
    expect(await findClient(realm, 'b')).toBeDefined()
    await space.apply(acme(['a'], { 'regent.dev/approved-plan': status.plan.id }))
    await space.waitForReady(acme([]), 'True')
    expect(await findClient(realm, 'b')).toBeUndefined()
  })

  test('a restart with everything in sync writes nothing, and objects of lost resources are retained', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, displayName: 'Acme' })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    await space.apply(acme)
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await setup.operator.stop()
    const [unchanged, applied] = [
      setup.service.applyCounts.unchanged,
      await setup.service.read(SYSTEM, realm, listRealmSources),
    ]
    const requestCounts = new Map<string, number>()
    const cluster = getOperatorCluster()
    const count = (verb: string) => requestCounts.set(verb, (requestCounts.get(verb) ?? 0) + 1)
    const counting: ClusterClient = {
      ...cluster,
      request: (method, ...rest) => {
        count(method)
        return cluster.request(method, ...rest)
      },
    }
    const sources = await listPermittedSources(setup.service, SYSTEM)
    const realms = new Set(sources.flatMap(({ source, realm }) => (source.startsWith('kubernetes:') ? [realm] : [])))
    setup.operator = startOperator(setup.service, { cluster: counting })
    await waitUntil(async () => setup.service.applyCounts.unchanged - unchanged >= realms.size)
    expect(await setup.service.read(SYSTEM, realm, listRealmSources)).toEqual(applied)
    expect([...requestCounts.keys()]).toEqual(['GET'])

    await setup.operator.stop()
    for (const item of [acme, shop]) await space.removeFinalizers(item)
    await space.delete(acme, shop)
    const messages: string[] = []
    setup.operator = startOperator(setup.service, { log: (line) => messages.push(line) })
    await waitUntil(async () => messages.some((line) => line.includes(`declares the realm ${realm} any more`)))
    expect(await findClient(realm, 'shop')).toBeDefined()
    // Nothing changes when the resources are back.
    await space.apply(acme)
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    expect((await listSavedPlans(setup.service, SYSTEM)).filter(({ realms }) => realms[0]?.name === realm)).toEqual([])
  })

  test('a change of the status or the finalizers by others is corrected', async () => {
    const space = await createNamespace(setup.kubernetes)
    const acme = resource('Realm', 'acme', { realm: newName() })
    await space.apply(acme)
    const { status, metadata } = await space.waitForReady(acme, 'True')
    const path = `/apis/regent.dev/v1alpha1/namespaces/${space.namespace}/realms/acme`
    const merge = { 'content-type': 'application/merge-patch+json' }
    await setup.kubernetes.request('PATCH', `${path}/status`, { status: { drift: 5, realm: 'other' } }, merge)
    await waitUntil(async () => (await space.get(acme)).status.realm === status.realm)
    expect((await space.get(acme)).status).toEqual(status)
    await space.removeFinalizers(acme)
    await waitUntil(async () => (await space.get(acme)).metadata.finalizers !== undefined)
    expect((await space.get(acme)).metadata.finalizers).toEqual(metadata.finalizers)
  })

  test('drift is reported by the resource that declares the field, which stays ready', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name: 'Shop' })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await updateObject(setup.service, ANN, realm, 'client', ['shop'], { name: 'Changed' })
    await waitUntil(async () => (await space.get(shop)).status.drift === 1)
    const condition = (await space.get(shop)).status.conditions.find(({ type }: AnyResource) => type === 'Drifted')
    expect(condition).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/client shop: name was changed by ann/),
    })
    await space.apply(resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name: 'Another shop' }))
    await waitUntil(async () => (await space.get(shop)).status.drift === 0)
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Another shop' })
  })
})
