// Missing references in an import over REST: as in Keycloak, roles are created and client scopes ignored.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call, make } = await testServer()
const { service } = await testService()

/** Creates a realm of this content, and reads below it. */
async function realmOf(content: object) {
  const realm = newName()
  await make('/admin/realms', { realm, enabled: true, ...content })
  const path = `/admin/realms/${realm}`
  const get = async (address: string) => (await call('GET', `${path}${address}`)).body
  const client = async (clientId: string) => (await get(`/clients?clientId=${clientId}`))[0]
  return { realm, path, get, client, bring: (body: object) => call('POST', `${path}/partialImport`, { body }) }
}

const post = async (content: object) => {
  const realm = newName()
  const { status, body } = await call('POST', '/admin/realms', { body: { realm, ...content } })
  return { status, text: JSON.stringify(body), exists: (await call('GET', `/admin/realms/${realm}`)).status === 200 }
}

const holders = {
  clients: [{ clientId: 'shop' }],
  clientScopes: [{ name: 'calendar', protocol: 'openid-connect' }],
  users: [{ username: 'ann', realmRoles: ['a', 'shared'], clientRoles: { shop: ['b'], account: ['own'] } }],
  groups: [{ name: 'g', realmRoles: ['c', 'shared'], subGroups: [{ name: 'h', clientRoles: { shop: ['d'] } }] }],
  scopeMappings: [
    { client: 'shop', roles: ['e', 'shared'] },
    { clientScope: 'calendar', roles: ['f'] },
  ],
  clientScopeMappings: { shop: [{ client: 'shop', roles: ['i'] }] },
}

test('a realm whose users, groups and scope mappings refer to undeclared roles is created with these roles', async () => {
  const { get, client } = await realmOf(holders)
  const names = async (address: string) => (await get(address)).map(({ name }: { name: string }) => name).sort()
  expect(await names('/roles')).toEqual(expect.arrayContaining(['a', 'c', 'e', 'f', 'shared']))
  const { id } = await client('shop')
  expect(await names(`/clients/${id}/roles`)).toEqual(['b', 'd', 'i'])
  const [ann] = await get('/users')
  expect(await names(`/users/${ann.id}/role-mappings/realm`)).toEqual(['a', 'shared'])
  expect(await names(`/clients/${id}/scope-mappings/realm`)).toEqual(['e', 'shared'])
  expect(await names(`/clients/${id}/scope-mappings/clients/${id}`)).toEqual(['i'])
})

test('partialImport creates the missing roles of users and groups; a second one finds them', async () => {
  const { bring, get } = await realmOf({ roles: { realm: [{ name: 'a', description: 'kept' }] } })
  const { users, groups, clients } = holders
  expect(await bring({ clients, users, groups })).toMatchObject({ status: 200, body: { added: 3 } })
  expect((await get('/roles/a')).description).toBe('kept')
  const more = [{ username: 'bob', realmRoles: ['shared', 'more'] }]
  expect(await bring({ users: more })).toMatchObject({ status: 200, body: { added: 1 } })
  expect((await get('/roles/more')).name).toBe('more')
})

test('missing client scopes are ignored in clients and in the defaults of a realm', async () => {
  const clients = [
    { clientId: 'shop', defaultClientScopes: ['nowhere', 'email'], optionalClientScopes: ['nix'] },
    { clientId: 'none', defaultClientScopes: ['nowhere'] },
  ]
  const { bring, client, get } = await realmOf({
    clients,
    defaultDefaultClientScopes: ['nowhere', 'email'],
    defaultOptionalClientScopes: ['nix', 'phone'],
    defaultGroups: ['/nowhere'],
  })
  const scopesOf = ({ defaultClientScopes, optionalClientScopes }: Record<string, string[]>) => [
    defaultClientScopes,
    optionalClientScopes,
  ]
  expect(scopesOf(await client('shop'))).toEqual([['email'], []])
  expect(scopesOf(await client('none'))).toEqual([[], []])
  expect((await get('/default-default-client-scopes')).map(({ name }: { name: string }) => name)).toEqual(['email'])
  expect((await bring({ clients: [{ ...clients[0], clientId: 'other' }] })).status).toBe(200)
  expect(scopesOf(await client('other'))).toEqual([['email'], []])
})

test.each([
  [
    'a role of a client that there is not, of a user',
    { users: [{ username: 'ann', clientRoles: { nowhere: ['x'] } }] },
  ],
  ['a role of a client that there is not, of a group', { groups: [{ name: 'g', clientRoles: { nowhere: ['x'] } }] }],
  ['a scope mapping of a client that there is not', { scopeMappings: [{ client: 'nowhere', roles: ['x'] }] }],
  ['a role that a composite role contains', { roles: { realm: [{ name: 'r', composites: { realm: ['ghost'] } }] } }],
  ['a group of a user', { users: [{ username: 'ann', groups: ['/nowhere'] }] }],
])('%s is refused, and no realm is created', async (_what, content) => {
  const { status, text, exists } = await post(content)
  expect([status, exists]).toEqual([400, false])
  expect(text).toMatch(/nowhere|ghost/)
})

