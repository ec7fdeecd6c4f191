// Whoever is weak for a moment can be taken over, and is strong again once it is corrected: taking power away takes what giving it does.
import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { type AdminRealm, createAdminRealm } from '../support/realm-with-boss.ts'
import { testServer } from '../support/server.ts'

const MANAGER = { manager: 'manage-users manage-realm manage-clients manage-identity-providers' }

/** An address by the name of what is there. */
const find = async ({ as }: AdminRealm, collection: string, field: string, name: string) => {
  const { body } = await as('boss', 'GET', collection)
  return (body as Record<string, string>[]).find((one) => one[field] === name)!
}

test('a group and a role with more power than the caller has are not deleted, and nobody is taken out of them', async () => {
  const own = await createAdminRealm(MANAGER)
  const { as, expectForbidden, adminGroup, users: people, adminRole } = own
  await as('boss', 'PUT', `users/${people.boss}/groups/${adminGroup}`)
  await as('boss', 'POST', `groups/${adminGroup}/children`, { name: 'below' })
  const [below] = (await as('boss', 'GET', `groups/${adminGroup}/children`)).body
  await as('boss', 'POST', 'roles', { name: 'whole' })
  await as('boss', 'POST', 'roles/whole/composites', [adminRole])
  await as('boss', 'POST', 'clients', { clientId: 'robot', serviceAccountsEnabled: true, secret: 'good' })
  const robot = (await find(own, 'clients', 'clientId', 'robot')).id
  const account = (await as('boss', 'GET', `clients/${robot}/service-account-user`)).body.id
  await as('boss', 'POST', `users/${account}/role-mappings/realm`, [adminRole])
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `users/${people.boss}/groups/${adminGroup}`],
    ['DELETE', `groups/${adminGroup}`],
    ['DELETE', 'roles/whole'],
    ['DELETE', `roles-by-id/${adminRole.id}`],
    // Without its account the client would be weak: its secret could be changed before a source gives the account back.
    ['PUT', `clients/${robot}`, { clientId: 'robot', serviceAccountsEnabled: false }],
    // Out of the group that it has its power from.
    ['POST', 'groups', { id: below.id, name: 'below' }],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('boss', 'GET', `users/${people.boss}/groups`)).body).toHaveLength(1)

  // What has no more power than the caller goes as before.
  await as('boss', 'POST', 'groups', { name: 'staff' })
  const staff = (await find(own, 'groups', 'name', 'staff')).id
  expect((await as('manager', 'PUT', `users/${people.boss}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'DELETE', `users/${people.boss}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'DELETE', `groups/${staff}`)).status).toBe(204)
})

test('what decides how everybody gets in is not deleted or switched off by who may not change it', async () => {
  const own = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = own
  await as('boss', 'POST', 'authentication/flows/browser/copy', { newName: 'mine' })
  const steps = (await as('boss', 'GET', 'authentication/flows/mine/executions')).body as Record<string, string>[]
  const condition = steps.find(({ providerId }) => providerId === 'conditional-credential')!
  const config = { alias: 'only', config: { credentials: 'webauthn' } }
  const location = (await as('boss', 'POST', `authentication/executions/${condition.id}/config`, config)).headers
    .location
  const ldap = {
    name: 'people',
    providerId: 'ldap',
    providerType: 'org.keycloak.storage.UserStorageProvider',
    config: { editMode: ['READ_ONLY'], connectionUrl: ['ldap://ldap.example'], usersDn: ['ou=people'] },
  }
  expect(await as('boss', 'POST', 'components', ldap)).toMatchObject({ status: 201 })
  const components = (await as('boss', 'GET', 'components')).body as Record<string, string>[]
  const componentOf = (providerId: string) => components.find((one) => one.providerId === providerId)!.id
  const action = (await as('boss', 'GET', 'authentication/required-actions/CONFIGURE_TOTP')).body
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `authentication/config/${String(location).split('/').at(-1)}`],
    ['DELETE', `authentication/executions/${condition.id}`],
    ['DELETE', `authentication/flows/${(await find(own, 'authentication/flows', 'alias', 'mine')).id}`],
    ['DELETE', 'authentication/required-actions/CONFIGURE_TOTP'],
    ['PUT', 'authentication/required-actions/CONFIGURE_TOTP', { ...action, enabled: false }],
    ['PUT', 'authentication/required-actions/CONFIGURE_TOTP', { ...action, enabled: null }],
    ['DELETE', `components/${componentOf('ldap')}`],
    ['DELETE', `components/${componentOf('rsa-generated')}`],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('boss', 'GET', 'authentication/required-actions/CONFIGURE_TOTP')).body).toEqual(action)
  const named = { ...action, name: 'Second factor' }
  expect((await as('manager', 'PUT', 'authentication/required-actions/CONFIGURE_TOTP', named)).status).toBe(204)
})

/** Lets a step of a flow depend on a role, by the name that its settings have for it. */
async function dependOn(own: AdminRealm, condUserRole: string) {
  await own.as('boss', 'POST', 'authentication/flows/browser/copy', { newName: 'mine' })
  const steps = (await own.as('boss', 'GET', 'authentication/flows/mine/executions')).body as Record<string, string>[]
  const condition = steps.find(({ providerId }) => providerId === 'conditional-credential')!
  const config = { alias: 'only', config: { condUserRole } }
  expect((await own.as('boss', 'POST', `authentication/executions/${condition.id}/config`, config)).status).toBe(201)
}

