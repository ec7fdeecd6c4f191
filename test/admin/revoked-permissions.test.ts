// Removing admin permissions requires the same permissions as granting them: a caller could take over the user and wait until they are granted again.
import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { type AdminRealm, createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'

const MANAGER = { manager: 'manage-users manage-realm manage-clients manage-identity-providers' }

/** Returns the object of a collection whose field has the value. */
const findObject = async ({ as }: AdminRealm, collection: string, field: string, value: string) => {
  const { body } = await as('admin', 'GET', collection)
  return (body as Record<string, string>[]).find((object) => object[field] === value)!
}

test('deleting a group or role with more admin permissions than the caller, and removing users from it, return 403', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden, adminGroup, users: userIds, adminRole } = adminRealm
  await as('admin', 'PUT', `users/${userIds.admin}/groups/${adminGroup}`)
  await as('admin', 'POST', `groups/${adminGroup}/children`, { name: 'subgroup' })
  const [subgroup] = (await as('admin', 'GET', `groups/${adminGroup}/children`)).body
  await as('admin', 'POST', 'roles', { name: 'composite' })
  await as('admin', 'POST', 'roles/composite/composites', [adminRole])
  await as('admin', 'POST', 'clients', { clientId: 'robot', serviceAccountsEnabled: true, secret: 'secret' })
  const robot = (await findObject(adminRealm, 'clients', 'clientId', 'robot')).id
  const account = (await as('admin', 'GET', `clients/${robot}/service-account-user`)).body.id
  await as('admin', 'POST', `users/${account}/role-mappings/realm`, [adminRole])
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `users/${userIds.admin}/groups/${adminGroup}`],
    ['DELETE', `groups/${adminGroup}`],
    ['DELETE', 'roles/composite'],
    ['DELETE', `roles-by-id/${adminRole.id}`],
    // Without its service account, the client lacks admin permissions, so the caller could change its secret before the account is restored.
    ['PUT', `clients/${robot}`, { clientId: 'robot', serviceAccountsEnabled: false }],
    // Outside its parent, the group loses the role.
    ['POST', 'groups', { id: subgroup.id, name: 'subgroup' }],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('admin', 'GET', `users/${userIds.admin}/groups`)).body).toHaveLength(1)

  // A group without admin permissions can be deleted.
  await as('admin', 'POST', 'groups', { name: 'staff' })
  const staff = (await findObject(adminRealm, 'groups', 'name', 'staff')).id
  expect((await as('manager', 'PUT', `users/${userIds.admin}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'DELETE', `users/${userIds.admin}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'DELETE', `groups/${staff}`)).status).toBe(204)
})

test('deleting or disabling parts of flows, required actions, keys and user stores returns 403 for a weaker caller', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = adminRealm
  await as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'custom' })
  const executions = (await as('admin', 'GET', 'authentication/flows/custom/executions')).body as Record<
    string,
    string
  >[]
  const condition = executions.find(({ providerId }) => providerId === 'conditional-credential')!
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
  const getComponentId = (providerId: string) => components.find((component) => component.providerId === providerId)!.id
  const requiredAction = (await as('admin', 'GET', 'authentication/required-actions/CONFIGURE_TOTP')).body
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `authentication/config/${String(location).split('/').at(-1)}`],
    ['DELETE', `authentication/executions/${condition.id}`],
    ['DELETE', `authentication/flows/${(await findObject(adminRealm, 'authentication/flows', 'alias', 'custom')).id}`],
    ['DELETE', 'authentication/required-actions/CONFIGURE_TOTP'],
    ['PUT', 'authentication/required-actions/CONFIGURE_TOTP', { ...requiredAction, enabled: false }],
    ['PUT', 'authentication/required-actions/CONFIGURE_TOTP', { ...requiredAction, enabled: null }],
    ['DELETE', `components/${getComponentId('ldap')}`],
    ['DELETE', `components/${getComponentId('rsa-generated')}`],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('admin', 'GET', 'authentication/required-actions/CONFIGURE_TOTP')).body).toEqual(requiredAction)
  const renamed = { ...requiredAction, name: 'Second factor' }
  expect((await as('manager', 'PUT', 'authentication/required-actions/CONFIGURE_TOTP', renamed)).status).toBe(204)
})

