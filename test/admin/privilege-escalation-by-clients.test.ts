// An administrator cannot act as a client whose service account has more admin permissions, nor grant more to clients.
import { expect, test } from 'vitest'
import { MASK } from '../../src/kinds/mask.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'

const { call, make } = await testServer()

/** Creates a client whose service account has all admin permissions of the realm. */
async function realmWithRobot() {
  const realm = await createAdminRealm({ manager: 'manage-clients', viewer: 'view-clients' })
  const declared = { clientId: 'robot', secret: 'hidden', serviceAccountsEnabled: true, fullScopeAllowed: false }
  const robot = (await make(`${realm.path}/clients`, declared)).split('/').at(-1)!
  const account = (await call('GET', `${realm.path}/clients/${robot}/service-account-user`)).body
  await call('POST', `${realm.path}/users/${account.id}/role-mappings/realm`, { body: [realm.adminRole] })
  return { ...realm, client: `clients/${robot}` }
}

test('the secrets and keys of a client with a stronger service account are neither returned nor changed', async () => {
  const { path, client, as, expectForbidden } = await realmWithRobot()
  for (const caller of ['manager', 'viewer']) {
    await expectForbidden(caller, 'GET', `${client}/client-secret`)
    expect((await as(caller, 'GET', client)).body.secret).toBe(MASK)
    expect((await as(caller, 'GET', 'clients?clientId=robot')).body[0].secret).toBe(MASK)
    await expectForbidden(caller, 'GET', `${client}/certificates/jwt.credential`)
  }
  await expectForbidden('manager', 'POST', `${client}/client-secret`)
  await expectForbidden('manager', 'PUT', client, { secret: 'mine' })
  await expectForbidden('manager', 'PUT', client, { publicClient: true })
  await expectForbidden('manager', 'PUT', client, { clientAuthenticatorType: 'client-jwt' })
  await expectForbidden('manager', 'PUT', client, {
    attributes: { 'jwks.url': 'https://mine.example', 'use.jwks.url': 'true' },
  })
  await expectForbidden('manager', 'POST', `${client}/certificates/jwt.credential/generate`)
  const representation = (await as('manager', 'GET', client)).body
  expect((await as('manager', 'PUT', client, { ...representation, description: 'Does it all' })).status).toBe(204)
  expect((await call('GET', `${path}/${client}/client-secret`)).body.value).toBe('hidden')

  const weak = (await make(`${path}/clients`, { clientId: 'weak', serviceAccountsEnabled: true })).split('/').at(-1)!
  const { value } = (await as('manager', 'GET', `clients/${weak}/client-secret`)).body
  expect((await as('manager', 'POST', `clients/${weak}/client-secret`)).body.value).not.toBe(value)
})

test('secrets and private keys of clients are masked for a caller who may only view clients', async () => {
  const { path, as } = await createAdminRealm({ manager: 'manage-clients', viewer: 'view-clients' })
  const declared = { clientId: 'web', secret: 'first', attributes: { 'jwt.credential.private.key': 'private' } }
  const client = `clients/${(await make(`${path}/clients`, declared)).split('/').at(-1)!}`
  const rotating = { profiles: [{ name: 'rotating', executors: [{ executor: 'secret-rotation', configuration: {} }] }] }
  expect((await call('PUT', `${path}/client-policies/profiles`, { body: rotating })).status).toBe(204)
  const policy = { name: 'all', enabled: true, conditions: [{ condition: 'any-client', configuration: {} }] }
  const policies = { policies: [{ ...policy, profiles: ['rotating'] }] }
  expect((await call('PUT', `${path}/client-policies/policies`, { body: policies })).status).toBe(204)
  const second = (await as('manager', 'POST', `${client}/client-secret`)).body.value as string
  const seenBy = async (caller: string) => {
    const representation = (await as(caller, 'GET', client)).body
    const [listed] = (await as(caller, 'GET', 'clients?clientId=web')).body
    return [
      (await as(caller, 'GET', `${client}/client-secret`)).body.value,
      (await as(caller, 'GET', `${client}/client-secret/rotated`)).body.value,
      (await as(caller, 'GET', `${client}/certificates/jwt.credential`)).body.privateKey,
      ...[representation, listed].flatMap((client) => [client.secret, client.attributes['jwt.credential.private.key']]),
    ]
  }
  expect(await seenBy('manager')).toEqual([second, 'first', 'private', second, 'private', second, 'private'])
  expect(await seenBy('viewer')).toEqual(Array.from({ length: 7 }, () => MASK))
})

test('a manager of clients cannot add roles that they lack to tokens of a client, nor bind a flow to it', async () => {
  const { path, client, adminRole, as, expectForbidden } = await realmWithRobot()
  await expectForbidden('manager', 'PUT', client, { fullScopeAllowed: true })
  await expectForbidden('manager', 'POST', `${client}/scope-mappings/realm`, [adminRole])
  const flow = (await call('GET', `${path}/authentication/flows`)).body[0].id
  const binding = { authenticationFlowBindingOverrides: { direct_grant: flow } }
  await expectForbidden('manager', 'POST', 'clients', { clientId: 'new', ...binding })
  await expectForbidden('manager', 'PUT', client, binding)
  expect((await as('manager', 'POST', 'clients', { clientId: 'new', fullScopeAllowed: true })).status).toBe(201)
})

test('a protocol mapper with a role that the caller lacks is refused', async () => {
  const { path, as, expectForbidden } = await createAdminRealm({ manager: 'manage-clients' })
  const scope = (await make(`${path}/client-scopes`, { name: 'more', protocol: 'openid-connect' })).split('/').at(-1)!
  const mappers = `client-scopes/${scope}/protocol-mappers/models`
  const mapper = (protocolMapper: string, config: object) => ({
    name: protocolMapper,
    protocol: 'openid-connect',
    protocolMapper,
    config,
  })
  await expectForbidden('manager', 'POST', mappers, mapper('oidc-hardcoded-role-mapper', { role: 'administrator' }))
  const renaming = { role: 'offline_access', 'new.role.name': 'administrator' }
  await expectForbidden('manager', 'POST', mappers, mapper('oidc-role-name-mapper', renaming))
  const inside = { clientId: 'new', protocolMappers: [mapper('oidc-hardcoded-role-mapper', { role: 'administrator' })] }
  await expectForbidden('manager', 'POST', 'clients', inside)
  const harmless = mapper('oidc-hardcoded-role-mapper', { role: 'offline_access' })
  expect((await as('manager', 'POST', mappers, harmless)).status).toBe(201)
})
