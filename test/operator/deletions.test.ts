// Deletions of resources, namespaces, definitions and sources with realms in them: nothing blocks, and no user is lost.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { createObject, getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  resource,
  setUpOperator,
  startOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  const find = async (realm: string, kind: 'client' | 'clientScope' | 'user', name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, kind, name).catch(() => undefined))?.representation
  const deleteNamespace = async ({ namespace }: TestNamespace) => {
    await setup.kubernetes.request('DELETE', `/api/v1/namespaces/${namespace}`)
    await waitUntil(
      async () => (await setup.kubernetes.request('GET', `/api/v1/namespaces/${namespace}`)).status === 404,
    )
  }
  const getEvents = async ({ namespace }: TestNamespace, name: string): Promise<string[]> => {
    const { body } = await setup.kubernetes.request('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)
    const events: { reason: string; note: string; regarding: { name: string } }[] = body.items
    return events.filter(({ regarding }) => regarding.name === name).map(({ reason, note }) => `${reason}: ${note}`)
  }
  /** Creates an owner namespace with a realm and its user eve, and a tenant with the client `app`. */
  const prepare = async (more: object = {}) => {
    const [owner, tenant] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const allowedNamespaces = [{ name: tenant.namespace, kinds: ['RealmClient', 'RealmClientScope'] }]
    const acme = (spec: object = {}) => resource('Realm', 'acme', { realm, allowedNamespaces, ...more, ...spec })
    const realmRef = { name: 'acme', namespace: owner.namespace }
    const app = resource('RealmClient', 'app', { realmRef })
    await owner.apply(acme())
    await tenant.apply(app)
    await owner.waitForReady(acme(), 'True')
    await tenant.waitForReady(app, 'True')
    await createObject(setup.service, SYSTEM, realm, 'user', { username: 'eve' })
    return { owner, tenant, realm, acme, app, realmRef }
  }
  const findPlan = async (realm: string) =>
    (await listSavedPlans(setup.service, SYSTEM)).find(({ realms }) => realms[0]?.name === realm)

  test('a Realm in use by tenants is deleted at once; its realm stays with users and objects until its deletion is approved', async () => {
    const { owner, tenant, realm, acme, app } = await prepare()
    await owner.delete(acme())
    await owner.waitForDeletion(acme())
    expect(await find(realm, 'user', 'eve')).toBeDefined()
    expect(await find(realm, 'client', 'app')).toBeDefined()
    await deleteNamespace(tenant)
    await waitUntil(async () => (await findPlan(realm))?.realms[0]?.guards[0]?.guard === 'deletesRealm')
    expect((await tenant.get(app)).code).toBe(404)
    expect(await find(realm, 'user', 'eve')).toBeDefined()
  })

  test('a suspended Realm is deleted at once, and its realm stays as it is, unmanaged', async () => {
    const { owner, realm, acme } = await prepare()
    await owner.apply(acme({ suspend: true, displayName: 'Not applied' }))
    await owner.waitForReady(acme(), 'False', 'Suspended')
    await deleteNamespace(owner)
    expect(await find(realm, 'user', 'eve')).toBeDefined()
    expect(await find(realm, 'client', 'app')).toBeDefined()
    const { body } = await getRealm(realm)
    expect(body).not.toMatchObject({ displayName: 'Not applied' })
    expect(await findPlan(realm)).toBeUndefined()
  })
  const getRealm = async (realm: string) => ({
    body: (await getLiveObject(setup.service, SYSTEM, realm, 'realm', realm)).representation,
  })

  test('the namespace of a tenant is deleted while the realm is suspended; its client is deleted when the realm is resumed, also after a restart', async () => {
    const { owner, tenant, realm, acme } = await prepare()
    await owner.apply(acme({ suspend: true }))
    await owner.waitForReady(acme(), 'True')
    await deleteNamespace(tenant)
    expect(await find(realm, 'client', 'app')).toBeDefined()
    await setup.operator.stop()
    setup.operator = startOperator(setup.service)
    await owner.apply(acme())
    await waitUntil(async () => (await find(realm, 'client', 'app')) === undefined)
    await owner.waitForReady(acme(), 'True')
    expect(await find(realm, 'user', 'eve')).toBeDefined()
  })

  test('a resource is deleted while the realm is in the mode plan, which leaves its object live until the mode is apply', async () => {
    const { owner, tenant, realm, acme, app } = await prepare()
    await owner.apply(acme({ mode: 'plan' }))
    await owner.waitForReady(acme(), 'True')
    await tenant.delete(app)
    await tenant.waitForDeletion(app)
    expect(await find(realm, 'client', 'app')).toBeDefined()
    await owner.apply(acme({ mode: 'apply' }))
    await waitUntil(async () => (await find(realm, 'client', 'app')) === undefined)
  })

  test('a Realm in the mode plan is deleted at once, and its users stay until the deletion is approved', async () => {
    const { owner, realm, acme } = await prepare()
    await owner.apply(acme({ mode: 'plan' }))
    await owner.waitForReady(acme(), 'True')
    await deleteNamespace(owner)
    expect(await find(realm, 'user', 'eve')).toBeDefined()
    await waitUntil(async () => (await findPlan(realm))?.realms[0]?.guards[0]?.guard === 'deletesRealm')
  })

  test('a resource whose object is in use is deleted at once, with an event; the object is deleted when it is free', async () => {
    const { owner, realm, realmRef, acme } = await prepare()
    const [scope, shop] = [
      resource('RealmClientScope', 'extra', { realmRef, protocol: 'openid-connect' }),
      resource('RealmClient', 'shop', { realmRef, defaultClientScopes: ['extra'] }),
    ]
    for (const item of [scope, shop]) await owner.apply(item)
    for (const item of [scope, shop]) await owner.waitForReady(item, 'True')
    await owner.delete(scope)
    await owner.waitForDeletion(scope)
    expect(await find(realm, 'clientScope', 'extra')).toBeDefined()
    expect((await getEvents(owner, 'extra')).some((text) => text.includes('The object stays live for now'))).toBe(true)
    await owner.delete(shop)
    await owner.waitForDeletion(shop)
    await waitUntil(async () => (await find(realm, 'clientScope', 'extra')) === undefined)
    await owner.waitForReady(acme(), 'True')
  })

  test('a postponed deletion is forgotten if the resource is created again', async () => {
    const { owner, tenant, realm, acme, app } = await prepare()
    await owner.apply(acme({ suspend: true }))
    await owner.waitForReady(acme(), 'True')
    await tenant.delete(app)
    await tenant.waitForDeletion(app)
    await tenant.apply(app)
    await owner.apply(acme())
    await tenant.waitForReady(app, 'True')
    await owner.apply(acme({ displayName: 'Later' }))
    await owner.waitForReady(acme(), 'True')
    expect(await find(realm, 'client', 'app')).toBeDefined()
  })
})
