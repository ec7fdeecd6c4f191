// Clients in the API of version 2: permissions, secrets, and what a representation without most settings does to a client.
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()
const MERGE = { 'content-type': 'application/merge-patch+json' }

/** Creates a realm with a confidential client, and returns its paths in both versions of the API. */
async function createShop(settings: object = {}) {
  const v1 = await createRealm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const name = v1.split('/').at(-1)!
  const v2 = `/admin/api/${name}/clients/v2`
  const client = await create(`${v1}/clients`, { clientId: 'shop', standardFlowEnabled: false, ...settings })
  return { v1, v2, name, client }
}

test('only callers who may change a client see its secret, and a patch by others does not remove it', async () => {
  const { v2, name, client } = await createShop({ secret: 'secret of shop' })
  const viewer = await createAdminToken(name, { clientRoles: { 'realm-management': ['view-clients'] } })
  expect((await call('GET', `${v2}/shop`)).body.auth).toEqual({ method: 'client-secret', secret: 'secret of shop' })
  expect((await call('GET', `${v2}/shop`, { token: viewer })).body.auth).toEqual({ method: 'client-secret' })
  const [listed] = (await call('GET', `${v2}?q=clientId eq "shop"`, { token: viewer })).body
  expect(listed.auth).toEqual({ method: 'client-secret' })
  await call('PATCH', `${v2}/shop`, { body: { auth: { method: 'client-secret' } }, headers: MERGE })
  expect((await call('GET', client)).body.secret).toBe('secret of shop')
})

test('callers without permissions get 403 whether or not a client exists', async () => {
  const { v2, name } = await createShop()
  const token = await createAdminToken(name, { clientRoles: { 'realm-management': ['view-users'] } })
  const statuses = await Promise.all(
    ['shop', 'nowhere'].flatMap((id) => [
      call('GET', `${v2}/${id}`, { token }),
      call('PATCH', `${v2}/${id}`, { token, body: {}, headers: MERGE }),
      call('PUT', `${v2}/${id}`, { token, body: { clientId: id, protocol: 'saml' } }),
      call('DELETE', `${v2}/${id}`, { token }),
    ]),
  )
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([403]))
  expect((await call('POST', v2, { token, body: { clientId: 'x', protocol: 'saml' } })).status).toBe(403)
  expect((await call('GET', v2, { token })).body).toEqual([])
})

test('a service account gets roles only from callers who may map them', async () => {
  const { v2, name } = await createShop()
  const token = await createAdminToken(name, {
    clientRoles: { 'realm-management': ['manage-clients', 'view-clients'] },
  })
  const job = {
    clientId: 'job',
    protocol: 'openid-connect',
    auth: { method: 'client-secret' },
    loginFlows: ['SERVICE_ACCOUNT'],
  }
  const withRoles = { ...job, serviceAccountRoles: ['offline_access'] }
  expect((await call('POST', v2, { token, body: withRoles })).status).toBe(403)
  expect((await call('POST', v2, { token, body: job })).status).toBe(201)
  expect((await call('PUT', `${v2}/job`, { token, body: withRoles })).status).toBe(403)
  expect((await call('PUT', `${v2}/job`, { body: withRoles })).body.serviceAccountRoles).toEqual(['offline_access'])
  expect((await call('PUT', `${v2}/job`, { token, body: job })).status).toBe(403)
})

test('PUT keeps the settings that version 2 does not have', async () => {
  const settings = {
    consentRequired: true,
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
    attributes: { 'access.token.lifespan': '60' },
    protocolMappers: [{ name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config: {} }],
    type: 'oidc',
  }
  const { v2, client } = await createShop(settings)
  const body = {
    clientId: 'shop',
    protocol: 'openid-connect',
    auth: { method: 'client-secret' },
    loginFlows: ['SERVICE_ACCOUNT'],
  }
  expect((await call('PUT', `${v2}/shop`, { body })).status).toBe(200)
  const live = (await call('GET', client)).body
  expect(live).toMatchObject({ ...settings, protocolMappers: [{ name: 'm' }] })
})

