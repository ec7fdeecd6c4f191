// A new realm can be created with its content, which no source manages.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const server = await testServer()

test('a realm is created with its client scopes, clients and roles, which have the declared ids and no drift', async () => {
  const realm = newName()
  const id = newName('client')
  const body = {
    realm,
    enabled: true,
    browserFlow: 'browser',
    clientScopes: [{ name: 'calendar', protocol: 'openid-connect' }],
    clients: [{ id, clientId: 'web', defaultClientScopes: ['calendar'] }],
    roles: {
      realm: [{ name: 'staff', composites: { client: { web: ['buyer'] } } }],
      client: { web: [{ name: 'buyer' }] },
    },
  }
  expect(await server.call('POST', '/admin/realms', { body })).toMatchObject({ status: 201 })
  const client = await server.call('GET', `/admin/realms/${realm}/clients/${id}`)
  expect(client.body).toMatchObject({ clientId: 'web', defaultClientScopes: ['calendar'] })
  expect((await server.call('GET', `/admin/realms/${realm}/roles/staff`)).body).toMatchObject({ composite: true })
  expect((await server.call('GET', `/regent/v1/drift?realm=${realm}`)).body).toEqual([])
})

test('a new realm with a missing reference returns 400, and is not created', async () => {
  const realm = newName()
  const body = { realm, users: [{ username: 'ann', groups: ['/nowhere'] }] }
  const response = await server.call('POST', '/admin/realms', { body })
  expect(response.status).toBe(400)
  expect(JSON.stringify(response.body)).toContain('group /nowhere')
  expect(await server.call('GET', `/admin/realms/${realm}`)).toMatchObject({ status: 404 })
})

test('a new realm with content of an unsupported kind returns 400', async () => {
  const response = await server.call('POST', '/admin/realms', {
    body: { realm: newName(), socialProviders: { github: 'secret' } },
  })
  expect(response).toMatchObject({ status: 400, body: { errorMessage: expect.stringContaining('socialProviders') } })
})

test('settings of a new realm can refer to its content, and return 400 with a missing flow', async () => {
  const realm = newName()
  const body = {
    realm,
    browserFlow: 'custom',
    defaultDefaultClientScopes: ['calendar', 'email'],
    clientScopes: [{ name: 'calendar', protocol: 'openid-connect' }],
    authenticationFlows: [{ alias: 'custom', topLevel: true }],
  }
  expect(await server.call('POST', '/admin/realms', { body })).toMatchObject({ status: 201 })
  expect((await server.call('GET', `/admin/realms/${realm}`)).body).toMatchObject({ browserFlow: 'custom' })
  const scopes = (await server.call('GET', `/admin/realms/${realm}/default-default-client-scopes`)).body as {
    name: string
  }[]
  expect(scopes.map(({ name }) => name).sort()).toEqual(['calendar', 'email'])
  const response = await server.call('POST', '/admin/realms', { body: { realm: newName(), browserFlow: 'nowhere' } })
  expect(response.status).toBe(400)
})

test('renaming or disabling master returns 400, and deleting or renaming its role admin returns 403', async () => {
  const updateMaster = (body: object) => server.call('PUT', '/admin/realms/master', { body })
  expect(await updateMaster({ realm: 'other' })).toMatchObject({
    status: 400,
    body: { errorMessage: "Can't rename master realm" },
  })
  expect(await updateMaster({ enabled: false })).toMatchObject({ status: 400 })
  expect(await server.call('DELETE', '/admin/realms/master/roles/admin')).toMatchObject({ status: 403 })
  expect(await server.call('PUT', '/admin/realms/master/roles/admin', { body: { name: 'renamed' } })).toMatchObject({
    status: 403,
  })
  expect(await server.call('GET', '/admin/realms/master/roles/admin')).toMatchObject({ status: 200 })
})

test('a new realm is created without declared mappers of missing identity providers', async () => {
  const path = await server.createRealm({
    identityProviderMappers: [
      { name: 'mail', identityProviderAlias: 'later', identityProviderMapper: 'oidc-user-attribute-idp-mapper' },
    ],
  })
  expect((await server.call('GET', `${path}/identity-provider/instances`)).body).toEqual([])
})

test.each([
  ['defaultDefaultClientScopes', 'phone', 'default-optional-client-scopes'],
  ['defaultOptionalClientScopes', 'email', 'default-default-client-scopes'],
])('a new realm that declares only %s has its scopes in no other list', async (field, scope, otherList) => {
  const path = await server.createRealm({ [field]: [scope] })
  const list = async (name: string) =>
    (await server.call('GET', `${path}/${name}`)).body.map((container: { name: string }) => container.name)
  const declaredList = otherList.includes('optional')
    ? 'default-default-client-scopes'
    : 'default-optional-client-scopes'
  expect(await list(declaredList)).toContain(scope)
  expect(await list(otherList)).not.toContain(scope)
})
