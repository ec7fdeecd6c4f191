// No caller can grant admin permissions that they lack, by roles, composite roles, groups or default roles.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create } = await testServer()
const { service } = await testService()

test('granting a role that the caller lacks to a user or group returns 403', async () => {
  const {
    path,
    users: userIds,
    adminRole,
    adminGroup,
    as,
    expectForbidden,
  } = await createAdminRealm({
    manager: 'manage-users',
  })
  await expectForbidden('manager', 'POST', `users/${userIds.manager}/role-mappings/realm`, [adminRole])
  await expectForbidden('manager', 'PUT', `users/${userIds.manager}/groups/${adminGroup}`)
  await expectForbidden('manager', 'POST', 'users', { username: 'new', groups: ['/realm-admins'] })
  await expectForbidden('manager', 'POST', `groups/${adminGroup}/children`, { name: 'subgroup' })
  const staff = (await create(`${path}/groups`, { name: 'staff' })).split('/').at(-1)!
  await expectForbidden('manager', 'POST', `groups/${staff}/role-mappings/realm`, [adminRole])
  await expectForbidden('manager', 'POST', `groups/${adminGroup}/children`, { id: staff, name: 'staff' })
  expect((await as('manager', 'PUT', `users/${userIds.manager}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'POST', `groups/${staff}/children`, { name: 'subgroup' })).status).toBe(201)
})

test('a role that the caller lacks is not added to composite roles, default roles or default groups', async () => {
  const { path, name, adminRole, adminGroup, as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  await expectForbidden('manager', 'POST', 'roles', {
    name: 'new',
    composite: true,
    composites: { realm: ['administrator'] },
  })
  await expectForbidden('manager', 'POST', `roles/default-roles-${name}/composites`, [adminRole])
  await expectForbidden('manager', 'PUT', `default-groups/${adminGroup}`)
  await create(`${path}/roles`, { name: 'plain' })
  const body = { name: 'plain', composites: { realm: ['administrator'] } }
  expect((await as('manager', 'PUT', 'roles/plain', body)).status).toBe(204)
  expect((await call('GET', `${path}/roles/plain/composites`)).body).toEqual([])
  const settings = { defaultGroups: ['/realm-admins'], defaultRoles: ['administrator'] }
  expect((await as('manager', 'PUT', '', settings)).status).toBe(204)
  expect((await call('GET', `${path}/default-groups`)).body).toEqual([])
})

test('creating users or service accounts requires the permissions that the default roles grant', async () => {
  const {
    path,
    name,
    users: userIds,
    adminRole,
    expectForbidden,
  } = await createAdminRealm({
    manager: 'manage-users manage-clients',
  })
  const defaultRole = (await call('GET', `${path}/roles/default-roles-${name}`)).body
  await call('POST', `${path}/roles-by-id/${defaultRole.id}/composites`, { body: [adminRole] })
  await call('DELETE', `${path}/users/${userIds.manager}/role-mappings/realm`, { body: [defaultRole] })
  await expectForbidden('manager', 'POST', 'users', { username: 'new' })
  await expectForbidden('manager', 'POST', 'clients', { clientId: 'new', serviceAccountsEnabled: true })
})

test('a partial import of a role with the name of an admin role that the caller lacks returns 403', async () => {
  const { name, as } = await createAdminRealm({ manager: 'manage-realm manage-clients' })
  const filter = { keys: [['client', 'realm-management', 'view-events']] }
  await service.write(SYSTEM, name, async (context) =>
    writers.role.delete(context, await writers.role.list(context, filter)),
  )
  const importRole = (role: string) =>
    as('manager', 'POST', 'partialImport', { roles: { client: { 'realm-management': [{ name: role }] } } })
  const refusal = await importRole('view-events')
  expect([refusal.status, JSON.stringify(refusal.body)]).toEqual([
    403,
    expect.stringContaining('you lack view-events of'),
  ])
  expect((await importRole('other')).status).toBe(200)
})
