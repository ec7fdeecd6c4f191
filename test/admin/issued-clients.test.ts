// An identity provider can issue assertions of clients, so it is changed only by administrators who may act as these clients.
import { beforeAll, expect, test } from 'vitest'
import { type AdminRealm, createAdminRealm } from '../support/admin-realm.ts'
import { federatedClient } from '../support/assertion-issuer.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()

let realm: AdminRealm

const provider = (alias: string, issuer = `https://${alias}.example.org`) => ({
  alias,
  providerId: 'oidc',
  enabled: true,
  config: { issuer, supportsClientAssertions: 'true', useJwksUrl: 'true', jwksUrl: `${issuer}/keys` },
})
const INSTANCES = 'identity-provider/instances'
const as = async (method: string, address: string, body?: object) =>
  (await realm.as('weak', method, address, body)).status

/** Creates a client that authenticates by assertions of a provider, with `realm-admin` for its service account. */
async function createStrongClient(clientId: string, alias: string): Promise<void> {
  const { path } = realm
  await call('POST', `${path}/clients`, { body: federatedClient(clientId, clientId, alias) })
  const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
  const account = (await call('GET', `${path}/clients/${client.id}/service-account-user`)).body
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  const role = (await call('GET', `${path}/clients/${management.id}/roles/realm-admin`)).body
  const mappings = `${path}/users/${account.id}/role-mappings/clients/${management.id}`
  expect((await call('POST', mappings, { body: [role] })).status).toBe(204)
}

beforeAll(async () => {
  realm = await createAdminRealm({ weak: 'manage-identity-providers' })
  for (const alias of ['strong', 'plain']) await call('POST', `${realm.path}/${INSTANCES}`, { body: provider(alias) })
  await createStrongClient('pipeline', 'strong')
  await createStrongClient('waiting', 'absent')
})

test('the keys of a provider whose assertions give more permissions are not changed by a weaker administrator', async () => {
  const changed = {
    ...provider('strong'),
    config: { ...provider('strong').config, jwksUrl: 'https://own.example.org' },
  }
  expect(await as('PUT', `${INSTANCES}/strong`, changed)).toBe(403)
  expect(await as('PUT', `${INSTANCES}/strong`, { ...provider('strong'), displayName: 'Pipelines' })).toBe(204)
  expect(await as('PUT', `${INSTANCES}/plain`, { ...changed, ...provider('plain', 'https://b.example.org') })).toBe(204)
})

test('a weaker administrator gives no provider the alias that such a client names', async () => {
  expect(await as('POST', INSTANCES, provider('absent'))).toBe(403)
  expect(await as('POST', INSTANCES, provider('unnamed'))).toBe(201)
})
