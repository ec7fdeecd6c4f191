// Missing references in an import over REST. As in Keycloak, missing roles are created, and missing client scopes are ignored.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call, create } = await testServer()
const { service } = await testService()

/** Creates a realm with the content. */
async function importRealm(content: object) {
  const realm = newName()
  await create('/admin/realms', { realm, enabled: true, ...content })
  const path = `/admin/realms/${realm}`
  const get = async (address: string) => (await call('GET', `${path}${address}`)).body
  const getClient = async (clientId: string) => (await get(`/clients?clientId=${clientId}`))[0]
  const importPartially = (body: object) => call('POST', `${path}/partialImport`, { body })
  return { get, getClient, importPartially }
}

/** Requests a new realm with the content, and returns the response and whether the realm exists. */
const postRealm = async (content: object) => {
  const realm = newName()
  const { status, body } = await call('POST', '/admin/realms', { body: { realm, ...content } })
  return { status, text: JSON.stringify(body), exists: (await call('GET', `/admin/realms/${realm}`)).status === 200 }
}

const content = {
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
  const { get, getClient } = await importRealm(content)
  const listNames = async (address: string) => (await get(address)).map(({ name }: { name: string }) => name).sort()
  expect(await listNames('/roles')).toEqual(expect.arrayContaining(['a', 'c', 'e', 'f', 'shared']))
  const { id } = await getClient('shop')
  expect(await listNames(`/clients/${id}/roles`)).toEqual(['b', 'd', 'i'])
  const [ann] = await get('/users')
  expect(await listNames(`/users/${ann.id}/role-mappings/realm`)).toEqual(['a', 'shared'])
  expect(await listNames(`/clients/${id}/scope-mappings/realm`)).toEqual(['e', 'shared'])
  expect(await listNames(`/clients/${id}/scope-mappings/clients/${id}`)).toEqual(['i'])
})

test('partialImport creates the missing roles of users and groups, and does not change existing ones', async () => {
  const { importPartially, get } = await importRealm({ roles: { realm: [{ name: 'a', description: 'existing' }] } })
  const { users, groups, clients } = content
  expect(await importPartially({ clients, users, groups })).toMatchObject({ status: 200, body: { added: 3 } })
  expect((await get('/roles/a')).description).toBe('existing')
  const bob = [{ username: 'bob', realmRoles: ['shared', 'new'] }]
  expect(await importPartially({ users: bob })).toMatchObject({ status: 200, body: { added: 1 } })
  expect((await get('/roles/new')).name).toBe('new')
})

test('missing client scopes of clients and missing default client scopes of a realm are ignored', async () => {
  const clients = [
    { clientId: 'shop', defaultClientScopes: ['nowhere', 'email'], optionalClientScopes: ['missing'] },
    { clientId: 'none', defaultClientScopes: ['nowhere'] },
  ]
  const { importPartially, getClient, get } = await importRealm({
    clients,
    defaultDefaultClientScopes: ['nowhere', 'email'],
    defaultOptionalClientScopes: ['missing', 'phone'],
    defaultGroups: ['/nowhere'],
  })
  const getScopes = ({ defaultClientScopes, optionalClientScopes }: Record<string, string[]>) => [
    defaultClientScopes,
    optionalClientScopes,
  ]
  expect(getScopes(await getClient('shop'))).toEqual([['email'], []])
  expect(getScopes(await getClient('none'))).toEqual([[], []])
  expect((await get('/default-default-client-scopes')).map(({ name }: { name: string }) => name)).toEqual(['email'])
  expect((await importPartially({ clients: [{ ...clients[0], clientId: 'other' }] })).status).toBe(200)
  expect(getScopes(await getClient('other'))).toEqual([['email'], []])
})

test.each([
  ['a missing client in the client roles of a user', { users: [{ username: 'ann', clientRoles: { nowhere: ['x'] } }] }],
  ['a missing client in the client roles of a group', { groups: [{ name: 'g', clientRoles: { nowhere: ['x'] } }] }],
  ['a missing client in a scope mapping', { scopeMappings: [{ client: 'nowhere', roles: ['x'] }] }],
  ['a missing role in a composite role', { roles: { realm: [{ name: 'r', composites: { realm: ['ghost'] } }] } }],
  ['a missing group of a user', { users: [{ username: 'ann', groups: ['/nowhere'] }] }],
])('a new realm with %s returns 400, and is not created', async (_, content) => {
  const { status, text, exists } = await postRealm(content)
  expect([status, exists]).toEqual([400, false])
  expect(text).toMatch(/nowhere|ghost/)
})

