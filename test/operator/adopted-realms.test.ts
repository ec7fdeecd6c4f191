// Realms that a namespace releases and manages again, adopts, or only observes.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

const adoptable = new Set<string>()

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator(() => ({ isAdoptable: (namespace, realm) => adoptable.has(`${namespace}=${realm}`) }))

  const findClient = async (realm: string, name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation
  const getMessage = async (
    space: Awaited<ReturnType<typeof createNamespace>>,
    item: ReturnType<typeof resource>,
    reason: string,
  ) => (await space.waitForReady(item, 'False', reason)).status.conditions[0].message

  /** Creates a realm by REST, with a client. */
  async function createLiveRealm(): Promise<string> {
    const { create } = await testServer()
    const realm = newName()
    await create('/admin/realms', { realm, enabled: true })
    await create(`/admin/realms/${realm}/clients`, { clientId: 'live', name: 'Live' })
    return realm
  }

  test('a realm and an object with deletionPolicy Orphan are managed again by the same namespace only', async () => {
    const [space, stranger] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const acme = (spec: object = {}) => resource('Realm', 'acme', { realm, deletionPolicy: 'Orphan', ...spec })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, deletionPolicy: 'Orphan' })
    for (const item of [acme(), shop]) await space.apply(item)
    for (const item of [acme(), shop]) await space.waitForReady(item, 'True')
    await space.delete(shop, acme())
    for (const item of [shop, acme()]) await space.waitForDeletion(item)
    expect(await findClient(realm, 'shop')).toBeDefined()
    await stranger.apply(acme())
    await stranger.waitForReady(acme(), 'False', 'RealmTaken')
    await stranger.delete(acme())
    await stranger.waitForDeletion(acme())
    await space.apply(acme({ displayName: 'Again' }))
    await space.waitForReady(acme(), 'True')
    expect((await getLiveObject(setup.service, SYSTEM, realm, 'realm')).representation.displayName).toBe('Again')
  })

  test('a tenant manages an orphaned client again, which another tenant may not take', async () => {
    const [owner, first, second] = [
      await createNamespace(setup.kubernetes),
      await createNamespace(setup.kubernetes),
      await createNamespace(setup.kubernetes),
    ]
    const acme = resource('Realm', 'acme', {
      realm: newName(),
      allowedNamespaces: [first, second].map(({ namespace }) => ({ name: namespace })),
    })
    const shop = resource('RealmClient', 'shop', {
      realmRef: { name: 'acme', namespace: owner.namespace },
      deletionPolicy: 'Orphan',
    })
    await owner.apply(acme)
    await first.apply(shop)
    await first.waitForReady(shop, 'True')
    await first.delete(shop)
    await first.waitForDeletion(shop)
    await second.apply(shop)
    expect(await getMessage(second, shop, 'NotAdmitted')).toContain(
      'client shop exists, and this source did not create it',
    )
    await first.apply(shop)
    await first.waitForReady(shop, 'True')
  })

  test('a live realm is adopted by an annotation that a setting permits, after its plan was shown', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = await createLiveRealm()
    const acme = (adopt?: string) =>
      resource(
        'Realm',
        'acme',
        { realm, displayName: 'Adopted', clients: [{ clientId: 'new' }] },
        adopt ? { annotations: { 'regent.dev/adopt': adopt } } : {},
      )
    await space.apply(acme('apply'))
    expect(await getMessage(space, acme(), 'RealmTaken')).toContain(`--adoptable-realms ${space.namespace}=${realm}`)
    adoptable.add(`${space.namespace}=${realm}`)
    await space.apply(acme())
    await waitUntil(async () =>
      (await getMessage(space, acme(), 'RealmTaken')).includes('set the annotation regent.dev/adopt to "plan"'),
    )
    await space.apply(acme('plan'))
    expect(await getMessage(space, acme(), 'Planned')).toContain('create 1, update 1 and delete 0 objects')
    expect(await findClient(realm, 'new')).toBeUndefined()
    await space.apply(acme('apply'))
    await space.waitForReady(acme(), 'True')
    expect(await findClient(realm, 'new')).toBeDefined()
    expect(await findClient(realm, 'live')).toMatchObject({ name: 'Live' })
  })

  test('a Realm that observes reports a live realm, admits namespaces to it, and leaves it alone', async () => {
    const [space, team] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = await createLiveRealm()
    const acme = (spec: object = {}) =>
      resource('Realm', 'acme', {
        realm,
        managementPolicies: ['Observe'],
        allowedNamespaces: [{ name: team.namespace }],
        ...spec,
      })
    const client = (name: string) =>
      resource('RealmClient', name, { realmRef: { name: 'acme', namespace: space.namespace } })
    await space.apply(acme({ displayName: 'Ignored' }))
    expect(await getMessage(space, acme(), 'NotAdmitted')).toContain(`--adoptable-realms ${space.namespace}=${realm}`)
    adoptable.add(`${space.namespace}=${realm}`)
    await space.apply(acme())
    await space.waitForReady(acme(), 'True', 'Observed')
    for (const name of ['app', 'live']) await team.apply(client(name))
    await team.waitForReady(client('app'), 'True')
    expect(await getMessage(team, client('live'), 'NotAdmitted')).toContain(
      'client live exists, and this source did not create it',
    )
    // Its own namespace is not admitted by itself.
    await space.apply(client('own'))
    await space.waitForReady(client('own'), 'False', 'NotAdmitted')
    expect((await getLiveObject(setup.service, SYSTEM, realm, 'realm')).representation.displayName).toBeUndefined()
    await space.delete(acme())
    await space.waitForDeletion(acme())
    expect(await findClient(realm, 'app')).toBeDefined()
    expect(setup.operator.failures).toEqual([])
  })
})
