// A caller cannot take over a user with more admin permissions by credentials, impersonation or identity providers.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { users } from '../../src/service/users/users.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call, create } = await testServer()
const { service, statements } = await testService()

const otp = {
  id: 'admin-otp',
  type: 'otp',
  secretData: '{"value":"abcdefghij"}',
  credentialData: '{"subType":"totp","digits":6,"period":30,"algorithm":"HmacSHA1"}',
}

test('changing credentials, email or identities of a stronger user, and impersonating the user, return 403', async () => {
  const {
    path,
    name,
    users: userIds,
    as,
    expectForbidden,
  } = await createAdminRealm({
    manager: 'manage-users impersonation',
    weak: 'view-users',
  })
  const admin = `users/${userIds.admin}`
  await service.write(SYSTEM, name, async (context) => {
    const liveUsers = await users.list(context, { ids: [userIds.admin!] })
    await users.update(context, [{ live: liveUsers[0]!, set: { credentials: [otp] } }])
  })
  await create(`${path}/identity-provider/instances`, { alias: 'other-idp', providerId: 'github' })
  const password = { type: 'password', value: 'new' }
  await expectForbidden('manager', 'PUT', `${admin}/reset-password`, password)
  await expectForbidden('manager', 'PUT', admin, { credentials: [password] })
  await expectForbidden('manager', 'PUT', admin, { email: 'changed@example.org' })
  await expectForbidden('manager', 'POST', `${admin}/federated-identity/other-idp`, { userId: 'changed' })
  await expectForbidden('manager', 'DELETE', `${admin}/credentials/${otp.id}`)
  await expectForbidden('manager', 'PUT', `${admin}/remove-totp`)
  await expectForbidden('manager', 'POST', `${admin}/impersonation`)
  expect((await as('manager', 'PUT', admin, { firstName: 'Other', enabled: false })).status).toBe(204)
  await expectForbidden('manager', 'PUT', admin, { enabled: true })
  expect((await call('GET', `${path}/${admin}/credentials`)).body).toHaveLength(2)

  const weak = `users/${userIds.weak}`
  expect((await as('manager', 'PUT', `${weak}/reset-password`, password)).status).toBe(204)
  expect((await as('manager', 'PUT', weak, { email: 'new@example.org' })).status).toBe(204)
  const link = await as('manager', 'POST', `${weak}/federated-identity/other-idp`, { userId: 'linked' })
  expect(link.status).toBe(204)
  expect((await as('manager', 'POST', `${weak}/impersonation`)).status).toBe(200)
})

test('changing an identity provider of a stronger user, or granting roles by its mappers, returns 403', async () => {
  const { path, users: userIds, as, expectForbidden } = await createAdminRealm({ manager: 'manage-identity-providers' })
  const provider = { providerId: 'github', enabled: true, config: { clientId: 'a', clientSecret: 'b' } }
  await create(`${path}/identity-provider/instances`, { ...provider, alias: 'linked' })
  const link = `${path}/users/${userIds.admin}/federated-identity/linked`
  expect((await call('POST', link, { body: { userId: 'admin' } })).status).toBe(204)
  const changedProvider = { ...provider, config: { clientId: 'changed', clientSecret: 'changed' } }
  const toRequest = (alias: string) => [`identity-provider/instances/${alias}`, { ...changedProvider, alias }] as const
  await expectForbidden('manager', 'PUT', ...toRequest('linked'))
  expect((await as('manager', 'POST', 'identity-provider/instances', { ...provider, alias: 'unlinked' })).status).toBe(
    201,
  )
  expect((await as('manager', 'PUT', ...toRequest('unlinked'))).status).toBe(204)

  const mappers = 'identity-provider/instances/unlinked/mappers'
  const toMapper = (type: string, config: object) => ({
    name: type,
    identityProviderAlias: 'unlinked',
    identityProviderMapper: type,
    config: { syncMode: 'INHERIT', ...config },
  })
  await expectForbidden(
    'manager',
    'POST',
    mappers,
    toMapper('oidc-hardcoded-role-idp-mapper', { role: 'administrator' }),
  )
  const clientRoleMapper = toMapper('oidc-hardcoded-role-idp-mapper', { role: 'realm-management.realm-admin' })
  expect((await as('manager', 'POST', mappers, clientRoleMapper)).status).toBe(403)
  await expectForbidden(
    'manager',
    'POST',
    mappers,
    toMapper('oidc-advanced-group-idp-mapper', { group: '/realm-admins' }),
  )
  const permittedMapper = toMapper('oidc-hardcoded-role-idp-mapper', { role: 'offline_access' })
  const response = await as('manager', 'POST', mappers, permittedMapper)
  expect(response.status).toBe(201)
  const id = String(response.headers.location).split('/').at(-1)!
  const strongerMapper = { ...permittedMapper, id, config: { syncMode: 'INHERIT', role: 'administrator' } }
  await expectForbidden('manager', 'PUT', `${mappers}/${id}`, strongerMapper)
})

