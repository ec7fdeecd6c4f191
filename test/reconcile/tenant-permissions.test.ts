// Permissions of tenants: a source with `kinds` declares only such objects in a realm, and no built-in or foreign ones.
import { describe, expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { toTenantPermissions } from '../../src/service/context/source-permissions.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const { create } = await testServer()

type Entry = Parameters<typeof toTenantPermissions>[0][number]

/** A tenant of a realm. */
const tenant = (realm: string, content: object, entry: Entry = {}, name = 'team') => ({
  ...createSource([{ realm, ...content }], `${name}-of-${realm}`),
  sourcePermissions: { realms: [realm], tenant: [toTenantPermissions([entry])] },
})

/** A realm with objects of its owner. */
async function createOwnedRealm(): Promise<string> {
  const realm = newName()
  const content = {
    clients: [{ clientId: 'shop' }],
    roles: { realm: [{ name: 'staff' }], client: { shop: [{ name: 'admin' }] } },
    groups: [{ name: 'staff', realmRoles: ['staff'] }],
    clientScopes: [{ name: 'orders', protocol: 'openid-connect' }],
  }
  await applySource(service, createSource([{ realm, enabled: true, ...content }], `owner-of-${realm}`))
  return realm
}

const OWN_CLIENT = {
  clients: [
    {
      clientId: 'app',
      authorizationServicesEnabled: true,
      serviceAccountsEnabled: true,
      defaultClientScopes: ['profile', 'orders'],
      protocolMappers: [{ name: 'team', protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' }],
      authorizationSettings: {
        scopes: [{ name: 'read' }],
        resources: [{ name: 'orders', scopes: [{ name: 'read' }] }],
      },
    },
  ],
  roles: { client: { app: [{ name: 'user' }, { name: 'lead', composites: { client: { app: ['user'] } } }] } },
}

test('without kinds, a tenant declares clients of its own with their roles, mappers and authorization settings', async () => {
  const realm = await createOwnedRealm()
  await applySource(service, tenant(realm, OWN_CLIENT))
  expect((await getLiveObject(service, SYSTEM, realm, 'client', 'app')).representation).toMatchObject({
    clientId: 'app',
  })
  const account = { username: 'service-account-app', clientRoles: { app: ['lead'] } }
  await applySource(service, tenant(realm, { ...OWN_CLIENT, users: [account] }))
  await applySource(service, tenant(realm, {}))
  await expect(getLiveObject(service, SYSTEM, realm, 'client', 'app')).rejects.toThrow()
})

describe('a tenant is refused', () => {
  const mapper = { name: 'x', protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' }
  const roleMapper = (role: string) => ({
    name: 'role',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-role-mapper',
    config: { role },
  })
  const app = (more: object) => ({ clients: [{ clientId: 'app', ...more }] })
  const everything: Entry = {
    kinds: [
      'RealmClient',
      'RealmRole',
      'RealmGroup',
      'RealmUser',
      'RealmFlow',
      'RealmClientScope',
      'RealmProtocolMapper',
    ],
  }
  const cases: [name: string, content: object, entry: Entry, message: string][] = [
    ['a field of the realm', { displayName: 'Taken' }, everything, 'may not declare Realm in realm'],
    [
      'a kind that is not permitted',
      { groups: [{ name: 'team' }] },
      {},
      'may not declare RealmGroup in realm {realm}: kind not permitted',
    ],
    ['a name that is not permitted', app({}), { names: ['team-*'] }, 'name not permitted. Permitted names: team-*'],
    ['a built-in client', { clients: [{ clientId: 'account-console' }] }, {}, 'client account-console is built in'],
    [
      'a built-in flow',
      { authenticationFlows: [{ alias: 'browser', topLevel: true, authenticationExecutions: [] }] },
      everything,
      'is built in',
    ],
    [
      'a built-in scope',
      { clientScopes: [{ name: 'profile', description: 'x' }] },
      everything,
      'client scope profile is built in',
    ],
    ['a client of the owner', { clients: [{ clientId: 'shop' }] }, {}, 'client shop is declared by owner-of'],
    [
      'a renamed client of the owner',
      { clients: [{ clientId: 'mine', renamedFrom: 'shop' }] },
      {},
      'client shop is declared by',
    ],
    [
      'a mapper of a client of the owner',
      { clients: [{ clientId: 'shop', protocolMappers: [mapper] }] },
      everything,
      'client shop is declared by',
    ],
    [
      'a mapper of a scope of the owner',
      { clientScopes: [{ name: 'orders', protocolMappers: [mapper] }] },
      everything,
      'client scope orders is declared by',
    ],
    [
      'a role of a client of the owner',
      { roles: { client: { shop: [{ name: 'mine' }] } } },
      everything,
      'client shop is declared by',
    ],
    [
      'a subgroup of a group of the owner',
      { groups: [{ name: 'staff', subGroups: [{ name: 'x' }] }] },
      everything,
      'group /staff is declared by',
    ],
    [
      'a foreign role in a composite',
      { ...app({}), roles: { client: { app: [{ name: 'x', composites: { client: { shop: ['admin'] } } }] } } },
      {},
      'may not grant role admin of client shop',
    ],
    [
      'a foreign role of a user',
      { users: [{ username: 'ann', realmRoles: ['staff'] }] },
      everything,
      'may not grant role staff',
    ],
    [
      'a foreign group of a user',
      { users: [{ username: 'ann', groups: ['/staff'] }] },
      everything,
      'may not add to group /staff',
    ],
    ['a foreign role in a mapper', app({ protocolMappers: [roleMapper('shop.admin')] }), {}, 'may not grant role'],
  ]
  test.each(cases)('that declares %s', async (_, content, entry, message) => {
    const realm = await createOwnedRealm()
    const source = tenant(realm, content, entry)
    const problem = { message: expect.stringContaining(message.replace('{realm}', realm)) }
    await expect(applySource(service, source)).rejects.toMatchObject({ problems: [problem] })
    await expect(planSources(service, SYSTEM, [source])).rejects.toMatchObject({ problems: [problem] })
  })
})

test('roles that the permissions name may be granted', async () => {
  const realm = await createOwnedRealm()
  const roles = { client: { app: [{ name: 'x', composites: { realm: ['staff'], client: { shop: ['admin'] } } }] } }
  const content = { clients: [{ clientId: 'app' }], roles }
  const granting = (...patterns: string[]) => applySource(service, tenant(realm, content, { roles: patterns }))
  await expect(granting('realm/staff')).rejects.toThrow('may not grant role admin of client shop')
  await expect(granting('client/shop/*')).rejects.toThrow('may not grant role staff')
  await granting('realm/s*', 'client/shop/admin')
})

test('an object that an administrator made is not taken over', async () => {
  const realm = await createOwnedRealm()
  await create(`/admin/realms/${realm}/clients`, { clientId: 'app' })
  const refusal = 'client app exists, and this source did not create it'
  await expect(applySource(service, tenant(realm, OWN_CLIENT))).rejects.toThrow(refusal)
})

test('the owner takes over what a tenant declares, and the tenant is refused from then on', async () => {
  const realm = await createOwnedRealm()
  const client = (name: string) => ({ clients: [{ clientId: 'app', name }] })
  await applySource(service, tenant(realm, client('Of the team')))
  const owner = createSource([{ realm, enabled: true, ...client('Of the owner') }], `owner-of-${realm}`)
  await applySource(service, owner)
  expect((await getLiveObject(service, SYSTEM, realm, 'client', 'app')).representation).toMatchObject({
    name: 'Of the owner',
  })
  await expect(applySource(service, tenant(realm, client('Of the team again')))).rejects.toThrow(
    'client app is declared by',
  )
})
