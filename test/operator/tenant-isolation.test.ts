// The resources of one tenant never block those of the realm's owner or of other tenants.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { createNamespace, findCondition, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  const findClient = async (realm: string, name: string) =>
    (await getLiveObject(setup.service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation

  async function createTenants(permissions: object = {}) {
    const spaces = [1, 2, 3].map(() => createNamespace(setup.kubernetes))
    const [owner, first, second] = (await Promise.all(spaces)) as [
      Awaited<(typeof spaces)[0]>,
      Awaited<(typeof spaces)[0]>,
      Awaited<(typeof spaces)[0]>,
    ]
    const realm = newName()
    const allowedNamespaces = [first, second].map(({ namespace }) => ({ name: namespace, ...permissions }))
    const acme = (spec: object = {}) => resource('Realm', 'acme', { realm, enabled: true, allowedNamespaces, ...spec })
    await owner.apply(acme())
    await owner.waitForReady(acme(), 'True')
    const realmRef = { name: 'acme', namespace: owner.namespace }
    const client = (clientId: string, spec: object = {}) => resource('RealmClient', clientId, { realmRef, ...spec })
    return { owner, first, second, realm, acme, client, realmRef }
  }

  test('the owner takes over a client of a tenant, whose resource names the other', async () => {
    const { owner, first, realm, client } = await createTenants()
    await first.apply(client('shop', { redirectUris: ['https://one.example.org/*'] }))
    await first.waitForReady(client('shop'), 'True')
    await owner.apply(client('shop', { redirectUris: ['https://other.example.org/*'], enabled: false }))
    await owner.waitForReady(client('shop'), 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({
      enabled: false,
      redirectUris: ['https://other.example.org/*'],
    })
    const { status } = await first.waitForReady(client('shop'), 'False', 'NotAdmitted')
    expect(status.conditions[0].message).toContain(`client shop is declared by RealmClient ${owner.namespace}/shop`)
    await owner.apply(client('shop', { name: 'Closed', enabled: false }))
    await waitUntil(async () => (await findClient(realm, 'shop'))?.name === 'Closed')
    await owner.delete(client('shop'))
    await first.waitForReady(client('shop'), 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({ redirectUris: ['https://one.example.org/*'] })
  })

  test('the older of two tenants keeps a client, and the younger gets it after its deletion', async () => {
    const { first, second, realm, client } = await createTenants()
    await second.apply(client('shop', { name: 'Of the second' }))
    await second.waitForReady(client('shop'), 'True')
    await first.apply(client('shop', { name: 'Of the first' }))
    const { status } = await first.waitForReady(client('shop'), 'False', 'NotAdmitted')
    expect(status.conditions[0].message).toContain(`declared by RealmClient ${second.namespace}/shop`)
    await second.apply(client('shop', { name: 'Still of the second' }))
    await waitUntil(async () => (await findClient(realm, 'shop'))?.name === 'Still of the second')
    await second.delete(client('shop'))
    await first.waitForReady(client('shop'), 'True')
    expect(await findClient(realm, 'shop')).toMatchObject({ name: 'Of the first' })
  })

  test('a guard of a tenant blocks its resources only', async () => {
    const { owner, first, second, realm, acme, client, realmRef } = await createTenants({
      kinds: ['RealmClient', 'RealmGroup'],
    })
    const names = Array.from({ length: 25 }, (_, at) => ({ name: `g${at}` }))
    const group = (subGroups: object[]) => resource('RealmGroup', 'crew', { realmRef, subGroups })
    await first.apply(group(names))
    await first.waitForReady(group([]), 'True')
    await first.apply(group(names.slice(0, 1)))
    const { status } = await first.waitForReady(group([]), 'False', 'PendingApproval')
    await owner.apply(client('svc', { enabled: false }))
    await second.apply(client('app'))
    await owner.waitForReady(client('svc'), 'True')
    await second.waitForReady(client('app'), 'True')
    expect(findCondition(await owner.get(acme()), 'Ready').status).toBe('True')
    expect(await findClient(realm, 'svc')).toMatchObject({ enabled: false })
    // The owner of the realm approves.
    const [, plan] = /regent\.dev\/approved-plan=(\S+)/.exec(status.conditions[0].message)!
    await owner.apply({
      ...acme(),
      metadata: { name: 'acme', annotations: { 'regent.dev/approved-plan': plan } },
    } as ReturnType<typeof acme>)
    await first.waitForReady(group([]), 'True')
  })

  test('the owner grants admin roles although tenants may not', async () => {
    const { owner, first, client, realmRef } = await createTenants()
    await first.apply(client('app'))
    await first.waitForReady(client('app'), 'True')
    const root = resource('RealmUser', 'root', { realmRef, clientRoles: { 'realm-management': ['realm-admin'] } })
    await owner.apply(root)
    await owner.waitForReady(root, 'True')
  })

  test('an invalid resource of a tenant leaves its live state and others as they are', async () => {
    const { owner, first, second, realm, client } = await createTenants()
    await first.apply(client('app', { name: 'App' }))
    await first.waitForReady(client('app'), 'True')
    await first.apply(client('app', { name: 'Changed', rootUrl: 'none' }))
    await first.waitForReady(client('app'), 'False', 'Invalid')
    await owner.apply(client('svc'))
    await second.apply(client('other'))
    await owner.waitForReady(client('svc'), 'True')
    await second.waitForReady(client('other'), 'True')
    expect(await findClient(realm, 'app')).toMatchObject({ name: 'App' })
  })
})
