// Fine-grained admin permissions and the privilege rule: nobody gets permissions that they lack, neither by roles nor by policies.
import { beforeAll, expect, test } from 'vitest'
import { createPolicyRealm, type PolicyRealm, toUser } from '../support/admin-policies.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()
let realm: PolicyRealm
const ids: Record<string, string> = {}

/** `helper` manages all users, and may give them all roles and groups; `lead` manages clients too, by policies for a user, a role or a group. */
beforeAll(async () => {
  realm = await createPolicyRealm({
    groups: [{ name: 'leades', subGroups: [{ name: 'deputies' }] }, { name: 'team' }],
    roles: { realm: [{ name: 'lead' }, { name: 'plain' }] },
    users: [
      toUser('editor'),
      toUser('helper', { clientRoles: { 'realm-management': ['query-users'] } }),
      toUser('weak', { clientRoles: { 'realm-management': ['manage-authorization', 'manage-realm', 'view-clients'] } }),
      toUser('lead-by-user'),
      toUser('lead-by-role', { realmRoles: ['lead'] }),
      toUser('lead-by-group', { groups: ['/leades/deputies'] }),
      toUser('ann'),
    ],
    clients: [{ clientId: 'app', publicClient: true, directAccessGrantsEnabled: true }],
  })
  for (const name of ['helper', 'lead-by-user', 'lead-by-role', 'lead-by-group', 'ann'])
    ids[name] = await realm.findId('/users', 'username', name)
  for (const name of ['lead', 'plain']) ids[`role ${name}`] = await realm.findId('/roles', 'name', name)
  for (const name of ['leades', 'team']) ids[`group ${name}`] = await realm.findId('/groups', 'name', name)
  ids['group deputies'] = await realm.findId(`/groups/${ids['group leades']}/children`, 'name', 'deputies')
  const helper = await realm.addPolicy('user', { users: [ids.helper] })
  const scopes = ['view', 'manage', 'map-roles', 'manage-group-membership', 'reset-password', 'impersonate']
  await realm.addPermission({ resourceType: 'Users', scopes, policies: [helper] })
  await realm.addPermission({ resourceType: 'Groups', scopes: ['view', 'manage-membership'], policies: [helper] })
  await realm.addPermission({ resourceType: 'Roles', scopes: ['map-role'], policies: [helper] })
  const policies = [
    await realm.addPolicy('user', { users: [ids['lead-by-user']] }),
    await realm.addPolicy('role', { roles: [{ id: ids['role lead'] }] }),
    await realm.addPolicy('group', { groups: [{ id: ids['group leades'], extendChildren: true }] }),
  ]
  for (const policy of policies)
    await realm.addPermission({ resourceType: 'Clients', scopes: ['view', 'manage'], policies: [policy] })
})

test('a caller cannot act as a user who has permissions by a policy that the caller lacks', async () => {
  const token = await realm.logIn('helper')
  const setPassword = async (name: string) => {
    const body = { type: 'password', value: 'new', temporary: true }
    return (await call('PUT', realm.path(`/users/${ids[name]}/reset-password`), { token, body })).status
  }
  const impersonate = async (name: string) =>
    (await call('POST', realm.path(`/users/${ids[name]}/impersonation`), { token, body: {} })).status
  for (const name of ['lead-by-user', 'lead-by-role', 'lead-by-group']) {
    expect([name, await setPassword(name)]).toEqual([name, 403])
    expect([name, await impersonate(name)]).toEqual([name, 403])
  }
  expect(await setPassword('ann')).toBe(204)
})

test('a caller cannot give a role or a group to which a policy gives permissions that the caller lacks', async () => {
  const token = await realm.logIn('helper')
  const giveRole = async (name: string) => {
    const body = [{ id: ids[`role ${name}`], name }]
    return (await call('POST', realm.path(`/users/${ids.ann}/role-mappings/realm`), { token, body })).status
  }
  const join = async (name: string) =>
    (await call('PUT', realm.path(`/users/${ids.ann}/groups/${ids[`group ${name}`]}`), { token })).status
  expect(await giveRole('plain')).toBe(204)
  expect(await giveRole('lead')).toBe(403)
  expect(await join('team')).toBe(204)
  expect(await join('leades')).toBe(403)
  expect(await join('deputies')).toBe(403)
})

