// As in Keycloak, no administrator can change admin roles or the clients that have them over REST.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'

const { adminToken, call } = await testServer()
const PROTOCOL_MAPPER = { name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-sub-mapper', config: {} }

/** Returns requests that would change a client with admin roles, or the role of it. */
async function listChanges(realm: string, clientId: string, role: string) {
  const path = `/admin/realms/${realm}`
  const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
  const clientPath = `clients/${client.id}`
  const adminRole = (await call('GET', `${path}/${clientPath}/roles/${role}`)).body
  const otherRole = (await call('GET', `${path}/roles/offline_access`)).body
  const scopes = (await call('GET', `${path}/client-scopes`)).body as { id: string; name: string }[]
  const phone = scopes.find(({ name }) => name === 'phone')!.id
  const changes: [method: string, address: string, body?: unknown][] = [
    ['POST', `${clientPath}/roles`, { name: 'another' }],
    ['PUT', `${clientPath}/roles/${role}`, { ...adminRole, description: 'x' }],
    ['PUT', `${clientPath}/roles/${role}`, { ...adminRole, name: 'renamed' }],
    ['DELETE', `${clientPath}/roles/${role}`],
    ['POST', `${clientPath}/roles/${role}/composites`, [otherRole]],
    ['DELETE', `${clientPath}/roles/${role}/composites`, [otherRole]],
    ['PUT', `${clientPath}/roles/nowhere`, { name: 'nowhere' }],
    ['DELETE', `${clientPath}/roles/nowhere`],
    ['POST', `${clientPath}/roles/nowhere/composites`, [otherRole]],
    ['DELETE', `${clientPath}/roles/nowhere/composites`, [otherRole]],
    ['PUT', `roles-by-id/${adminRole.id}`, { ...adminRole, description: 'x' }],
    ['DELETE', `roles-by-id/${adminRole.id}`],
    ['POST', `roles-by-id/${adminRole.id}/composites`, [otherRole]],
    ['DELETE', `roles-by-id/${adminRole.id}/composites`, [otherRole]],
    ['POST', `${clientPath}/protocol-mappers/models`, PROTOCOL_MAPPER],
    ['POST', `${clientPath}/protocol-mappers/add-models`, [PROTOCOL_MAPPER]],
    ['PUT', `${clientPath}/default-client-scopes/${phone}`],
    ['DELETE', `${clientPath}/default-client-scopes/${phone}`],
    ['PUT', `${clientPath}/optional-client-scopes/${phone}`],
    ['DELETE', `${clientPath}/optional-client-scopes/${phone}`],
    ['POST', `${clientPath}/scope-mappings/realm`, [otherRole]],
    ['DELETE', `${clientPath}/scope-mappings/realm`, [otherRole]],
    ['POST', `${clientPath}/scope-mappings/clients/${client.id}`, [adminRole]],
    ['POST', `${clientPath}/nodes`, { node: '127.0.0.1' }],
    ['DELETE', `${clientPath}/nodes/127.0.0.1`],
    ['POST', `${clientPath}/push-revocation`],
    ['POST', `${clientPath}/client-secret`],
    ['PUT', clientPath, { description: 'x' }],
    ['DELETE', clientPath],
  ]
  return changes.map(([method, address, body]) => ({ method, url: `${path}/${address}`, body }))
}

const FORBIDDEN = { status: 403, body: { error: 'HTTP 403 Forbidden' } }

test('changes of realm-management and its roles return 403 for every administrator', async () => {
  const realm = await createAdminRealm({ mia: 'manage-realm manage-clients' })
  for (const token of [await adminToken(), await realm.token('admin'), await realm.token('mia')])
    for (const { method, url, body } of await listChanges(realm.name, 'realm-management', 'view-events'))
      expect(await call(method, url, { token, body }), `${method} ${url}`).toMatchObject(FORBIDDEN)
})

test('changes of the master client of a realm and its roles return 403', async () => {
  const { name } = await createAdminRealm({})
  for (const clientId of [`${name}-realm`, 'master-realm'])
    for (const { method, url, body } of await listChanges('master', clientId, 'view-events'))
      expect(await call(method, url, { body }), `${method} ${url}`).toMatchObject(FORBIDDEN)
})

test.each(['admin', 'create-realm'])('changes of the role %s of master return 403', async (name) => {
  const adminRole = (await call('GET', `/admin/realms/master/roles/${name}`)).body
  const otherRole = (await call('GET', '/admin/realms/master/roles/offline_access')).body
  for (const address of [`roles/${name}`, `roles-by-id/${adminRole.id}`])
    for (const [method, suffix, body] of [
      ['PUT', '', { ...adminRole, description: 'x' }],
      ['PUT', '', { ...adminRole, name: 'renamed' }],
      ['DELETE', '', undefined],
      ['POST', '/composites', [otherRole]],
      ['DELETE', '/composites', [otherRole]],
    ] as const)
      expect(await call(method, `/admin/realms/master/${address}${suffix}`, { body })).toMatchObject(FORBIDDEN)
})

test('a realm role with the name of a master admin role, and roles of other clients, can be changed', async () => {
  const { path } = await createAdminRealm({})
  const client = (await call('POST', `${path}/clients`, { body: { clientId: 'some-realm' } })).headers.location
  const clientPath = new URL(String(client)).pathname
  for (const roles of [`${path}/roles`, `${clientPath}/roles`]) {
    expect((await call('POST', roles, { body: { name: 'admin' } })).status).toBe(201)
    expect((await call('PUT', `${roles}/admin`, { body: { name: 'admin', description: 'x' } })).status).toBe(204)
    expect((await call('DELETE', `${roles}/admin`)).status).toBe(204)
  }
})
