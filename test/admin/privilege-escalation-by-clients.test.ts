// A caller cannot authenticate as a client whose service account has more admin permissions, or grant clients permissions that they lack.
import { expect, test } from 'vitest'
import { MASK } from '../../src/kinds/mask.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'

const { call, create } = await testServer()

/** Creates a realm with a client whose service account has realm-admin. */
async function createRealmWithRobot() {
  const realm = await createAdminRealm({ manager: 'manage-clients', viewer: 'view-clients' })
  const body = { clientId: 'robot', secret: 'hidden', serviceAccountsEnabled: true, fullScopeAllowed: false }
  const robot = (await create(`${realm.path}/clients`, body)).split('/').at(-1)!
  const account = (await call('GET', `${realm.path}/clients/${robot}/service-account-user`)).body
  await call('POST', `${realm.path}/users/${account.id}/role-mappings/realm`, { body: [realm.adminRole] })
  return { ...realm, client: `clients/${robot}` }
}

test('reading or changing the secret or keys of a client with a stronger service account returns 403 or a mask', async () => {
  const { path, client, as, expectForbidden } = await createRealmWithRobot()
  for (const caller of ['manager', 'viewer']) {
    await expectForbidden(caller, 'GET', `${client}/client-secret`)
    expect((await as(caller, 'GET', client)).body.secret).toBe(MASK)
    expect((await as(caller, 'GET', 'clients?clientId=robot')).body[0].secret).toBe(MASK)
    await expectForbidden(caller, 'GET', `${client}/certificates/jwt.credential`)
  }
  await expectForbidden('manager', 'POST', `${client}/client-secret`)
  await expectForbidden('manager', 'PUT', client, { secret: 'changed' })
  await expectForbidden('manager', 'PUT', client, { publicClient: true })
  await expectForbidden('manager', 'PUT', client, { clientAuthenticatorType: 'client-jwt' })
  await expectForbidden('manager', 'PUT', client, {
    attributes: { 'jwks.url': 'https://evil.example', 'use.jwks.url': 'true' },
  })
  await expectForbidden('manager', 'POST', `${client}/certificates/jwt.credential/generate`)
  const representation = (await as('manager', 'GET', client)).body
  expect((await as('manager', 'PUT', client, { ...representation, description: 'Does it all' })).status).toBe(204)
  expect((await call('GET', `${path}/${client}/client-secret`)).body.value).toBe('hidden')

  const weak = (await create(`${path}/clients`, { clientId: 'weak', serviceAccountsEnabled: true })).split('/').at(-1)!
  const { value } = (await as('manager', 'GET', `clients/${weak}/client-secret`)).body
  expect((await as('manager', 'POST', `clients/${weak}/client-secret`)).body.value).not.toBe(value)
})

test('secrets and private keys of clients are masked for a caller who may only view clients', async () => {
  const { path, as } = await createAdminRealm({ manager: 'manage-clients', viewer: 'view-clients' })
  const body = { clientId: 'web', secret: 'first', attributes: { 'jwt.credential.private.key': 'private' } }
  const client = `clients/${(await create(`${path}/clients`, body)).split('/').at(-1)!}`
  const profiles = { profiles: [{ name: 'rotating', executors: [{ executor: 'secret-rotation', configuration: {} }] }] }
  expect((await call('PUT', `${path}/client-policies/profiles`, { body: profiles })).status).toBe(204)
  const policy = { name: 'all', enabled: true, conditions: [{ condition: 'any-client', configuration: {} }] }
  const policies = { policies: [{ ...policy, profiles: ['rotating'] }] }
  expect((await call('PUT', `${path}/client-policies/policies`, { body: policies })).status).toBe(204)
  const second = (await as('manager', 'POST', `${client}/client-secret`)).body.value as string
  const readSecrets = async (caller: string) => {
    const representation = (await as(caller, 'GET', client)).body
    const [listElement] = (await as(caller, 'GET', 'clients?clientId=web')).body
    return [
      (await as(caller, 'GET', `${client}/client-secret`)).body.value,
      (await as(caller, 'GET', `${client}/client-secret/rotated`)).body.value,
      (await as(caller, 'GET', `${client}/certificates/jwt.credential`)).body.privateKey,
      ...[representation, listElement].flatMap((client) => [
        client.secret,
        client.attributes['jwt.credential.private.key'],
      ]),
    ]
  }
  expect(await readSecrets('manager')).toEqual([second, 'first', 'private', second, 'private', second, 'private'])
  expect(await readSecrets('viewer')).toEqual(Array.from({ length: 7 }, () => MASK))
})

test('adding roles that the caller lacks to tokens of a client, or binding a flow to it, returns 403', async () => {
  const { path, client, adminRole, as, expectForbidden } = await createRealmWithRobot()
  await expectForbidden('manager', 'PUT', client, { fullScopeAllowed: true })
  await expectForbidden('manager', 'POST', `${client}/scope-mappings/realm`, [adminRole])
  const flow = (await call('GET', `${path}/authentication/flows`)).body[0].id
  const binding = { authenticationFlowBindingOverrides: { direct_grant: flow } }
  await expectForbidden('manager', 'POST', 'clients', { clientId: 'new', ...binding })
  await expectForbidden('manager', 'PUT', client, binding)
  expect((await as('manager', 'POST', 'clients', { clientId: 'new', fullScopeAllowed: true })).status).toBe(201)
})

test('creating a protocol mapper with a role that the caller lacks returns 403', async () => {
  const { path, as, expectForbidden } = await createAdminRealm({ manager: 'manage-clients' })
  const scope = (await create(`${path}/client-scopes`, { name: 'more', protocol: 'openid-connect' })).split('/').at(-1)!
  const mappers = `client-scopes/${scope}/protocol-mappers/models`
  const toMapper = (protocolMapper: string, config: object) => ({
    name: protocolMapper,
    protocol: 'openid-connect',
    protocolMapper,
    config,
  })
  await expectForbidden('manager', 'POST', mappers, toMapper('oidc-hardcoded-role-mapper', { role: 'administrator' }))
  const renamedRole = { role: 'offline_access', 'new.role.name': 'administrator' }
  await expectForbidden('manager', 'POST', mappers, toMapper('oidc-role-name-mapper', renamedRole))
  const clientWithMapper = {
    clientId: 'new',
    protocolMappers: [toMapper('oidc-hardcoded-role-mapper', { role: 'administrator' })],
  }
  await expectForbidden('manager', 'POST', 'clients', clientWithMapper)
  const permitted = toMapper('oidc-hardcoded-role-mapper', { role: 'offline_access' })
  expect((await as('manager', 'POST', mappers, permitted)).status).toBe(201)
})
