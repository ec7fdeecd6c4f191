// The partial import creates all objects of a request or none. No source manages them afterwards.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const server = await testServer()

/** Creates a realm with the content. */
async function createRealmWith(content: object) {
  const realm = newName()
  await server.create('/admin/realms', { realm, enabled: true, ...content })
  const realmPath = `/admin/realms/${realm}`
  return {
    get: async (path: string) => (await server.call('GET', `${realmPath}${path}`)).body,
    post: (path: string, body: object) => server.call('POST', `${realmPath}${path}`, { body }),
    put: (path: string, body: object) => server.call('PUT', `${realmPath}${path}`, { body }),
    importPartially: (body: object) => server.call('POST', `${realmPath}/partialImport`, { body }),
  }
}

test('an overwritten group has its new subgroups, and loses its members', async () => {
  const realm = await createRealmWith({ groups: [{ name: 'staff' }], users: [{ username: 'ann', groups: ['/staff'] }] })
  const response = await realm.importPartially({
    ifResourceExists: 'OVERWRITE',
    groups: [{ name: 'staff', subGroups: [{ name: 'young' }] }],
  })
  expect(response).toMatchObject({ status: 200, body: { overwritten: 1, added: 0 } })
  const [ann] = await realm.get('/users')
  expect(await realm.get(`/users/${ann.id}/groups`)).toEqual([])
  expect(await realm.get('/groups')).toMatchObject([{ id: response.body.results[0].id, subGroupCount: 1 }])
})

test('the results have the ids with which overwritten objects can be read', async () => {
  const content = {
    clients: [{ clientId: 'shop' }],
    users: [{ username: 'ann' }],
    roles: { realm: [{ name: 'staff' }] },
  }
  const realm = await createRealmWith(content)
  const { body } = await realm.importPartially({ ifResourceExists: 'OVERWRITE', ...content })
  const ids = Object.fromEntries(
    body.results.map((result: { resourceType: string; id: string }) => [result.resourceType, result.id]),
  )
  expect(body.overwritten).toBe(3)
  expect(await realm.get(`/clients/${ids.CLIENT}`)).toMatchObject({ clientId: 'shop' })
  expect(await realm.get(`/users/${ids.USER}`)).toMatchObject({ username: 'ann' })
  expect(await realm.get(`/roles-by-id/${ids.REALM_ROLE}`)).toMatchObject({ name: 'staff' })
})

test('OVERWRITE updates the default role instead of replacing it, and users still have it', async () => {
  const realm = await createRealmWith({})
  await realm.post('/users', { username: 'ann' })
  const [defaultRole] = await realm.get('/roles?search=default-roles')
  const roles = { realm: [{ name: defaultRole.name, description: 'the default role' }] }
  expect((await realm.importPartially({ ifResourceExists: 'OVERWRITE', roles })).status).toBe(200)
  expect(await realm.get(`/roles/${defaultRole.name}`)).toMatchObject({
    id: defaultRole.id,
    description: 'the default role',
  })
  const [ann] = await realm.get('/users')
  expect(await realm.get(`/users/${ann.id}/role-mappings/realm`)).toMatchObject([{ id: defaultRole.id }])
})

