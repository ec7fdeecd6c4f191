// Objects that come into a realm in one call: all of them or none, and nobody owns them afterwards.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/realm-with-boss.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const server = await testServer()

async function realmWith(content: object) {
  const realm = newName()
  await server.make('/admin/realms', { realm, enabled: true, ...content })
  const at = `/admin/realms/${realm}`
  return {
    get: async (path: string) => (await server.call('GET', `${at}${path}`)).body,
    post: (path: string, body: object) => server.call('POST', `${at}${path}`, { body }),
    put: (path: string, body: object) => server.call('PUT', `${at}${path}`, { body }),
    bring: (body: object) => server.call('POST', `${at}/partialImport`, { body }),
  }
}

test('what is overwritten is another object, which nothing hangs on any more', async () => {
  const realm = await realmWith({ groups: [{ name: 'people' }], users: [{ username: 'ann', groups: ['/people'] }] })
  const answer = await realm.bring({
    ifResourceExists: 'OVERWRITE',
    groups: [{ name: 'people', subGroups: [{ name: 'young' }] }],
  })
  expect(answer).toMatchObject({ status: 200, body: { overwritten: 1, added: 0 } })
  const [ann] = await realm.get('/users')
  expect(await realm.get(`/users/${ann.id}/groups`)).toEqual([])
  expect(await realm.get('/groups')).toMatchObject([{ id: answer.body.results[0].id, subGroupCount: 1 }])
})

test('the role that everybody has is overwritten in place, and everybody keeps it', async () => {
  const realm = await realmWith({})
  await realm.post('/users', { username: 'ann' })
  const [usual] = await realm.get('/roles?search=default-roles')
  const roles = { realm: [{ name: usual.name, description: 'of everybody' }] }
  expect((await realm.bring({ ifResourceExists: 'OVERWRITE', roles })).status).toBe(200)
  expect(await realm.get(`/roles/${usual.name}`)).toMatchObject({ id: usual.id, description: 'of everybody' })
  const [ann] = await realm.get('/users')
  expect(await realm.get(`/users/${ann.id}/role-mappings/realm`)).toMatchObject([{ id: usual.id }])
})

test('ids in what comes are not taken over: it may be the export of an object that is there', async () => {
  const mapper = { name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-attribute-mapper' }
  const realm = await realmWith({ clients: [{ clientId: 'shop', protocolMappers: [mapper] }] })
  const [shop] = await realm.get('/clients?clientId=shop')
  expect((await realm.bring({ clients: [{ ...shop, access: undefined, clientId: 'shop-2' }] })).status).toBe(200)
  const [copy] = await realm.get('/clients?clientId=shop-2')
  expect(copy.protocolMappers).toMatchObject([mapper])
  expect(copy.protocolMappers[0].id).not.toBe(shop.protocolMappers[0].id)
})

test('what names something that is not there changes nothing, and the answer says what', async () => {
  const realm = await realmWith({})
  const answer = await realm.bring({ users: [{ username: 'ann', groups: ['/nowhere'] }], groups: [{ name: 'people' }] })
  expect(answer.status).toBe(400)
  expect(JSON.stringify(answer.body)).toContain('/nowhere')
  expect(await realm.get('/groups')).toEqual([])
})

test('passwords that come are held to the policy of the realm', async () => {
  const realm = await realmWith({ passwordPolicy: 'length(12)' })
  const users = [{ username: 'ann', credentials: [{ type: 'password', value: 'short' }] }]
  expect((await realm.bring({ users })).status).toBe(400)
  expect(await realm.get('/users')).toEqual([])
})

test('each object that comes is an admin event', async () => {
  const realm = await realmWith({ adminEventsEnabled: true, roles: { realm: [{ name: 'staff' }] } })
  await realm.bring({
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

test('each part demands what its own operation does, before anything of the realm is told or deleted', async () => {
  const own = await createAdminRealm({
    manager: 'manage-realm',
    users: 'manage-realm manage-users',
    clients: 'manage-realm manage-clients',
    providers: 'manage-realm manage-identity-providers',
  })
  const { as, users: people } = own
  await as('boss', 'POST', 'users', { username: 'ann' })
  await as('boss', 'POST', 'clients', { clientId: 'shop' })
  await as('boss', 'POST', 'identity-provider/instances', { alias: 'corp', providerId: 'github' })
  const [shop] = (await as('boss', 'GET', 'clients?clientId=shop')).body
  await as('boss', 'POST', `clients/${shop.id}/roles`, { name: 'buyer' })
  const parts: [object, permitted: string][] = [
    [{ users: [{ username: 'ann', enabled: true }] }, 'users'],
    [{ users: [{ username: 'nobody-yet' }] }, 'users'],
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
      const answer = await as('manager', 'POST', 'partialImport', { ifResourceExists, ...content })
      expect([answer.status, answer.body.results]).toEqual([403, undefined])
    }
    const answer = await as(permitted, 'POST', 'partialImport', { ifResourceExists: 'OVERWRITE', ...content })
    expect([permitted, content, answer.status]).toEqual([permitted, content, 200])
  }
  const role = { ifResourceExists: 'SKIP', roles: { realm: [{ name: 'buyer' }] } }
  expect((await as('manager', 'POST', 'partialImport', role)).status).toBe(200)

  // Nobody replaces who is stronger.
  const users = [{ username: 'BOSS', enabled: true, credentials: [{ type: 'password', value: 'evil' }] }]
  await own.expectForbidden('users', 'POST', 'partialImport', { ifResourceExists: 'OVERWRITE', users })
  expect((await as('boss', 'GET', 'users?username=boss&exact=true')).body[0].id).toBe(people.boss)
})