test('a caller without all that policies can give changes neither policies nor whether they count', async () => {
  const token = await realm.logIn('weak')
  const client = await realm.findId('/clients', 'clientId', 'admin-permissions')
  const server = realm.path(`/clients/${client}/authz/resource-server`)
  const { body: policies } = await call('GET', `${server}/policy?permission=false`, { token })
  const [policy] = policies
  const requests: [method: string, path: string, body?: object][] = [
    ['POST', `${server}/policy/user`, { name: 'mine', users: [ids.ann] }],
    ['DELETE', `${server}/policy/${policy.id}`],
    ['POST', `${server}/permission/scope`, { name: 'mine', resourceType: 'Users', scopes: ['view'], policies: [] }],
    ['PUT', realm.path(''), { adminPermissionsEnabled: false }],
  ]
  for (const [method, path, body] of requests)
    expect([path, (await call(method, path, { token, ...(body && { body }) })).status]).toEqual([path, 403])
})

test('the token of a client that a weaker administrator has changed carries no permissions by policies', async () => {
  const list = async () =>
    (await call('GET', realm.path('/users?max=1'), { token: await realm.logIn('helper', 'app') })).status
  expect(await list()).toBe(200)
  const editor = await realm.addPolicy('user', { users: ['editor'] })
  await realm.addPermission({ resourceType: 'Clients', resources: ['app'], scopes: ['manage'], policies: [editor] })
  const app = await realm.findId('/clients', 'clientId', 'app')
  const update = {
    token: await realm.logIn('editor'),
    body: { clientId: 'app', redirectUris: ['https://app.example.org/*'] },
  }
  expect(await call('PUT', realm.path(`/clients/${app}`), update)).toMatchObject({ status: 204 })
  const { status, body: users } = await call('GET', realm.path('/users?max=1'), {
    token: await realm.logIn('helper', 'app'),
  })
  expect([status, users]).toEqual([403, expect.anything()])
})

test('the resource of a deleted object, and the permissions on it alone, are deleted', async () => {
  const { path, findId, addPolicy, addPermission } = await createPolicyRealm({
    users: [toUser('ann'), toUser('bob')],
    groups: [{ name: 'team' }],
  })
  const [ann, bob] = [await findId('/users', 'username', 'ann'), await findId('/users', 'username', 'bob')]
  const team = await findId('/groups', 'name', 'team')
  const policies = [await addPolicy('user', { users: [bob] })]
  await addPermission({ resourceType: 'Users', resources: [ann], scopes: ['view'], policies })
  await addPermission({ resourceType: 'Users', resources: ['ann', 'bob'], scopes: ['view'], policies })
  await addPermission({ resourceType: 'Groups', resources: [team], scopes: ['view'], policies })
  const client = await findId('/clients', 'clientId', 'admin-permissions')
  const count = async (list: string) =>
    (await call('GET', path(`/clients/${client}/authz/resource-server/${list}?max=100`))).body.length
  expect([await count('resource'), await count('permission')]).toEqual([8, 3])
  await call('DELETE', path(`/users/${ann}`))
  await call('DELETE', path(`/groups/${team}`))
  expect([await count('resource'), await count('permission')]).toEqual([6, 1])
})

test('an export contains permissions on single objects, and its plan is empty', async () => {
  const {
    realm: name,
    findId,
    addPolicy,
    addPermission,
  } = await createPolicyRealm({
    users: [toUser('ann')],
    groups: [{ name: 'team' }],
  })
  const policies = [await addPolicy('group', { groups: [{ path: '/team' }] })]
  await addPermission({ resourceType: 'Users', resources: ['ann'], scopes: ['view'], policies })
  const team = await findId('/groups', 'name', 'team')
  await addPermission({ resourceType: 'Groups', resources: [team], scopes: ['view-members'], policies })
  const { body: exported } = await call('GET', `/regent/v1/export/${name}`)
  const files = [{ file: 'x.json', text: JSON.stringify(exported), values: [{}] }]
  const body = { name: 'export', revision: '1', files }
  const { status, body: report } = await call('POST', '/regent/v1/plan', { body })
  expect(status).toBe(200)
  expect(report.realms[0].plan.actions).toEqual([])
  expect(JSON.stringify(exported)).toContain(team)
})