/** A step of the built-in browser flow, which the copy of the flow has, too. */
type Execution = Readonly<Record<'id' | 'providerId', string>>

/** Creates a realm with roles, groups and attributes that conditions name, and returns functions that return ids. */
async function createConditionRealm() {
  const adminRealm = await createAdminRealm({ manager: 'manage-users', weak: 'view-users' })
  const { as, path } = adminRealm
  await as('admin', 'PUT', 'users/profile', { unmanagedAttributePolicy: 'ENABLED' })
  const createNamed = async (collection: string, name: string, fields: object = {}) => {
    const { status, headers, body } = await as('admin', 'POST', collection, { name, ...fields })
    expect(status, JSON.stringify(body)).toBe(201)
    return String(headers.location).split('/').at(-1)!
  }
  const createRole = async (name: string) => {
    await createNamed('roles', name)
    return (await as('admin', 'GET', `roles/${name}`)).body
  }
  const [staff, employee, other] = [await createRole('staff'), await createRole('employee'), await createRole('other')]
  await as('admin', 'POST', 'roles/employee/composites', [staff])
  const team = await createNamed('groups', 'team')
  await as('admin', 'POST', `groups/${team}/role-mappings/realm`, [employee])
  const inner = await createNamed(`groups/${team}/children`, 'inner')
  const tagged = await createNamed('groups', 'tagged', { attributes: { level: ['2'] } })
  const plain = await createNamed('groups', 'plain')
  const addConditions = async () => {
    await as('admin', 'POST', 'authentication/flows/browser/copy', { newName: 'custom' })
    const provider = (name: string) => ({ provider: name })
    for (const [name, config] of [
      ['conditional-user-role', { condUserRole: 'staff' }],
      ['conditional-user-attribute', { attribute_name: 'level', include_group_attributes: 'true' }],
    ] as const) {
      await as('admin', 'POST', 'authentication/flows/custom forms/executions/execution', provider(name))
      const executions = (await as('admin', 'GET', 'authentication/flows/custom/executions')).body as Execution[]
      const { id } = executions.find(({ providerId }) => providerId === name)!
      const response = await as('admin', 'POST', `authentication/executions/${id}/config`, { alias: name, config })
      expect(response.status).toBe(201)
    }
  }
  return {
    ...adminRealm,
    path,
    roles: { staff, employee, other },
    groups: { team, inner, tagged, plain },
    addConditions,
  }
}

const toProfile = (username: string) => ({ email: `${username}@example.org`, firstName: 'A', lastName: 'B' })

/** Returns changes of whether conditions hold for a user. The user has the role staff and is in no group. */
function listChangesOfUser(username: string, realm: Awaited<ReturnType<typeof createConditionRealm>>) {
  const { roles, groups, users: userIds } = realm
  const user = `users/${userIds[username]}`
  const changes: [method: string, address: string, body?: object][] = [
    ['DELETE', `${user}/role-mappings/realm`, [roles.staff]],
    ['POST', `${user}/role-mappings/realm`, [roles.employee]],
    ['PUT', `${user}/groups/${groups.team}`],
    ['PUT', `${user}/groups/${groups.inner}`],
    ['DELETE', `${user}/groups/${groups.inner}`],
    ['PUT', `${user}/groups/${groups.tagged}`],
    ['PUT', user, { ...toProfile(username), attributes: { level: ['2'] } }],
  ]
  return changes
}

