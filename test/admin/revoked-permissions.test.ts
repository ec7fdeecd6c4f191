// A user who loses admin permissions for a moment could be taken over and get them back: removing admin permissions requires the permissions that granting them does.
import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { type AdminRealm, createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'

const MANAGER = { manager: 'manage-users manage-realm manage-clients manage-identity-providers' }

/** An address by the name of what is there. */
const find = async ({ as }: AdminRealm, collection: string, field: string, name: string) => {
  const { body } = await as('admin', 'GET', collection)
  return (body as Record<string, string>[]).find((object) => object[field] === name)!
}

test('a group or role with more admin permissions than the caller is not deleted, and users are not removed from it', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden, adminGroup, users: userIds, adminRole } = adminRealm
  await as('admin', 'PUT', `users/${userIds.admin}/groups/${adminGroup}`)
  await as('admin', 'POST', `groups/${adminGroup}/children`, { name: 'below' })
  const [below] = (await as('admin', 'GET', `groups/${adminGroup}/children`)).body
  await as('admin', 'POST', 'roles', { name: 'whole' })
  await as('admin', 'POST', 'roles/whole/composites', [adminRole])
  await as('admin', 'POST', 'clients', { clientId: 'robot', serviceAccountsEnabled: true, secret: 'good' })
  const robot = (await find(adminRealm, 'clients', 'clientId', 'robot')).id
  const account = (await as('admin', 'GET', `clients/${robot}/service-account-user`)).body.id
  await as('admin', 'POST', `users/${account}/role-mappings/realm`, [adminRole])
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `users/${userIds.admin}/groups/${adminGroup}`],
    ['DELETE', `groups/${adminGroup}`],
    ['DELETE', 'roles/whole'],
    ['DELETE', `roles-by-id/${adminRole.id}`],
    // Without its account the client would be weak: its secret could be changed before a source gives the account back.
    ['PUT', `clients/${robot}`, { clientId: 'robot', serviceAccountsEnabled: false }],
    // Out of the group that grants its admin permissions.
    ['POST', 'groups', { id: below.id, name: 'below' }],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('admin', 'GET', `users/${userIds.admin}/groups`)).body).toHaveLength(1)

  // Objects without more admin permissions than the caller are deleted as before.
  await as('admin', 'POST', 'groups', { name: 'staff' })
  const staff = (await find(adminRealm, 'groups', 'name', 'staff')).id
  expect((await as('manager', 'PUT', `users/${userIds.admin}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'DELETE', `users/${userIds.admin}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'DELETE', `groups/${staff}`)).status).toBe(204)
})

test('flows, keys and user stores are not deleted or disabled by a caller who may not change them', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = adminRealm
  await as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'mine' })
  const steps = (await as('admin', 'GET', 'authentication/flows/mine/executions')).body as Record<string, string>[]
  const condition = steps.find(({ providerId }) => providerId === 'conditional-credential')!
  const config = { alias: 'only', config: { credentials: 'webauthn' } }
  const location = (await as('admin', 'POST', `authentication/executions/${condition.id}/config`, config)).headers
    .location
  const ldap = {
    name: 'directory',
    providerId: 'ldap',
    providerType: 'org.keycloak.storage.UserStorageProvider',
    config: { editMode: ['READ_ONLY'], connectionUrl: ['ldap://ldap.example'], usersDn: ['ou=staff'] },
  }
  expect(await as('admin', 'POST', 'components', ldap)).toMatchObject({ status: 201 })
  const components = (await as('admin', 'GET', 'components')).body as Record<string, string>[]
  const componentOf = (providerId: string) => components.find((component) => component.providerId === providerId)!.id
  const action = (await as('admin', 'GET', 'authentication/required-actions/CONFIGURE_TOTP')).body
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `authentication/config/${String(location).split('/').at(-1)}`],
    ['DELETE', `authentication/executions/${condition.id}`],
    ['DELETE', `authentication/flows/${(await find(adminRealm, 'authentication/flows', 'alias', 'mine')).id}`],
    ['DELETE', 'authentication/required-actions/CONFIGURE_TOTP'],
    ['PUT', 'authentication/required-actions/CONFIGURE_TOTP', { ...action, enabled: false }],
    ['PUT', 'authentication/required-actions/CONFIGURE_TOTP', { ...action, enabled: null }],
    ['DELETE', `components/${componentOf('ldap')}`],
    ['DELETE', `components/${componentOf('rsa-generated')}`],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('admin', 'GET', 'authentication/required-actions/CONFIGURE_TOTP')).body).toEqual(action)
  const renamed = { ...action, name: 'Second factor' }
  expect((await as('manager', 'PUT', 'authentication/required-actions/CONFIGURE_TOTP', renamed)).status).toBe(204)
})

