// Admin roles and the clients that hold them cannot be changed over REST by any administrator. As in Keycloak.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'

const { adminToken, call } = await testServer()
const MAPPER = { name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-sub-mapper', config: {} }

/** Returns requests that would change a client that holds admin roles, or one of its roles. */
async function attempts(realm: string, clientId: string, role: string) {
  const path = `/admin/realms/${realm}`
  const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
  const at = `clients/${client.id}`
  const adminRole = (await call('GET', `${path}/${at}/roles/${role}`)).body
  const part = (await call('GET', `${path}/roles/offline_access`)).body
  const scopes = (await call('GET', `${path}/client-scopes`)).body as { id: string; name: string }[]
  const phone = scopes.find(({ name }) => name === 'phone')!.id
  const all: [string, string, unknown?][] = [
    ['POST', `${at}/roles`, { name: 'another' }],
    ['PUT', `${at}/roles/${role}`, { ...adminRole, description: 'x' }],
    ['PUT', `${at}/roles/${role}`, { ...adminRole, name: 'renamed' }],
    ['DELETE', `${at}/roles/${role}`],
    ['POST', `${at}/roles/${role}/composites`, [part]],
    ['DELETE', `${at}/roles/${role}/composites`, [part]],
    ['PUT', `roles-by-id/${adminRole.id}`, { ...adminRole, description: 'x' }],
    ['DELETE', `roles-by-id/${adminRole.id}`],
    ['POST', `roles-by-id/${adminRole.id}/composites`, [part]],
    ['DELETE', `roles-by-id/${adminRole.id}/composites`, [part]],
    ['POST', `${at}/protocol-mappers/models`, MAPPER],
    ['POST', `${at}/protocol-mappers/add-models`, [MAPPER]],
    ['PUT', `${at}/default-client-scopes/${phone}`],
    ['DELETE', `${at}/default-client-scopes/${phone}`],
    ['PUT', `${at}/optional-client-scopes/${phone}`],
    ['DELETE', `${at}/optional-client-scopes/${phone}`],
    ['POST', `${at}/scope-mappings/realm`, [part]],
    ['DELETE', `${at}/scope-mappings/realm`, [part]],
    ['POST', `${at}/scope-mappings/clients/${client.id}`, [adminRole]],
    ['POST', `${at}/nodes`, { node: '127.0.0.1' }],
    ['DELETE', `${at}/nodes/127.0.0.1`],
    ['POST', `${at}/push-revocation`],
    ['POST', `${at}/client-secret`],
    ['PUT', at, { description: 'x' }],
    ['DELETE', at],
  ]
  return all.map(([method, below, body]) => ({ method, url: `${path}/${below}`, body }))
}

const refused = { status: 403, body: { error: 'HTTP 403 Forbidden' } }

test('changes of realm-management and its roles return 403 for every administrator', async () => {
  const realm = await createAdminRealm({ mia: 'manage-realm manage-clients' })
  for (const token of [await adminToken(), await realm.token('admin'), await realm.token('mia')])
    for (const { method, url, body } of await attempts(realm.name, 'realm-management', 'view-events'))
      expect(await call(method, url, { token, body }), `${method} ${url}`).toMatchObject(refused)
})

test('changes of the master client of a realm and its roles return 403', async () => {
  const { name } = await createAdminRealm({})
  for (const clientId of [`${name}-realm`, 'master-realm'])
    for (const { method, url, body } of await attempts('master', clientId, 'view-events'))
      expect(await call(method, url, { body }), `${method} ${url}`).toMatchObject(refused)
})

test.each(['admin', 'create-realm'])('changes of the role %s of master return 403', async (name) => {
  const adminRole = (await call('GET', `/admin/realms/master/roles/${name}`)).body
  const part = (await call('GET', '/admin/realms/master/roles/offline_access')).body
  for (const at of [`roles/${name}`, `roles-by-id/${adminRole.id}`])
    for (const [method, below, body] of [
      ['PUT', '', { ...adminRole, description: 'x' }],
      ['PUT', '', { ...adminRole, name: 'renamed' }],
      ['DELETE', '', undefined],
      ['POST', '/composites', [part]],
      ['DELETE', '/composites', [part]],
    ] as const)
      expect(await call(method, `/admin/realms/master/${at}${below}`, { body })).toMatchObject(refused)
})

test('a realm role with the name of a master admin role, and roles of other clients, can be changed', async () => {
  const { path } = await createAdminRealm({})
  const client = (await call('POST', `${path}/clients`, { body: { clientId: 'some-realm' } })).headers.location
  const at = new URL(String(client)).pathname
  for (const roles of [`${path}/roles`, `${at}/roles`]) {
    expect((await call('POST', roles, { body: { name: 'admin' } })).status).toBe(201)
    expect((await call('PUT', `${roles}/admin`, { body: { name: 'admin', description: 'x' } })).status).toBe(204)
    expect((await call('DELETE', `${roles}/admin`)).status).toBe(204)
  }
})
