// Fields and annotations that control the reconciliation of a realm.
import { afterAll, describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { createObject, deleteObject, getLiveObject, updateObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import { createNamespace, findCondition, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  afterAll(() => expect(setup.operator?.failures).toEqual([]))

  const findClient = async (realm: string, name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation
  const shop = (spec: object = {}, more: object = {}) =>
    resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, ...spec }, more)
  const updateShop = (realm: string, fields: Record<string, string>) =>
    updateObject(setup.service, ANN, realm, 'client', ['shop'], fields)

  test('a suspended realm gets no changes, deletions or requested reconciliations until it is resumed', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = (spec: object, requestedAt: string) =>
      resource(
        'Realm',
        'acme',
        { realm, ...spec },
        { annotations: { 'reconcile.regent.dev/requestedAt': requestedAt } },
      )
    const removedClient = resource('RealmClient', 'removed', { realmRef: { name: 'acme' } })
    await space.apply(acme({}, '1'))
    await space.apply(shop({ name: 'One' }))
    await space.apply(removedClient)
    for (const item of [acme({}, '1'), shop(), removedClient]) await space.waitForReady(item, 'True')
    await space.apply(acme({ suspend: true }, '2'))
    for (const item of [acme({}, '2'), shop()]) {
      await waitUntil(async () => findCondition(await space.get(item), 'Suspended')?.status === 'True')
      await space.waitForReady(item, 'True')
    }
    await space.apply(acme({ suspend: true, displayName: 'Acme' }, '2'))
    expect((await space.waitForReady(acme({}, '2'), 'False', 'Suspended')).status.lastHandledReconcileAt).toBe('1')
    await space.apply(shop({ name: 'Two' }))
    await space.delete(removedClient)
    await space.waitForReady(shop(), 'False', 'Suspended')
    // A resource that was never applied is deleted at once.
    const neverApplied = resource('RealmClient', 'never', { realmRef: { name: 'acme' } })
    await space.apply(neverApplied)
    await space.waitForReady(neverApplied, 'False', 'Suspended')
    await space.delete(neverApplied)
    await space.waitForDeletion(neverApplied)
    // The resource does not wait, and its object is deleted later.
    await space.waitForDeletion(removedClient)
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'One' })
    expect(await findClient(realm, 'removed')).toBeDefined()
    await space.apply(acme({ displayName: 'Acme' }, '2'))
    for (const item of [acme({}, '2'), shop()]) await space.waitForReady(item, 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Two' })
    expect(await findClient(realm, 'removed')).toBeUndefined()
    expect((await space.get(acme({}, '2'))).status.lastHandledReconcileAt).toBe('2')
  })

  test('drift is corrected at the interval of the realm, except with the policy report', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const drift = [{ kind: 'client', path: 'description', policy: 'report' }]
    const declared = shop({ name: 'Shop', description: 'Sells' })
    await space.apply(resource('Realm', 'acme', { realm, interval: '1s', drift }))
    await space.apply(declared)
    await space.waitForReady(declared, 'True')
    await updateShop(realm, { name: 'Changed', description: 'Changed' })
    await waitUntil(async () => (await findClient(realm, 'shop'))?.name === 'Shop')
    expect(await findClient(realm, 'shop')).toMatchObject({ description: 'Changed' })
    await waitUntil(async () => {
      const message = findCondition(await space.get(declared), 'Drifted')?.message
      return message?.includes('description was changed by ann') === true && !message.includes('name')
    })
    await space.waitForReady(declared, 'True')
  })

  test('drift with the policy selfHeal is corrected at once', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm, drift: [{ policy: 'selfHeal' }] }))
    await space.apply(shop({ name: 'Shop' }))
    await space.waitForReady(shop(), 'True')
    await updateShop(realm, { name: 'Changed' })
    await waitUntil(async () => (await findClient(realm, 'shop'))?.name === 'Shop')
    await deleteObject(setup.service, ANN, realm, 'client', 'shop')
    await waitUntil(async () => (await findClient(realm, 'shop')) !== undefined)
    await waitUntil(async () => (await space.get(shop())).status.drift === 0)
  })

  test('a requested reconciliation corrects drift, and is recorded in the status', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const requestedShop = (requestedAt: string) =>
      shop({ name: 'Shop' }, { annotations: { 'reconcile.regent.dev/requestedAt': requestedAt } })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(requestedShop('first'))
    await space.waitForReady(shop(), 'True')
    await updateShop(realm, { name: 'Changed' })
    await waitUntil(async () => (await space.get(shop())).status.drift === 1)
    await space.apply(requestedShop('second'))
    await waitUntil(async () => (await space.get(shop())).status.lastHandledReconcileAt === 'second')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Shop' })
    await waitUntil(async () => (await space.get(shop())).status.drift === 0)
  })

  test('a realm waits until its dependencies were applied once, and a dependency cycle is reported', async () => {
    const space = await createNamespace(setup.kubernetes)
    const [base, acme, ring, ringEnd] = ['base', 'acme', 'ring', 'other'].map((name) => ({ name, realm: newName() }))
    const dependentRealm = ({ name, realm }: { name: string; realm: string }, ...dependsOn: string[]) =>
      resource('Realm', name, { realm, dependsOn })
    await space.apply(dependentRealm(acme!, 'base'))
    const { status } = await space.waitForReady(dependentRealm(acme!), 'False', 'DependencyNotReady')
    expect(findCondition({ status }, 'Ready').message).toBe(
      'Realms that this realm depends on were never applied: base. Look at the status of these resources.',
    )
    expect(findCondition({ status }, 'Reconciling').status).toBe('True')
    expect(await setup.service.findRealms([acme!.realm])).toEqual([])
    await space.apply(dependentRealm(base!))
    await space.waitForReady(dependentRealm(acme!), 'True')
    // A later error of the dependency does not block the realm.
    await space.apply(resource('Realm', 'base', { realm: base!.realm, defaultDefaultClientScopes: ['no-such-scope'] }))
    await space.waitForReady(dependentRealm(base!), 'False', 'ReferenceNotFound')
    await space.apply({
      ...dependentRealm(acme!, 'base'),
      spec: { realm: acme!.realm, dependsOn: ['base'], displayName: 'A' },
    })
    await space.waitForReady(dependentRealm(acme!), 'True')
    await space.apply(dependentRealm(ring!, 'other'))
    await space.apply(dependentRealm(ringEnd!, 'ring'))
    for (const [realm, path] of [
      [ring!, 'ring → other → ring'],
      [ringEnd!, 'other → ring → other'],
    ] as const) {
      const { status } = await space.waitForReady(dependentRealm(realm), 'False', 'DependencyCycle')
      expect(findCondition({ status }, 'Ready').message).toContain(path)
      expect(findCondition({ status }, 'Stalled').status).toBe('True')
    }
    await space.apply(dependentRealm(ring!))
    for (const realm of [ring!, ringEnd!]) await space.waitForReady(dependentRealm(realm), 'True')
  })

  test('with mode plan the status shows the plan, and nothing is changed or deleted', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = (spec: object) => resource('Realm', 'acme', { realm, ...spec })
    const removedClient = resource('RealmClient', 'removed', { realmRef: { name: 'acme' } })
    await space.apply(acme({}))
    await space.apply(shop({ name: 'Shop' }))
    await space.apply(removedClient)
    for (const item of [shop(), removedClient]) await space.waitForReady(item, 'True')
    await space.apply(acme({ mode: 'plan' }))
    await space.waitForReady(acme({}), 'True')
    await space.apply(shop({ name: 'Planned' }))
    await space.delete(removedClient)
    await space.apply(resource('RealmRole', 'seller', { realmRef: { name: 'acme' } }))
    await waitUntil(async () => (await space.get(acme({}))).status.plan?.update === 1)
    const getPlan = async () => (await space.get(acme({}))).status.plan
    await waitUntil(async () => (await getPlan()).create === 1)
    const { changes, ...counts } = await getPlan()
    expect(counts).toEqual({ create: 1, update: 1, delete: 1 })
    const { namespace } = space
    expect(changes).toContain(`  ~ client shop  RealmClient ${namespace}/shop\n`)
    expect(changes).toContain(`  + role seller  RealmRole ${namespace}/seller\n`)
    expect(changes).toContain(`  - client removed  removed from RealmClient ${namespace}/removed\n`)
    const { status } = await space.waitForReady(acme({}), 'False', 'Planned')
    expect(status.history[0]).toMatchObject({ outcome: 'Planned' })
    expect(findCondition({ status }, 'Ready').message).toBe(
      'The mode is plan: an apply would create 1, update 1 and delete 1 objects.',
    )
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Shop' })
    expect(await findClient(realm, 'removed')).toBeDefined()
    await space.apply(acme({}))
    for (const item of [acme({}), shop(), resource('RealmRole', 'seller', {})]) await space.waitForReady(item, 'True')
    await space.waitForDeletion(removedClient)
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Planned' })
  })

  test('prune deletes removed managed objects by default, nothing with none, and all undeclared objects with all', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = (prune: string | undefined, ...names: string[]) =>
      resource('Realm', 'acme', {
        realm,
        ...(prune && { prune }),
        guards: { deletions: 100, share: 1 },
        groups: names.map((name) => ({ name })),
      })
    const groups = async () => {
      const names = ['a', 'b', 'c', 'd']
      const liveGroups = await Promise.all(
        names.map((name) => getLiveObject(setup.service, SYSTEM, realm, 'group', `/${name}`).catch(() => undefined)),
      )
      return names.filter((_, at) => liveGroups[at]).join('')
    }
    await space.apply(acme(undefined, 'a', 'b', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    await createObject(setup.service, ANN, realm, 'group', { path: '/d' })
    await space.apply(acme(undefined, 'b', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    expect(await groups()).toBe('bcd')
    await space.apply(acme('none', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    expect(await groups()).toBe('bcd')
    await space.apply(shop())
    await space.waitForReady(shop(), 'True')
    await space.delete(shop())
    await space.waitForDeletion(shop())
    expect(await findClient(realm, 'shop')).toBeDefined()
    await space.apply(acme('all', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    expect(await groups()).toBe('c')
    expect(await findClient(realm, 'shop')).toBeUndefined()
    // With none, the realm itself is not deleted either.
    await space.apply(acme('none', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    await space.delete(acme(undefined))
    await space.waitForDeletion(acme(undefined))
    expect(await groups()).toBe('c')
  })

  test('prune: disabled retains an object when its resource is deleted, and reconcile: disabled ignores the resource', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const annotated = (name: string, annotation: string, spec: object = {}) =>
      resource(
        'RealmClient',
        name,
        { realmRef: { name: 'acme' }, ...spec },
        {
          annotations: annotation ? { [`regent.dev/${annotation}`]: 'disabled' } : {},
        },
      )
    const names = ['retained', 'ignored']
    await space.apply(resource('Realm', 'acme', { realm }))
    for (const name of names) await space.apply(annotated(name, '', { name: 'One' }))
    for (const name of names) await space.waitForReady(annotated(name, ''), 'True')
    await space.apply(annotated('retained', 'prune', { name: 'Two' }))
    await space.apply(annotated('ignored', 'reconcile', { name: 'Two' }))
    await space.waitForReady(annotated('retained', ''), 'True')
    const { status } = await space.waitForReady(annotated('ignored', ''), 'False', 'Disabled')
    expect(status.conditions).toHaveLength(1)
    expect(await findClient(realm, 'retained')).toMatchObject({ name: 'Two' })
    expect(await findClient(realm, 'ignored')).toMatchObject({ name: 'One' })
    await space.delete(annotated('retained', ''), annotated('ignored', ''))
    for (const name of names) await space.waitForDeletion(annotated(name, ''))
    expect(await findClient(realm, 'retained')).toMatchObject({ name: 'Two' })
    expect(await findClient(realm, 'ignored')).toMatchObject({ name: 'One' })
    // A new resource adopts the object.
    await space.apply(annotated('ignored', '', { name: 'Three' }))
    await space.waitForReady(annotated('ignored', ''), 'True')
    expect(await findClient(realm, 'ignored')).toMatchObject({ name: 'Three' })
  })

  test('allowedNamespaces admits namespaces by their current labels', async () => {
    const owner = await createNamespace(setup.kubernetes)
    const team = await createNamespace(setup.kubernetes)
    const realm = newName()
    const setTier = async (tier: string | null) => {
      const merge = { 'content-type': 'application/merge-patch+json' }
      await setup.kubernetes.request(
        'PATCH',
        `/api/v1/namespaces/${team.namespace}`,
        { metadata: { labels: { tier } } },
        merge,
      )
    }
    const selector = { matchExpressions: [{ key: 'tier', operator: 'In', values: ['shop', 'till'] }] }
    await owner.apply(resource('Realm', 'acme', { realm, allowedNamespaces: [{ selector }] }))
    const declaredShop = (name: string) => shop({ realmRef: { name: 'acme', namespace: owner.namespace }, name })
    await team.apply(declaredShop('One'))
    await team.waitForReady(shop(), 'False', 'NotAdmitted')
    expect(await findClient(realm, 'shop')).toBeUndefined()
    await setTier('shop')
    await team.waitForReady(shop(), 'True')
    await setTier(null)
    await team.waitForReady(shop(), 'False', 'NotAdmitted')
    await team.apply(declaredShop('Two'))
    await team.waitForReady(shop(), 'False', 'NotAdmitted')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'One' })
    await setTier('till')
    await team.waitForReady(shop(), 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Two' })
  })
})