/** Adds a role, by its name in configurations, to a condition of a flow. */
async function addRoleCondition(adminRealm: AdminRealm, condUserRole: string) {
  await adminRealm.as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'custom' })
  const executions = (await adminRealm.as('admin', 'GET', 'authentication/flows/custom/executions')).body as Record<
    string,
    string
  >[]
  const condition = executions.find(({ providerId }) => providerId === 'conditional-credential')!
  const config = { alias: 'only', config: { condUserRole } }
  expect(
    (await adminRealm.as('admin', 'POST', `authentication/executions/${condition.id}/config`, config)).status,
  ).toBe(201)
}

test('deleting, renaming or creating a realm role in a condition of a flow, and changing its composites, return 403 for a weaker caller', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = adminRealm
  for (const name of ['staff', 'employee', 'other']) await as('admin', 'POST', 'roles', { name })
  const [staff, other] = await Promise.all(
    ['staff', 'other'].map(async (name) => (await as('admin', 'GET', `roles/${name}`)).body),
  )
  await as('admin', 'POST', 'roles/employee/composites', [staff])
  await addRoleCondition(adminRealm, 'staff')
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

  // While the role does not exist, the condition is true for every user.
  await as('admin', 'DELETE', 'roles/staff')
  await expectForbidden('manager', 'POST', 'roles', { name: 'staff' })
  await expectForbidden('manager', 'PUT', 'roles/other', { name: 'staff' })

  expect((await as('manager', 'PUT', 'roles/other', { ...other, description: 'x' })).status).toBe(204)
  expect((await as('manager', 'POST', 'roles', { name: 'another' })).status).toBe(201)
  expect((await as('manager', 'DELETE', 'roles/other')).status).toBe(204)
})

test('deleting, renaming or replacing a client with a role in a condition of a flow returns 403 for a weaker caller', async () => {
  const adminRealm = await createAdminRealm(MANAGER)
  const { as, expectForbidden } = adminRealm
  for (const clientId of ['shop', 'stall']) await as('admin', 'POST', 'clients', { clientId })
  const [shop, stall] = await Promise.all(
    ['shop', 'stall'].map(async (name) => (await findObject(adminRealm, 'clients', 'clientId', name)).id),
  )
  await as('admin', 'POST', `clients/${shop}/roles`, { name: 'staff' })
  await addRoleCondition(adminRealm, 'shop.staff')
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

test('every field that refers to a flow is declared to control the login', async () => {
  const bindings = Object.values(kinds).flatMap(({ name, fields }) =>
    Object.entries(fields).flatMap(([field, { refersTo, loginControl }]) =>
      refersTo === 'authenticationFlow' ? [{ name, field, loginControl }] : [],
    ),
  )
  expect(bindings).toHaveLength(10)
  expect(bindings.filter(({ loginControl }) => loginControl !== true)).toEqual([])
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
  await as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'custom' })
  await expectForbidden('manager', 'PUT', '', { [field]: 'custom' })
})

test('binding flows of an identity provider requires the permission for flows, except for the default flow', async () => {
  const { as, expectForbidden } = await createAdminRealm(MANAGER)
  const corp = { alias: 'corp', providerId: 'github' }
  const toRequest = (flows: object) => ['POST', 'identity-provider/instances', { ...corp, ...flows }] as const
  await as('admin', 'POST', 'authentication/flows/first broker login/copy', { newName: 'custom' })
  await expectForbidden('manager', ...toRequest({ firstBrokerLoginFlowAlias: 'custom' }))
  await expectForbidden('manager', ...toRequest({ postBrokerLoginFlowAlias: 'browser' }))
  expect((await as('manager', ...toRequest({ firstBrokerLoginFlowAlias: 'first broker login' }))).status).toBe(201)
})

test('DELETE of a realm requires manage-realm, and deletes its admin client in master', async () => {
  const { as, name } = await createAdminRealm({ manager: 'manage-realm' })
  expect((await as('manager', 'DELETE', '')).status).toBe(204)
  const { call } = await testServer()
  expect((await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)).body).toEqual([])
})
