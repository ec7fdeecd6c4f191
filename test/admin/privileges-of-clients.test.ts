// Nobody acts in the name of a client whose account may administer more, nor lets clients show more than they may give.
import { expect, test } from 'vitest'
import { MASK } from '../../src/kinds/mask.ts'
import { createAdminRealm } from '../support/realm-with-boss.ts'
import { testServer } from '../support/server.ts'

const { call, make } = await testServer()

/** A client whose account has all power of the realm. */
async function realmWithRobot() {
  const realm = await createAdminRealm({ manager: 'manage-clients', viewer: 'view-clients' })
  const stated = { clientId: 'robot', secret: 'hidden', serviceAccountsEnabled: true, fullScopeAllowed: false }
  const robot = (await make(`${realm.path}/clients`, stated)).split('/').at(-1)!
  const account = (await call('GET', `${realm.path}/clients/${robot}/service-account-user`)).body
  await call('POST', `${realm.path}/users/${account.id}/role-mappings/realm`, { body: [realm.adminRole] })
  return { ...realm, client: `clients/${robot}` }
}

test('the secrets and keys of a client with a stronger account are neither told nor changed', async () => {
  const { path, client, as, expectForbidden } = await realmWithRobot()
  for (const person of ['manager', 'viewer']) {
    await expectForbidden(person, 'GET', `${client}/client-secret`)
    expect((await as(person, 'GET', client)).body.secret).toBe(MASK)
    expect((await as(person, 'GET', 'clients?clientId=robot')).body[0].secret).toBe(MASK)
    await expectForbidden(person, 'GET', `${client}/certificates/jwt.credential`)
  }
  await expectForbidden('manager', 'POST', `${client}/client-secret`)
  await expectForbidden('manager', 'PUT', client, { secret: 'mine' })
  await expectForbidden('manager', 'PUT', client, { publicClient: true })
  await expectForbidden('manager', 'PUT', client, { clientAuthenticatorType: 'client-jwt' })
  await expectForbidden('manager', 'PUT', client, {
    attributes: { 'jwks.url': 'https://mine.example', 'use.jwks.url': 'true' },
  })
  await expectForbidden('manager', 'POST', `${client}/certificates/jwt.credential/generate`)
  const shown = (await as('manager', 'GET', client)).body
  expect((await as('manager', 'PUT', client, { ...shown, description: 'Does it all' })).status).toBe(204)
  expect((await call('GET', `${path}/${client}/client-secret`)).body.value).toBe('hidden')

  const weak = (await make(`${path}/clients`, { clientId: 'weak', serviceAccountsEnabled: true })).split('/').at(-1)!
  const { value } = (await as('manager', 'GET', `clients/${weak}/client-secret`)).body
  expect((await as('manager', 'POST', `clients/${weak}/client-secret`)).body.value).not.toBe(value)
})

test('who may only view clients gets their secrets and private keys masked', async () => {
  const { path, as } = await createAdminRealm({ manager: 'manage-clients', viewer: 'view-clients' })
  const stated = { clientId: 'web', secret: 'first', attributes: { 'jwt.credential.private.key': 'private' } }
  const client = `clients/${(await make(`${path}/clients`, stated)).split('/').at(-1)!}`
  const rotating = { profiles: [{ name: 'rotating', executors: [{ executor: 'secret-rotation', configuration: {} }] }] }
  expect((await call('PUT', `${path}/client-policies/profiles`, { body: rotating })).status).toBe(204)
  const policy = { name: 'all', enabled: true, conditions: [{ condition: 'any-client', configuration: {} }] }
  const policies = { policies: [{ ...policy, profiles: ['rotating'] }] }
  expect((await call('PUT', `${path}/client-policies/policies`, { body: policies })).status).toBe(204)
  const second = (await as('manager', 'POST', `${client}/client-secret`)).body.value as string
  const seenBy = async (person: string) => {
    const shown = (await as(person, 'GET', client)).body
    const [listed] = (await as(person, 'GET', 'clients?clientId=web')).body
    return [
      (await as(person, 'GET', `${client}/client-secret`)).body.value,
      (await as(person, 'GET', `${client}/client-secret/rotated`)).body.value,
      (await as(person, 'GET', `${client}/certificates/jwt.credential`)).body.privateKey,
      ...[shown, listed].flatMap((one) => [one.secret, one.attributes['jwt.credential.private.key']]),
    ]
  }
  expect(await seenBy('manager')).toEqual([second, 'first', 'private', second, 'private', second, 'private'])
  expect(await seenBy('viewer')).toEqual(Array.from({ length: 7 }, () => MASK))
})

test('a client comes to show no role that its manager lacks, and lets nobody in by a flow of its own', async () => {
  const { path, client, adminRole, as, expectForbidden } = await realmWithRobot()
  await expectForbidden('manager', 'PUT', client, { fullScopeAllowed: true })
  await expectForbidden('manager', 'POST', `${client}/scope-mappings/realm`, [adminRole])
  const flow = (await call('GET', `${path}/authentication/flows`)).body[0].id
  const own = { authenticationFlowBindingOverrides: { direct_grant: flow } }
  await expectForbidden('manager', 'POST', 'clients', { clientId: 'new', ...own })
  await expectForbidden('manager', 'PUT', client, own)
  expect((await as('manager', 'POST', 'clients', { clientId: 'new', fullScopeAllowed: true })).status).toBe(201)
})

test('a mapper of tokens names no role that its maker lacks', async () => {
  const { path, as, expectForbidden } = await createAdminRealm({ manager: 'manage-clients' })
  const scope = (await make(`${path}/client-scopes`, { name: 'more', protocol: 'openid-connect' })).split('/').at(-1)!
  const mappers = `client-scopes/${scope}/protocol-mappers/models`
  const mapper = (protocolMapper: string, config: object) => ({
    name: protocolMapper,
    protocol: 'openid-connect',
    protocolMapper,
    config,
  })
  await expectForbidden('manager', 'POST', mappers, mapper('oidc-hardcoded-role-mapper', { role: 'powerful' }))
  const renaming = { role: 'offline_access', 'new.role.name': 'powerful' }
  await expectForbidden('manager', 'POST', mappers, mapper('oidc-role-name-mapper', renaming))
  const inside = { clientId: 'new', protocolMappers: [mapper('oidc-hardcoded-role-mapper', { role: 'powerful' })] }
  await expectForbidden('manager', 'POST', 'clients', inside)
  const harmless = mapper('oidc-hardcoded-role-mapper', { role: 'offline_access' })
  expect((await as('manager', 'POST', mappers, harmless)).status).toBe(201)
})