test('the same missing references in a document are an error', async () => {
  const apply = (content: object) => {
    const realm = newName()
    return applySource(service, createSource([{ realm, ...content }], realm))
  }
  const { users, groups, scopeMappings, clients } = holders
  await expect(apply({ clients, users })).rejects.toThrow('user ann: realmRoles refers to role a, which does not exist')
  await expect(apply({ clients, groups })).rejects.toThrow('realmRoles refers to role c, which does not exist')
  await expect(apply({ clients, scopeMappings: scopeMappings.slice(0, 1) })).rejects.toThrow(
    'refers to role e, which does not exist',
  )
  await expect(apply({ clients: [{ clientId: 'a', defaultClientScopes: ['nix'] }] })).rejects.toThrow(
    'client scope nix',
  )
  await expect(apply({ clients: [{ name: 'nameless' }] })).rejects.toThrow()
})

test('a client of a new realm without clientId gets its id as clientId', async () => {
  const id = newName('client')
  const { client, get } = await realmOf({ clients: [{ id, name: 'first' }, { name: 'second' }] })
  expect(await client(id)).toMatchObject({ id, clientId: id, name: 'first' })
  const second = (await get('/clients')).find(({ name }: { name: string }) => name === 'second')
  expect(second.clientId).toBe(second.id)
})

const policy = (type: string, config: object) => ({ name: `By ${type}`, type, config })
const settings = {
  resources: [{ name: 'Safe', owner: { name: 'ghost' } }],
  policies: [
    policy('role', { roles: '[{"id":"ghost","required":true},{"id":"api/ghost"},{"id":"offline_access"}]' }),
    policy('group', { groups: '[{"path":"/ghost"}]' }),
  ],
}

test.each([
  ['without the switch', {}],
  ['of a bearer-only client', { bearerOnly: true, authorizationServicesEnabled: false }],
  ['of a public client', { publicClient: true, authorizationServicesEnabled: true }],
])('authorization settings %s are imported without missing roles, groups and owners', async (_how, flags) => {
  const api = { clientId: 'api', ...flags, authorizationSettings: settings }
  const created = await realmOf({ clients: [api] })
  const imported = await realmOf({})
  expect((await imported.bring({ clients: [api] })).status).toBe(200)
  for (const { client, get } of [created, imported]) {
    const { id, ...clientRepresentation } = await client('api')
    expect(clientRepresentation).toMatchObject({
      authorizationServicesEnabled: true,
      publicClient: false,
      bearerOnly: false,
    })
    const settings = await get(`/clients/${id}/authz/resource-server/settings`)
    expect(JSON.stringify(settings.policies)).toContain('offline_access')
    expect(JSON.stringify(settings)).not.toContain('ghost')
  }
})

test('a realm with a policy for a missing user is not created', async () => {
  const policies = [policy('user', { users: '["nowhere"]' })]
  const { status, exists } = await post({ clients: [{ clientId: 'api', authorizationSettings: { policies } }] })
  expect([status, exists]).toEqual([400, false])
})

test('creating roles by an import requires the permission for roles', async () => {
  const { path, as } = await createAdminRealm({
    manager: 'manage-users view-users',
    realmer: 'manage-realm manage-users view-users',
  })
  const bring = (caller: string, users: object[]) => as(caller, 'POST', 'partialImport', { users })
  const ghost = [{ username: 'ann', realmRoles: ['ghost'] }]
  expect((await bring('manager', ghost)).status).toBe(403)
  expect((await call('GET', `${path}/roles/ghost`)).status).toBe(404)
  expect((await bring('realmer', [{ username: 'mia', clientRoles: { account: ['ghost'] } }])).status).toBe(403)
  expect(
    (await bring('realmer', [{ username: 'mia', clientRoles: { 'realm-management': ['realm-admin'] } }])).status,
  ).toBe(403)
  expect(
    (await bring('realmer', [{ username: 'mia', clientRoles: { 'realm-management': ['manage-everything'] } }])).status,
  ).toBe(403)
  expect((await bring('realmer', ghost)).status).toBe(200)
})

test('an import that creates a role with the name of an admin role is refused for a weaker administrator', async () => {
  const { path, as } = await createAdminRealm({ weak: 'manage-realm manage-users view-users manage-clients' })
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  await call('DELETE', `${path}/clients/${management.id}/roles/manage-events`)
  const users = [{ username: 'eve', clientRoles: { 'realm-management': ['manage-events'] } }]
  expect((await as('weak', 'POST', 'partialImport', { users })).status).toBe(403)
})