test('missing roles and client scopes in a document are errors', async () => {
  const apply = (content: object) => {
    const realm = newName()
    return applySource(service, createSource([{ realm, ...content }], realm))
  }
  const { users, groups, scopeMappings, clients } = content
  await expect(apply({ clients, users })).rejects.toThrow('user ann: realmRoles refers to role a, which does not exist')
  await expect(apply({ clients, groups })).rejects.toThrow('realmRoles refers to role c, which does not exist')
  await expect(apply({ clients, scopeMappings: scopeMappings.slice(0, 1) })).rejects.toThrow(
    'refers to role e, which does not exist',
  )
  await expect(apply({ clients: [{ clientId: 'a', defaultClientScopes: ['missing'] }] })).rejects.toThrow(
    'client scope missing',
  )
  await expect(apply({ clients: [{ name: 'without client id' }] })).rejects.toThrow()
})

test('a client without clientId in a new realm gets its id as clientId', async () => {
  const id = newName('client')
  const { getClient, get } = await importRealm({ clients: [{ id, name: 'first' }, { name: 'second' }] })
  expect(await getClient(id)).toMatchObject({ id, clientId: id, name: 'first' })
  const second = (await get('/clients')).find(({ name }: { name: string }) => name === 'second')
  expect(second.clientId).toBe(second.id)
})

const toPolicy = (type: string, config: object) => ({ name: `By ${type}`, type, config })
const settings = {
  resources: [{ name: 'Safe', owner: { name: 'ghost' } }],
  policies: [
    toPolicy('role', { roles: '[{"id":"ghost","required":true},{"id":"api/ghost"},{"id":"offline_access"}]' }),
    toPolicy('group', { groups: '[{"path":"/ghost"}]' }),
  ],
}

test.each([
  ['of a client without authorizationServicesEnabled', {}],
  ['of a bearer-only client', { bearerOnly: true, authorizationServicesEnabled: false }],
  ['of a public client', { publicClient: true, authorizationServicesEnabled: true }],
])('authorization settings %s are imported without missing roles, groups and owners', async (_, flags) => {
  const api = { clientId: 'api', ...flags, authorizationSettings: settings }
  const importedRealm = await importRealm({ clients: [api] })
  const emptyRealm = await importRealm({})
  expect((await emptyRealm.importPartially({ clients: [api] })).status).toBe(200)
  for (const { getClient, get } of [importedRealm, emptyRealm]) {
    const { id, ...clientRepresentation } = await getClient('api')
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
  const policies = [toPolicy('user', { users: '["nowhere"]' })]
  const { status, exists } = await postRealm({ clients: [{ clientId: 'api', authorizationSettings: { policies } }] })
  expect([status, exists]).toEqual([400, false])
})

test('a partial import that creates a role requires the permission to create it', async () => {
  const { path, as } = await createAdminRealm({
    manager: 'manage-users view-users',
    realmManager: 'manage-realm manage-users view-users',
  })
  const importPartially = (caller: string, users: object[]) => as(caller, 'POST', 'partialImport', { users })
  const annWithGhost = [{ username: 'ann', realmRoles: ['ghost'] }]
  expect((await importPartially('manager', annWithGhost)).status).toBe(403)
  expect((await call('GET', `${path}/roles/ghost`)).status).toBe(404)
  expect(
    (await importPartially('realmManager', [{ username: 'mia', clientRoles: { account: ['ghost'] } }])).status,
  ).toBe(403)
  expect(
    (await importPartially('realmManager', [{ username: 'mia', clientRoles: { 'realm-management': ['realm-admin'] } }]))
      .status,
  ).toBe(403)
  expect(
    (
      await importPartially('realmManager', [
        { username: 'mia', clientRoles: { 'realm-management': ['manage-everything'] } },
      ])
    ).status,
  ).toBe(403)
  expect((await importPartially('realmManager', annWithGhost)).status).toBe(200)
})

test('a partial import that creates a role with the name of an admin role returns 403 for a caller without that role', async () => {
  const { path, as } = await createAdminRealm({ weak: 'manage-realm manage-users view-users manage-clients' })
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  await call('DELETE', `${path}/clients/${management.id}/roles/manage-events`)
  const users = [{ username: 'eve', clientRoles: { 'realm-management': ['manage-events'] } }]
  expect((await as('weak', 'POST', 'partialImport', { users })).status).toBe(403)
})