test('a realm role that a condition of a flow names is not deleted, renamed, created or recomposed by who is weaker', async () => {
  const own = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = own
  for (const name of ['staff', 'employee', 'other']) await as('boss', 'POST', 'roles', { name })
  const [staff, other] = await Promise.all(
    ['staff', 'other'].map(async (name) => (await as('boss', 'GET', `roles/${name}`)).body),
  )
  await as('boss', 'POST', 'roles/employee/composites', [staff])
  await dependOn(own, 'staff')
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', 'roles/staff'],
    ['DELETE', `roles-by-id/${staff.id}`],
    ['PUT', 'roles/staff', { name: 'former' }],
    ['PUT', `roles-by-id/${staff.id}`, { name: 'former' }],
    ['DELETE', 'roles/employee/composites', [staff]],
    ['DELETE', 'roles/employee'],
    ['POST', 'roles/other/composites', [staff]],
    ['POST', 'partialImport', { ifResourceExists: 'OVERWRITE', roles: { realm: [{ name: 'staff' }] } }],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('boss', 'GET', 'roles/employee/composites')).body).toMatchObject([{ name: 'staff' }])

  // Without its role the condition holds for everybody, until there is one of that name.
  await as('boss', 'DELETE', 'roles/staff')
  await expectForbidden('manager', 'POST', 'roles', { name: 'staff' })
  await expectForbidden('manager', 'PUT', 'roles/other', { name: 'staff' })

  expect((await as('manager', 'PUT', 'roles/other', { ...other, description: 'x' })).status).toBe(204)
  expect((await as('manager', 'POST', 'roles', { name: 'another' })).status).toBe(201)
  expect((await as('manager', 'DELETE', 'roles/other')).status).toBe(204)
})

test('a client whose role a condition of a flow names is not deleted, renamed or replaced by who is weaker', async () => {
  const own = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = own
  for (const clientId of ['shop', 'stall']) await as('boss', 'POST', 'clients', { clientId })
  const [shop, stall] = await Promise.all(
    ['shop', 'stall'].map(async (name) => (await find(own, 'clients', 'clientId', name)).id),
  )
  await as('boss', 'POST', `clients/${shop}/roles`, { name: 'staff' })
  await dependOn(own, 'shop.staff')
  await expectForbidden('manager', 'DELETE', `clients/${shop}`)
  await expectForbidden('manager', 'PUT', `clients/${shop}`, { clientId: 'former' })
  await expectForbidden('manager', 'DELETE', `clients/${shop}/roles/staff`)
  expect((await as('manager', 'POST', `clients/${shop}/roles`, { name: 'other' })).status).toBe(201)

  await as('boss', 'DELETE', `clients/${shop}`)
  await expectForbidden('manager', 'PUT', `clients/${stall}`, { clientId: 'shop' })
  const { location } = (await as('manager', 'POST', 'clients', { clientId: 'shop' })).headers
  await expectForbidden('manager', 'POST', `clients/${String(location).split('/').at(-1)}/roles`, { name: 'staff' })
})

test.each([
  ['otpPolicyLookAheadWindow', { otpPolicyLookAheadWindow: 2_000_000 }],
  ['otpPolicyCodeReusable', { otpPolicyCodeReusable: true }],
  ['the attribute realmReusableOtpCode', { attributes: { realmReusableOtpCode: 'true' } }],
])('PUT of a realm that accepts more one-time codes by %s returns 403 for who is weaker', async (_, settings) => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  await expectForbidden('manager', 'PUT', '', settings)
  expect((await as('boss', 'PUT', '', settings)).status).toBe(204)
})

test('every field of an object that binds a flow decides how everybody gets in', async () => {
  const bindings = Object.values(kinds).flatMap(({ name, fields }) =>
    Object.entries(fields).flatMap(([field, { refersTo, loginControl: admits }]) =>
      refersTo === 'authenticationFlow' ? [{ name, field, admits }] : [],
    ),
  )
  expect(bindings).toHaveLength(10)
  expect(bindings.filter(({ admits }) => admits !== true)).toEqual([])
})

test.each([
  'browserFlow',
  'registrationFlow',
  'directGrantFlow',
  'resetCredentialsFlow',
  'clientAuthenticationFlow',
  'dockerAuthenticationFlow',
  'firstBrokerLoginFlow',
])('PUT of a realm with another %s by who is weaker returns 403', async (field) => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  await as('boss', 'POST', 'authentication/flows/browser/copy', { newName: 'mine' })
  await expectForbidden('manager', 'PUT', '', { [field]: 'mine' })
})

test('flows of an identity provider are bound by who decides about flows, but for the usual one', async () => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  const corp = { alias: 'corp', providerId: 'github' }
  const bind = (flows: object) => ['POST', 'identity-provider/instances', { ...corp, ...flows }] as const
  await as('boss', 'POST', 'authentication/flows/first broker login/copy', { newName: 'mine' })
  await expectForbidden('manager', ...bind({ firstBrokerLoginFlowAlias: 'mine' }))
  await expectForbidden('manager', ...bind({ postBrokerLoginFlowAlias: 'browser' }))
  expect((await as('manager', ...bind({ firstBrokerLoginFlowAlias: 'first broker login' }))).status).toBe(201)
})

test('DELETE of a realm takes manage-realm, and deletes its administration client in master', async () => {
  const { as, name } = await createAdminRealm({ manager: 'manage-realm' })
  expect((await as('manager', 'DELETE', '')).status).toBe(204)
  const { call } = await testServer()
  expect((await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)).body).toEqual([])
})
