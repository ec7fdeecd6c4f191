// Creating a realm with content is one plan. No source manages the content afterwards.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const server = await testServer()

test('a realm is created with its client scopes, clients, roles and flows, and their ids', async () => {
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

test('invalid content creates no realm', async () => {
  const realm = newName()
  const body = { realm, users: [{ username: 'ann', groups: ['/nowhere'] }] }
  const response = await server.call('POST', '/admin/realms', { body })
  expect(response.status).toBe(400)
  expect(JSON.stringify(response.body)).toContain('group /nowhere')
  expect(await server.call('GET', `/admin/realms/${realm}`)).toMatchObject({ status: 404 })
})

test('content of unsupported kinds is refused, not lost', async () => {
  const response = await server.call('POST', '/admin/realms', {
    body: { realm: newName(), oauthClients: [{ name: 'ann' }] },
  })
  expect(response).toMatchObject({ status: 400, body: { errorMessage: expect.stringContaining('oauthClients') } })
})

test('settings may refer to content of the same request', async () => {
  const realm = newName()
  const body = {
    realm,
    browserFlow: 'ours',
    defaultDefaultClientScopes: ['calendar', 'email'],
    clientScopes: [{ name: 'calendar', protocol: 'openid-connect' }],
    authenticationFlows: [{ alias: 'ours', topLevel: true }],
  }
  expect(await server.call('POST', '/admin/realms', { body })).toMatchObject({ status: 201 })
  expect((await server.call('GET', `/admin/realms/${realm}`)).body).toMatchObject({ browserFlow: 'ours' })
  const scopes = (await server.call('GET', `/admin/realms/${realm}/default-default-client-scopes`)).body as {
    name: string
  }[]
  expect(scopes.map(({ name }) => name).sort()).toEqual(['calendar', 'email'])
  const response = await server.call('POST', '/admin/realms', { body: { realm: newName(), browserFlow: 'nowhere' } })
  expect(response.status).toBe(400)
})

test('a realm that would lock out all administrators is refused', async () => {
  const master = (body: object) => server.call('PUT', '/admin/realms/master', { body })
  expect(await master({ realm: 'other' })).toMatchObject({
    status: 400,
    body: { errorMessage: "Can't rename master realm" },
  })
  expect(await master({ enabled: false })).toMatchObject({ status: 400 })
  expect(await server.call('DELETE', '/admin/realms/master/roles/admin')).toMatchObject({ status: 403 })
  expect(await server.call('PUT', '/admin/realms/master/roles/admin', { body: { name: 'chief' } })).toMatchObject({
    status: 403,
  })
  expect(await server.call('GET', '/admin/realms/master/roles/admin')).toMatchObject({ status: 200 })
})

test('a new realm may declare mappers of identity providers that are created later', async () => {
  const path = await server.realm({
    identityProviderMappers: [
      { name: 'mail', identityProviderAlias: 'later', identityProviderMapper: 'oidc-user-attribute-idp-mapper' },
    ],
  })
  expect((await server.call('GET', `${path}/identity-provider/instances`)).body).toEqual([])
})