test('ids in the request are ignored, so that an exported object can be imported under another name', async () => {
  const mapper = { name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-attribute-mapper' }
  const realm = await createRealmWith({ clients: [{ clientId: 'shop', protocolMappers: [mapper] }] })
  const [shop] = await realm.get('/clients?clientId=shop')
  expect((await realm.importPartially({ clients: [{ ...shop, access: undefined, clientId: 'shop-2' }] })).status).toBe(
    200,
  )
  const [copy] = await realm.get('/clients?clientId=shop-2')
  expect(copy.protocolMappers).toMatchObject([mapper])
  expect(copy.protocolMappers[0].id).not.toBe(shop.protocolMappers[0].id)
})

test('a request with a missing reference changes nothing, and the message names it', async () => {
  const realm = await createRealmWith({})
  const response = await realm.importPartially({
    users: [{ username: 'ann', groups: ['/nowhere'] }],
    groups: [{ name: 'staff' }],
  })
  expect(response.status).toBe(400)
  expect(JSON.stringify(response.body)).toContain('/nowhere')
  expect(await realm.get('/groups')).toEqual([])
})

test('imported passwords must fulfil the password policy', async () => {
  const realm = await createRealmWith({ passwordPolicy: 'length(12)' })
  const users = [{ username: 'ann', credentials: [{ type: 'password', value: 'short' }] }]
  expect((await realm.importPartially({ users })).status).toBe(400)
  expect(await realm.get('/users')).toEqual([])
})

test('each imported object creates an admin event', async () => {
  const realm = await createRealmWith({ adminEventsEnabled: true, roles: { realm: [{ name: 'staff' }] } })
  await realm.importPartially({
    ifResourceExists: 'OVERWRITE',
    roles: { realm: [{ name: 'staff' }] },
    clients: [{ clientId: 'shop' }],
  })
  const events: { operationType: string; resourceType: string; resourcePath: string }[] =
    await realm.get('/admin-events')
  expect(events.map(({ operationType, resourcePath }) => [operationType, resourcePath.split('/')[0]]).sort()).toEqual([
    ['CREATE', 'clients'],
    ['UPDATE', 'realms'],
  ])
})

test('each part of a request requires the permission of its own operation, and a refused request returns no results', async () => {
  const adminRealm = await createAdminRealm({
    manager: 'manage-realm',
    users: 'manage-realm manage-users',
    clients: 'manage-realm manage-clients',
    providers: 'manage-realm manage-identity-providers',
  })
  const { as, users: userIds } = adminRealm
  await as('admin', 'POST', 'users', { username: 'ann' })
  await as('admin', 'POST', 'clients', { clientId: 'shop' })
  await as('admin', 'POST', 'identity-provider/instances', { alias: 'corp', providerId: 'github' })
  const [shop] = (await as('admin', 'GET', 'clients?clientId=shop')).body
  await as('admin', 'POST', `clients/${shop.id}/roles`, { name: 'buyer' })
  const parts: [content: object, permitted: string][] = [
    [{ users: [{ username: 'ann', enabled: true }] }, 'users'],
    [{ users: [{ username: 'new-user' }] }, 'users'],
    [{ groups: [{ name: 'staff' }] }, 'users'],
    [{ clients: [{ clientId: 'shop' }] }, 'clients'],
    [{ roles: { client: { shop: [{ name: 'buyer' }] } } }, 'clients'],
    [{ identityProviders: [{ alias: 'corp', providerId: 'github' }] }, 'providers'],
    [
      {
        identityProviderMappers: [
          { name: 'm', identityProviderAlias: 'corp', identityProviderMapper: 'github-user-attribute-mapper' },
        ],
      },
      'providers',
    ],
  ]
  for (const [content, permitted] of parts) {
    for (const ifResourceExists of ['FAIL', 'SKIP', 'OVERWRITE']) {
      const refusal = await as('manager', 'POST', 'partialImport', { ifResourceExists, ...content })
      expect([refusal.status, refusal.body.results]).toEqual([403, undefined])
    }
    const response = await as(permitted, 'POST', 'partialImport', { ifResourceExists: 'OVERWRITE', ...content })
    expect([permitted, content, response.status]).toEqual([permitted, content, 200])
  }
  const role = { ifResourceExists: 'SKIP', roles: { realm: [{ name: 'buyer' }] } }
  expect((await as('manager', 'POST', 'partialImport', role)).status).toBe(200)

  // OVERWRITE would replace the credentials of a user with more admin permissions.
  const users = [{ username: 'ADMIN', enabled: true, credentials: [{ type: 'password', value: 'evil' }] }]
  await adminRealm.expectForbidden('users', 'POST', 'partialImport', { ifResourceExists: 'OVERWRITE', users })
  expect((await as('admin', 'GET', 'users?username=admin&exact=true')).body[0].id).toBe(userIds.admin)
})