test('a certificate for signed assertions is the attribute of version 1', async () => {
  const { v1, v2 } = await createShop()
  const auth = { method: 'client-jwt', certificate: 'MIIB' }
  const { body } = await call('POST', v2, { body: { clientId: 'signer', protocol: 'openid-connect', auth } })
  expect(body.auth).toMatchObject(auth)
  expect((await call('GET', `${v1}/clients/${body.uuid}`)).body.attributes).toMatchObject({
    'jwt.credential.certificate': 'MIIB',
  })
})

test('admin events name the client, its roles and the mappings of its service account', async () => {
  const { v1, v2 } = await createShop()
  const auth = { method: 'client-secret', secret: 'secret of job' }
  const job = { clientId: 'job', protocol: 'openid-connect', auth, loginFlows: ['SERVICE_ACCOUNT'], roles: ['a'] }
  const { uuid } = (await call('PUT', `${v2}/job`, { body: { ...job, serviceAccountRoles: ['a'] } })).body
  await call('PATCH', `${v2}/job`, { body: { roles: ['b'], serviceAccountRoles: [] }, headers: MERGE })
  await call('DELETE', `${v2}/job`)
  const events = (await call('GET', `${v1}/admin-events`)).body as Record<string, string>[]
  const described = events.map(
    ({ operationType, resourceType, resourcePath }) =>
      `${operationType} ${resourceType} ${resourcePath!.replace(/users\/[^/]+/, 'users/…')}`,
  )
  expect(described).toEqual(
    expect.arrayContaining([
      `CREATE CLIENT clients/${uuid}`,
      `CREATE CLIENT_ROLE clients/${uuid}/roles/a`,
      `CREATE CLIENT_ROLE_MAPPING users/…/role-mappings/clients/${uuid}`,
      `UPDATE CLIENT clients/${uuid}`,
      `DELETE CLIENT_ROLE clients/${uuid}/roles/a`,
      `CREATE CLIENT_ROLE clients/${uuid}/roles/b`,
      `DELETE CLIENT clients/${uuid}`,
    ]),
  )
  expect(JSON.stringify(events)).not.toContain('secret of job')
})

test('a list has a page of the clients that match the filter, in the order', async () => {
  const { v2 } = await createShop()
  for (const clientId of ['c', 'a', 'b']) await call('POST', v2, { body: { clientId, protocol: 'saml' } })
  const query = `q=${encodeURIComponent('protocol eq "saml"')}&sort=${encodeURIComponent('clientId|desc')}&fields=clientId`
  expect((await call('GET', `${v2}?${query}&limit=2`)).body).toEqual([{ clientId: 'c' }, { clientId: 'b' }])
  expect((await call('GET', `${v2}?${query}&offset=2`)).body).toEqual([{ clientId: 'a' }])
})

test('texts of a filter may contain quotes, backslashes and line breaks', async () => {
  const { v2 } = await createShop()
  await call('POST', v2, { body: { clientId: 'a', protocol: 'saml', description: 'say "x\\y"\nagain' } })
  const q = 'description eq "say \\"x\\\\y\\"\nagain"'
  const { body } = await call('GET', `${v2}?fields=clientId&q=${encodeURIComponent(q)}`)
  expect(body).toEqual([{ clientId: 'a' }])
})

test.each([
  ['more than 2000 characters', `clientId eq "${'x'.repeat(2000)}"`, 'The filter has more than 2000 characters.'],
  ['deeply nested parentheses', `${'('.repeat(30)}clientId pr${')'.repeat(30)}`, 'The filter has more than 20 nested'],
  ['an open parenthesis', '(clientId pr', 'Invalid filter syntax: position 12: the filter ends too early'],
  ['an open text', 'clientId eq "x', 'Invalid filter syntax: position 12'],
  ['two comparisons', 'clientId pr enabled pr', 'Invalid filter syntax: position 12: "enabled" is not expected'],
])('a filter with %s is refused', async (_, q, message) => {
  const { v2 } = await createShop()
  const { status, body } = await call('GET', `${v2}?q=${encodeURIComponent(q)}`)
  expect(status).toBe(400)
  expect(body.error).toContain(message)
})
