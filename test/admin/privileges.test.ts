// Nobody gains administrative power beyond their own: by roles inside of others, groups, and what everybody new has.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { createAdminRealm } from '../support/realm-with-boss.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make } = await testServer()
const { service } = await testService()

test('who manages users gives no role that they lack, by no role and by no group', async () => {
  const { path, users: people, adminRole, adminGroup, as, expectForbidden } = await createAdminRealm({ manager: 'manage-users' })
  await expectForbidden('manager', 'POST', `users/${people.manager}/role-mappings/realm`, [adminRole])
  await expectForbidden('manager', 'PUT', `users/${people.manager}/groups/${adminGroup}`)
  await expectForbidden('manager', 'POST', 'users', { username: 'new', groups: ['/bosses'] })
  await expectForbidden('manager', 'POST', `groups/${adminGroup}/children`, { name: 'below' })
  const staff = (await make(`${path}/groups`, { name: 'staff' })).split('/').at(-1)!
  await expectForbidden('manager', 'POST', `groups/${staff}/role-mappings/realm`, [adminRole])
  await expectForbidden('manager', 'POST', `groups/${adminGroup}/children`, { id: staff, name: 'staff' })
  expect((await as('manager', 'PUT', `users/${people.manager}/groups/${staff}`)).status).toBe(204)
  expect((await as('manager', 'POST', `groups/${staff}/children`, { name: 'below' })).status).toBe(201)
})

test('who manages a realm lets no role contain one that they lack, nor does everybody new get it', async () => {
  const { path, name, adminRole, adminGroup, as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  await expectForbidden('manager', 'POST', 'roles', { name: 'new', composites: { realm: ['powerful'] } })
  await expectForbidden('manager', 'POST', `roles/default-roles-${name}/composites`, [adminRole])
  await expectForbidden('manager', 'PUT', `default-groups/${adminGroup}`)
  await make(`${path}/roles`, { name: 'plain' })
  const stated = { name: 'plain', composites: { realm: ['powerful'] } }
  expect((await as('manager', 'PUT', 'roles/plain', stated)).status).toBe(204)
  expect((await call('GET', `${path}/roles/plain/composites`)).body).toEqual([])
  const settings = { defaultGroups: ['/bosses'], defaultRoles: ['powerful'] }
  expect((await as('manager', 'PUT', '', settings)).status).toBe(204)
  expect((await call('GET', `${path}/default-groups`)).body).toEqual([])
})

test('who makes people or accounts of clients gives them what everybody new has', async () => {
  const { path, name, users: people, adminRole, expectForbidden } = await createAdminRealm({ manager: 'manage-users manage-clients' })
  const shared = (await call('GET', `${path}/roles/default-roles-${name}`)).body
  await call('POST', `${path}/roles-by-id/${shared.id}/composites`, { body: [adminRole] })
  await call('DELETE', `${path}/users/${people.manager}/role-mappings/realm`, { body: [shared] })
  await expectForbidden('manager', 'POST', 'users', { username: 'new' })
  await expectForbidden('manager', 'POST', 'clients', { clientId: 'new', serviceAccountsEnabled: true })
})

test('a role is not called by the name of one that administers', async () => {
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