/** Lets a step of a flow depend on a role, by the name that its settings have for it. */
async function dependOn(adminRealm: AdminRealm, condUserRole: string) {
  await adminRealm.as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'mine' })
  const steps = (await adminRealm.as('admin', 'GET', 'authentication/flows/mine/executions')).body as Record<
    string,
    string
  >[]
  const condition = steps.find(({ providerId }) => providerId === 'conditional-credential')!
  const config = { alias: 'only', config: { condUserRole } }
  expect(
    (await adminRealm.as('admin', 'POST', `authentication/executions/${condition.id}/config`, config)).status,
  ).toBe(201)
}

test('a realm role in a condition of a flow is not deleted, renamed, created or made composite by a weaker caller', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = adminRealm
  for (const name of ['staff', 'employee', 'other']) await as('admin', 'POST', 'roles', { name })
  const [staff, other] = await Promise.all(
    ['staff', 'other'].map(async (name) => (await as('admin', 'GET', `roles/${name}`)).body),
  )
  await as('admin', 'POST', 'roles/employee/composites', [staff])
  await dependOn(adminRealm, 'staff')
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
  expect((await as('admin', 'GET', 'roles/employee/composites')).body).toMatchObject([{ name: 'staff' }])

  // Without its role the condition is true for every user, until there is a role with that name.
  await as('admin', 'DELETE', 'roles/staff')
  await expectForbidden('manager', 'POST', 'roles', { name: 'staff' })
  await expectForbidden('manager', 'PUT', 'roles/other', { name: 'staff' })

  expect((await as('manager', 'PUT', 'roles/other', { ...other, description: 'x' })).status).toBe(204)
  expect((await as('manager', 'POST', 'roles', { name: 'another' })).status).toBe(201)
  expect((await as('manager', 'DELETE', 'roles/other')).status).toBe(204)
})

test('a client with a role in a condition of a flow is not deleted, renamed or replaced by a weaker caller', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = adminRealm
  for (const clientId of ['shop', 'stall']) await as('admin', 'POST', 'clients', { clientId })
  const [shop, stall] = await Promise.all(
    ['shop', 'stall'].map(async (name) => (await find(adminRealm, 'clients', 'clientId', name)).id),
  )
  await as('admin', 'POST', `clients/${shop}/roles`, { name: 'staff' })
  await dependOn(adminRealm, 'shop.staff')
  await expectForbidden('manager', 'DELETE', `clients/${shop}`)
  await expectForbidden('manager', 'PUT', `clients/${shop}`, { clientId: 'former' })
  await expectForbidden('manager', 'DELETE', `clients/${shop}/roles/staff`)
  expect((await as('manager', 'POST', `clients/${shop}/roles`, { name: 'other' })).status).toBe(201)

  await as('admin', 'DELETE', `clients/${shop}`)
  await expectForbidden('manager', 'PUT', `clients/${stall}`, { clientId: 'shop' })
  const { location } = (await as('manager', 'POST', 'clients', { clientId: 'shop' })).headers
  await expectForbidden('manager', 'POST', `clients/${String(location).split('/').at(-1)}/roles`, { name: 'staff' })
})

test.each([
  ['otpPolicyLookAheadWindow', { otpPolicyLookAheadWindow: 2_000_000 }],
  ['otpPolicyCodeReusable', { otpPolicyCodeReusable: true }],
  ['the attribute realmReusableOtpCode', { attributes: { realmReusableOtpCode: 'true' } }],
])('PUT of a realm that accepts more one-time codes by %s returns 403 for a weaker caller', async (_, settings) => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  await expectForbidden('manager', 'PUT', '', settings)
  expect((await as('admin', 'PUT', '', settings)).status).toBe(204)
})

test('every field that binds a flow controls the login', async () => {
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
])('PUT of a realm with another %s by a weaker caller returns 403', async (field) => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  await as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'mine' })
  await expectForbidden('manager', 'PUT', '', { [field]: 'mine' })
})

test('binding flows of an identity provider requires the permission for flows, except for the default flow', async () => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  const corp = { alias: 'corp', providerId: 'github' }
  const bind = (flows: object) => ['POST', 'identity-provider/instances', { ...corp, ...flows }] as const
  await as('admin', 'POST', 'authentication/flows/first broker login/copy', { newName: 'mine' })
  await expectForbidden('manager', ...bind({ firstBrokerLoginFlowAlias: 'mine' }))
  await expectForbidden('manager', ...bind({ postBrokerLoginFlowAlias: 'browser' }))
  expect((await as('manager', ...bind({ firstBrokerLoginFlowAlias: 'first broker login' }))).status).toBe(201)
})

test('DELETE of a realm requires manage-realm, and deletes its admin client in master', async () => {
  const { as, name } = await createAdminRealm({ manager: 'manage-realm' })
  expect((await as('manager', 'DELETE', '')).status).toBe(204)
  const { call } = await testServer()
  expect((await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)).body).toEqual([])
})
