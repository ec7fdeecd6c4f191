// The legacy API, which is the admin API of version 1 under a base path of its own. Keycloak: its clients are ApplicationRepresentation.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { app, call, create, createRealm } = await testServer()

const createLegacyRealm = async () => `/v1/${(await createRealm()).split('/').at(-1)}`
const ALL_CLAIMS = [
  'address',
  'email',
  'gender',
  'locale',
  'name',
  'phone',
  'picture',
  'profile',
  'username',
  'website',
]

/** Returns the claims of a client that are true. */
async function listClaims(client: string): Promise<string[]> {
  const { claims } = (await call('GET', client)).body
  expect(Object.keys(claims).sort()).toEqual(ALL_CLAIMS)
  return Object.keys(claims).filter((claim) => claims[claim] === true)
}

test('the legacy API returns the same responses, with legacy URLs', async () => {
  const realm = await createLegacyRealm()
  const client = await create(`${realm}/clients`, { clientId: 'legacy' })
  expect(client.startsWith(`${realm}/clients/`)).toBe(true)
  expect((await call('GET', client)).body.clientId).toBe('legacy')
  expect((await call('GET', `${realm}/users`)).body).toEqual([])
  expect((await call('GET', `${realm.replace('/v1', '/v1/nowhere')}/users`)).status).toBe(404)
})

test.each(['/v1', '/v1/', '/v1?x=1', '/v1/?x=1'])('GET %s returns the server information', async (address) => {
  const { status, body } = await call('GET', address)
  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual(Object.keys((await call('GET', '/admin/serverinfo')).body))
  expect((await call('GET', address, { token: null })).status).toBe(401)
  expect((await app.inject({ method: 'HEAD', url: address })).statusCode).toBe(401)
})

test('POST to the base path of the legacy API creates a realm', async () => {
  const name = `legacy-${Date.now()}`
  expect(await create('/v1/', { realm: name })).toBe(`/v1/${name}`)
  expect((await call('GET', `/v1/${name}`)).body).toMatchObject({ realm: name })
})

test('oauth2DeviceAuthorizationGrantEnabled of a client is its attribute', async () => {
  const realm = await createLegacyRealm()
  const attribute = 'oauth2.device.authorization.grant.enabled'
  const fields = { oauth2DeviceAuthorizationGrantEnabled: true, attributes: { other: 'x' } }
  const client = await create(`${realm}/clients`, { clientId: 'device', ...fields })
  expect((await call('GET', client)).body).toMatchObject({
    oauth2DeviceAuthorizationGrantEnabled: true,
    attributes: { [attribute]: 'true', other: 'x' },
  })
  expect((await call('PUT', client, { body: { oauth2DeviceAuthorizationGrantEnabled: false } })).status).toBe(204)
  expect((await call('GET', client)).body).toMatchObject({
    oauth2DeviceAuthorizationGrantEnabled: false,
    attributes: { [attribute]: 'false', other: 'x' },
  })
  expect((await call('GET', `${realm}/clients?clientId=device`)).body).toMatchObject([
    { oauth2DeviceAuthorizationGrantEnabled: false },
  ])
})

test('claims of a client are built-in protocol mappers', async () => {
  const realm = await createLegacyRealm()
  const claims = { name: true, username: true, email: false, phone: true }
  const client = await create(`${realm}/clients`, {
    clientId: 'claims',
    claims,
    protocolMappers: [{ name: 'fixed', protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' }],
  })
  expect(await listClaims(client)).toEqual(['name', 'username', 'phone'])
  const listMappers = async () =>
    (await call('GET', client)).body.protocolMappers.map(({ name }: { name: string }) => name).sort()
  const mappers = ['family name', 'fixed', 'full name', 'given name', 'phone number', 'username']
  expect(await listMappers()).toEqual(mappers)
  await call('PUT', client, { body: { claims: { phone: false, address: true, username: true } } })
  expect(await listClaims(client)).toEqual(['name', 'username', 'address'])
  expect(await listMappers()).toEqual(['address', ...mappers].filter((name) => name !== 'phone number'))
})

test.each(ALL_CLAIMS)('a client can have the claim %s', async (claim) => {
  const client = await create(`${await createLegacyRealm()}/clients`, { clientId: 'one', claims: { [claim]: true } })
  expect(await listClaims(client)).toEqual([claim])
})

test('PUT with the response of GET changes no client, and accepts an ETag of the legacy API', async () => {
  const realm = await createLegacyRealm()
  const client = await create(`${realm}/clients`, {
    clientId: 'same',
    directGrantsOnly: true,
    oauth2DeviceAuthorizationGrantEnabled: true,
    claims: { email: true },
  })
  const { body, headers } = await call('GET', client)
  expect(body).toMatchObject({ directGrantsOnly: true, standardFlowEnabled: false, directAccessGrantsEnabled: true })
  expect(body).toMatchObject({ useTemplateConfig: false, useTemplateScope: false, useTemplateMappers: false })
  const ifMatch = { 'if-match': String(headers.etag) }
  expect((await call('PUT', client, { body, headers: ifMatch })).status).toBe(204)
  expect((await call('GET', client)).body).toEqual(body)
  await call('PUT', client, { body: { description: 'changed', claims: null } })
  expect((await call('DELETE', client, { headers: ifMatch })).status).toBe(412)
  expect((await call('GET', client)).body).toEqual({ ...body, description: 'changed' })
})

test('the fields of the legacy API are unknown to the current API', async () => {
  const realm = await createRealm()
  for (const field of [{ claims: { name: true } }, { oauth2DeviceAuthorizationGrantEnabled: true }]) {
    const { status, body } = await call('POST', `${realm}/clients`, { body: { clientId: 'x', ...field } })
    expect([status, body.error]).toEqual([
      400,
      expect.stringContaining(`Unrecognized field "${Object.keys(field)[0]}"`),
    ])
  }
  const client = await create(`${realm}/clients`, { clientId: 'x' })
  const { body } = await call('GET', client)
  for (const field of ['claims', 'oauth2DeviceAuthorizationGrantEnabled', 'useTemplateConfig'])
    expect(body).not.toHaveProperty(field)
})

test('the legacy API refuses unknown fields and claims', async () => {
  const realm = await createLegacyRealm()
  for (const field of [
    { colour: 'red' },
    { claims: { name: 'yes' } },
    { oauth2DeviceAuthorizationGrantEnabled: 'yes' },
  ])
    expect((await call('POST', `${realm}/clients`, { body: { clientId: 'x', ...field } })).status).toBe(400)
})
