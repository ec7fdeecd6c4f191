// No caller grants admin permissions beyond their own: by composite roles, groups or default roles.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make } = await testServer()
const { service } = await testService()

test('a manager of users cannot grant a role that they lack, directly, by a composite role or by a group', async () => {
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
  await expectForbidden('manager', 'POST', `groups/${adminGroup}/children`, { name: 'below' })
  const staff = (await make(`${path}/groups`, { name: 'staff' })).split('/').at(-1)!
  await expectForbidden('manager', 'POST', `groups/${staff}/role-mappings/realm`, [adminRole])
  await expectForbidden('manager', 'POST', `groups/${adminGroup}/children`, { id: staff, name: 'staff' })
  expect((await as('manager', 'PUT', `users/${userIds.manager}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'POST', `groups/${staff}/children`, { name: 'below' })).status).toBe(201)
})

test('a manager of a realm cannot add a role that they lack to a composite role or to the default roles', async () => {
  const { path, name, adminRole, adminGroup, as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  await expectForbidden('manager', 'POST', 'roles', { name: 'new', composites: { realm: ['administrator'] } })
  await expectForbidden('manager', 'POST', `roles/default-roles-${name}/composites`, [adminRole])
  await expectForbidden('manager', 'PUT', `default-groups/${adminGroup}`)
  await make(`${path}/roles`, { name: 'plain' })
  const declared = { name: 'plain', composites: { realm: ['administrator'] } }
  expect((await as('manager', 'PUT', 'roles/plain', declared)).status).toBe(204)
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
  const shared = (await call('GET', `${path}/roles/default-roles-${name}`)).body
  await call('POST', `${path}/roles-by-id/${shared.id}/composites`, { body: [adminRole] })
  await call('DELETE', `${path}/users/${userIds.manager}/role-mappings/realm`, { body: [shared] })
  await expectForbidden('manager', 'POST', 'users', { username: 'new' })
  await expectForbidden('manager', 'POST', 'clients', { clientId: 'new', serviceAccountsEnabled: true })
})

test('a role cannot get the name of an admin role', async () => {
  const { name, as } = await createAdminRealm({ manager: 'manage-realm manage-clients' })
  const title = { keys: [['client', 'realm-management', 'view-events']] }
  await service.write(SYSTEM, name, async (context) =>
    writers.role.delete(context, await writers.role.list(context, title)),
  )
  const bring = (role: string) =>
    as('manager', 'POST', 'partialImport', { roles: { client: { 'realm-management': [{ name: role }] } } })
  const refusal = await bring('view-events')
  expect([refusal.status, JSON.stringify(refusal.body)]).toEqual([
    403,
    expect.stringContaining('you lack view-events of'),
  ])
  expect((await bring('harmless')).status).toBe(200)
})