test('changing for a stronger user whether a condition of a flow holds returns 403', async () => {
  const realm = await createConditionRealm()
  const { as, expectForbidden, users: userIds, roles, groups, addConditions } = realm
  for (const user of [userIds.admin, userIds.weak])
    await as('admin', 'POST', `users/${user}/role-mappings/realm`, [roles.staff])
  await addConditions()
  const admin = `users/${userIds.admin}`
  await as('admin', 'PUT', `${admin}/groups/${groups.inner}`)
  const changes = listChangesOfUser('admin', realm)
  for (const change of changes.filter(([method, address]) => method !== 'PUT' || !address.endsWith(groups.inner)))
    await expectForbidden('manager', ...change)
  await as('admin', 'DELETE', `${admin}/groups/${groups.inner}`)
  await expectForbidden('manager', 'PUT', `${admin}/groups/${groups.inner}`)
  expect((await as('admin', 'GET', `${admin}/role-mappings/realm`)).body).toContainEqual(
    expect.objectContaining({ name: 'staff' }),
  )
  // The others change no condition, or concern a weaker user.
  const permitted: typeof changes = [
    ['POST', `${admin}/role-mappings/realm`, [roles.other]],
    ['PUT', `${admin}/groups/${groups.plain}`],
    ['PUT', admin, { ...toProfile('admin'), firstName: 'Other', attributes: { color: ['red'] } }],
    ...listChangesOfUser('weak', realm),
  ]
  for (const [method, address, body] of permitted)
    expect((await as('manager', method, address, body)).status, `${method} ${address}`).toBe(204)
})

test('changing for the members of a group whether a condition of a flow holds returns 403 for a weaker caller', async () => {
  const { as, expectForbidden, roles, groups, addConditions } = await createConditionRealm()
  await addConditions()
  const attempts: [method: string, address: string, body?: object][] = [
    ['DELETE', `groups/${groups.team}/role-mappings/realm`, [roles.employee]],
    ['POST', `groups/${groups.plain}/role-mappings/realm`, [roles.staff]],
    ['PUT', `groups/${groups.tagged}`, { name: 'tagged', attributes: {} }],
    ['PUT', `groups/${groups.plain}`, { name: 'plain', attributes: { level: ['3'] } }],
    ['POST', `groups/${groups.team}/children`, { id: groups.plain, name: 'plain' }],
    ['POST', 'groups', { id: groups.inner, name: 'inner' }],
    ['DELETE', `groups/${groups.inner}`],
    ['DELETE', `groups/${groups.team}`],
    ['DELETE', `groups/${groups.tagged}`],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  const permitted: typeof attempts = [
    ['POST', `groups/${groups.plain}/role-mappings/realm`, [roles.other]],
    ['PUT', `groups/${groups.plain}`, { name: 'renamed', attributes: { color: ['red'] } }],
    ['DELETE', `groups/${groups.plain}`],
  ]
  for (const [method, address, body] of permitted)
    expect((await as('manager', method, address, body)).status, `${method} ${address}`).toBe(204)
})

test('without a condition, role mappings, groups and attributes of a stronger user can be changed', async () => {
  const realm = await createConditionRealm()
  const { as, users: userIds, roles } = realm
  const admin = `users/${userIds.admin}`
  await as('admin', 'POST', `${admin}/role-mappings/realm`, [roles.staff])
  for (const [method, address, body] of listChangesOfUser('admin', realm))
    expect((await as('manager', method, address, body)).status, `${method} ${address}`).toBe(204)
})

test('a source with fewer permissions than a user cannot grant or revoke the role of a condition', async () => {
  const { name, addConditions } = await createConditionRealm()
  await addConditions()
  const declareUsers = (realmRoles: string[]) => ({
    ...createSource([{ realm: name, users: ['admin', 'weak'].map((username) => ({ username, realmRoles })) }], name),
    sourcePermissions: { roles: ['manage-users' as const, 'view-users' as const] },
  })
  const problem = { message: expect.stringContaining(`you lack realm-admin of ${name}`) }
  await expect(applySource(service, declareUsers(['staff']))).rejects.toMatchObject({ problems: [problem] })
  await applySource(service, { ...declareUsers(['staff']), sourcePermissions: {} })
  await expect(applySource(service, declareUsers([]))).rejects.toMatchObject({ problems: [problem] })
  await applySource(service, { ...declareUsers([]), sourcePermissions: {} })
})

test('a document that changes conditions for twenty users costs as many statements as one for two', async () => {
  const counts: number[] = []
  for (const size of [2, 20]) {
    const { name, addConditions } = await createConditionRealm()
    await addConditions()
    const declareUsers = (fields: object) => {
      const declared = Array.from({ length: size }, (_, at) => ({ username: `user-${at}`, ...fields }))
      return {
        ...createSource([{ realm: name, users: declared }], name),
        sourcePermissions: { roles: ['manage-users' as const] },
      }
    }
    await applySource(service, declareUsers({ realmRoles: [] }))
    const change = declareUsers({ realmRoles: ['staff'], groups: ['/tagged'], attributes: { level: ['2'] } })
    counts.push((await statements(() => applySource(service, change))).length)
  }
  expect(counts[1]).toBe(counts[0])
})
