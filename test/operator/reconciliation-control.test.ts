// What a Realm says of how it is applied, and what annotations ask for.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Service } from '../../src/service/context/service.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { createObject, deleteObject, getLiveObject, updateObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  createNamespace,
  findCondition,
  resource,
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
  afterAll(async () => {
    await stopTestOperator(kubernetes, operated)
    expect(operated?.failures).toEqual([])
  })

  const clientOf = async (realm: string, name: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation
  const shop = (spec: object = {}, more: object = {}) =>
    resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, ...spec }, more)
  const set = (realm: string, fields: Record<string, string>) =>
    updateObject(service, ANN, realm, 'client', ['shop'], fields)

  test('nothing is applied to a realm that is suspended, nothing goes, and no request is handled, until it goes on', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (spec: object, requestedAt: string) =>
      resource(
        'Realm',
        'acme',
        { realm, ...spec },
        { annotations: { 'reconcile.regent.dev/requestedAt': requestedAt } },
      )
    const gone = resource('RealmClient', 'gone', { realmRef: { name: 'acme' } })
    await space.apply(acme({}, '1'))
    await space.apply(shop({ name: 'One' }))
    await space.apply(gone)
    for (const one of [acme({}, '1'), shop(), gone]) await space.waitForReady(one, 'True')
    await space.apply(acme({ suspend: true, displayName: 'Acme' }, '2'))
    expect((await space.waitForReady(acme({}, '2'), 'False', 'Suspended')).status.lastHandledReconcileAt).toBe('1')
    await space.apply(shop({ name: 'Two' }))
    await space.delete(gone)
    await space.waitForReady(shop(), 'False', 'Suspended')
    // What was never applied leaves nothing behind.
    const never = resource('RealmClient', 'never', { realmRef: { name: 'acme' } })
    await space.apply(never)
    await space.waitForReady(never, 'False', 'Suspended')
    await space.delete(never)
    await space.waitForDeletion(never)
    await waitUntil(async () =>
      findCondition(await space.get(gone), 'Ready')?.message.startsWith('its object goes when'),
    )
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'One' })
    expect(await clientOf(realm, 'gone')).toBeDefined()
    await space.apply(acme({ displayName: 'Acme' }, '2'))
    for (const one of [acme({}, '2'), shop()]) await space.waitForReady(one, 'True')
    await space.waitForDeletion(gone)
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Two' })
    expect(await clientOf(realm, 'gone')).toBeUndefined()
    expect((await space.get(acme({}, '2'))).status.lastHandledReconcileAt).toBe('2')
  })

  test('a realm is looked at in its interval: what drifted is put back, and what is only to be reported stays', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const drift = [{ kind: 'client', path: 'description', policy: 'report' }]
    const stated = shop({ name: 'Shop', description: 'Sells' })
    await space.apply(resource('Realm', 'acme', { realm, interval: '1s', drift }))
    await space.apply(stated)
    await space.waitForReady(stated, 'True')
    await set(realm, { name: 'Changed', description: 'Changed' })
    await waitUntil(async () => (await clientOf(realm, 'shop'))?.name === 'Shop')
    expect(await clientOf(realm, 'shop')).toMatchObject({ description: 'Changed' })
    await waitUntil(async () => {
      const told = findCondition(await space.get(stated), 'Drifted')?.message
      return told?.includes('description was changed by ann') === true && !told.includes('name')
    })
    await space.waitForReady(stated, 'True')
  })

  test('what is to heal is put back at once', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm, drift: [{ policy: 'selfHeal' }] }))
    await space.apply(shop({ name: 'Shop' }))
    await space.waitForReady(shop(), 'True')
    await set(realm, { name: 'Changed' })
    await waitUntil(async () => (await clientOf(realm, 'shop'))?.name === 'Shop')
    await deleteObject(service, ANN, realm, 'client', 'shop')
    await waitUntil(async () => (await clientOf(realm, 'shop')) !== undefined)
    await waitUntil(async () => (await space.get(shop())).status.drift === 0)
  })

  test('a request is handled once: it puts back what has drifted, and is named in the status', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const asked = (requestedAt: string) =>
      shop({ name: 'Shop' }, { annotations: { 'reconcile.regent.dev/requestedAt': requestedAt } })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(asked('first'))
    await space.waitForReady(shop(), 'True')
    await set(realm, { name: 'Changed' })
    await waitUntil(async () => (await space.get(shop())).status.drift === 1)
    await space.apply(asked('second'))
    await waitUntil(async () => (await space.get(shop())).status.lastHandledReconcileAt === 'second')
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Shop' })
    await waitUntil(async () => (await space.get(shop())).status.drift === 0)
  })

  test('a realm waits for others that were never applied, and goes on; those that wait for each other are told so', async () => {
    const space = await createNamespace(kubernetes)
    const [base, acme, ring, other] = ['base', 'acme', 'ring', 'other'].map((name) => ({ name, realm: newName() }))
    const depending = ({ name, realm }: { name: string; realm: string }, ...dependsOn: string[]) =>
      resource('Realm', name, { realm, dependsOn })
    await space.apply(depending(acme!, 'base'))
    const { status } = await space.waitForReady(depending(acme!), 'False', 'DependencyNotReady')
    expect(findCondition({ status }, 'Ready').message).toBe('it waits until these were applied: base')
    expect(findCondition({ status }, 'Reconciling').status).toBe('True')
    expect(await service.findRealms([acme!.realm])).toEqual([])
    await space.apply(depending(base!))
    await space.waitForReady(depending(acme!), 'True')
    // What becomes wrong of it later holds up nobody.
    await space.apply(resource('Realm', 'base', { realm: base!.realm, defaultDefaultClientScopes: ['no-such-scope'] }))
    await space.waitForReady(depending(base!), 'False', 'Invalid')
    await space.apply({
      ...depending(acme!, 'base'),
      spec: { realm: acme!.realm, dependsOn: ['base'], displayName: 'A' },
    })
    await space.waitForReady(depending(acme!), 'True')
    await space.apply(depending(ring!, 'other'))
    await space.apply(depending(other!, 'ring'))
    for (const [one, path] of [
      [ring!, 'ring → other → ring'],
      [other!, 'other → ring → other'],
    ] as const) {
      const { status } = await space.waitForReady(depending(one), 'False', 'DependencyCycle')
      expect(findCondition({ status }, 'Ready').message).toContain(path)
      expect(findCondition({ status }, 'Stalled').status).toBe('True')
    }
    await space.apply(depending(ring!))
    for (const one of [ring!, other!]) await space.waitForReady(depending(one), 'True')
  })

  test('with mode plan it is shown what would be done, and nothing is written or goes', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (spec: object) => resource('Realm', 'acme', { realm, ...spec })
    const gone = resource('RealmClient', 'gone', { realmRef: { name: 'acme' } })
    await space.apply(acme({}))
    await space.apply(shop({ name: 'Shop' }))
    await space.apply(gone)
    for (const one of [shop(), gone]) await space.waitForReady(one, 'True')
    await space.apply(acme({ mode: 'plan' }))
    await space.waitForReady(acme({}), 'True')
    await space.apply(shop({ name: 'Planned' }))
    await space.delete(gone)
    await space.apply(resource('RealmRole', 'seller', { realmRef: { name: 'acme' } }))
    await waitUntil(async () => (await space.get(acme({}))).status.plan?.update === 1)
    const counted = async () => (await space.get(acme({}))).status.plan
    await waitUntil(async () => JSON.stringify(await counted()) === '{"create":1,"delete":1,"update":1}')
    const { status } = await space.waitForReady(acme({}), 'False', 'Planned')
    expect(status.history[0]).toMatchObject({ outcome: 'Planned' })
    expect(findCondition({ status }, 'Ready').message).toBe(
      'mode is plan: would create 1, change 1 and delete 1 objects of the realm',
    )
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Shop' })
    expect(await clientOf(realm, 'gone')).toBeDefined()
    await space.apply(acme({}))
    for (const one of [acme({}), shop(), resource('RealmRole', 'seller', {})]) await space.waitForReady(one, 'True')
    await space.waitForDeletion(gone)
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Planned' })
  })

  test('prune says what goes once no resource states it: what is owned, nothing, or all that no list states', async () => {
    const space = await createNamespace(kubernetes)
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
      const found = await Promise.all(
        names.map((name) => getLiveObject(service, SYSTEM, realm, 'group', `/${name}`).catch(() => undefined)),
      )
      return names.filter((_, at) => found[at]).join('')
    }
    await space.apply(acme(undefined, 'a', 'b', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    await createObject(service, ANN, realm, 'group', { path: '/d' })
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
    expect(await clientOf(realm, 'shop')).toBeDefined()
    await space.apply(acme('all', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    expect(await groups()).toBe('c')
    expect(await clientOf(realm, 'shop')).toBeUndefined()
    // The realm itself is something that nothing deletes then, too.
    await space.apply(acme('none', 'c'))
    await space.waitForReady(acme(undefined), 'True')
    await space.delete(acme(undefined))
    await space.waitForDeletion(acme(undefined))
    expect(await groups()).toBe('c')
  })

  test('annotations keep an object when its resource goes, and leave it alone whatever that says', async () => {
    const space = await createNamespace(kubernetes)
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
    const names = ['kept', 'alone']
    await space.apply(resource('Realm', 'acme', { realm }))
    for (const name of names) await space.apply(annotated(name, '', { name: 'One' }))
    for (const name of names) await space.waitForReady(annotated(name, ''), 'True')
    await space.apply(annotated('kept', 'prune', { name: 'Two' }))
    await space.apply(annotated('alone', 'reconcile', { name: 'Two' }))
    await space.waitForReady(annotated('kept', ''), 'True')
    const { status } = await space.waitForReady(annotated('alone', ''), 'False', 'Disabled')
    expect(status.conditions).toHaveLength(1)
    expect(await clientOf(realm, 'kept')).toMatchObject({ name: 'Two' })
    expect(await clientOf(realm, 'alone')).toMatchObject({ name: 'One' })
    await space.delete(annotated('kept', ''), annotated('alone', ''))
    for (const name of names) await space.waitForDeletion(annotated(name, ''))
    expect(await clientOf(realm, 'kept')).toMatchObject({ name: 'Two' })
    expect(await clientOf(realm, 'alone')).toMatchObject({ name: 'One' })
    // A new resource finds the object, and goes on with it.
    await space.apply(annotated('alone', '', { name: 'Three' }))
    await space.waitForReady(annotated('alone', ''), 'True')
    expect(await clientOf(realm, 'alone')).toMatchObject({ name: 'Three' })
  })

  test('a realm admits namespaces by their labels, as these are now', async () => {
    const owner = await createNamespace(kubernetes)
    const team = await createNamespace(kubernetes)
    const realm = newName()
    const labelled = async (tier: string | null) => {
      const merge = { 'content-type': 'application/merge-patch+json' }
      await kubernetes.request(
        'PATCH',
        `/api/v1/namespaces/${team.namespace}`,
        { metadata: { labels: { tier } } },
        merge,
      )
    }
    const selector = { matchExpressions: [{ key: 'tier', operator: 'In', values: ['shop', 'till'] }] }
    await owner.apply(resource('Realm', 'acme', { realm, allowedNamespaces: [{ selector }] }))
    const stated = (name: string) => shop({ realmRef: { name: 'acme', namespace: owner.namespace }, name })
    await team.apply(stated('One'))
    await team.waitForReady(shop(), 'False', 'NotAdmitted')
    expect(await clientOf(realm, 'shop')).toBeUndefined()
    await labelled('shop')
    await team.waitForReady(shop(), 'True')
    await labelled(null)
    await team.waitForReady(shop(), 'False', 'NotAdmitted')
    await team.apply(stated('Two'))
    await team.waitForReady(shop(), 'False', 'NotAdmitted')
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'One' })
    await labelled('till')
    await team.waitForReady(shop(), 'True')
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Two' })
  })
})
