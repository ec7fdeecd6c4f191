// Guards: a plan needs an approval if it deletes or recreates a realm, deletes many objects, adopts a self-registered user,
// or grants admin permissions to an adopted object.
import { beforeEach, expect, test } from 'vitest'
import { applyRun, applySources } from '../../src/reconcile/run/run.ts'
import { approveSavedPlan, planAndSave } from '../../src/reconcile/run/saved-plans.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { getCredentialsByUser } from '../../src/service/users/credentials.ts'
import { type AdminRealm, createAdminRealm } from '../support/admin-realm.ts'
import { dumpRows } from '../support/database-rows.ts'
import { createObject, deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { logInWithPassword } from '../support/password-login.ts'
import { createPlanClient, toSourceBody } from '../support/plan-client.ts'
import { type TestServer, testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, createSource } from '../support/sources.ts'

const { service, statements } = await testService()
const server: TestServer = await testServer()
let realm: string
let regent: ReturnType<typeof createPlanClient>

beforeEach(() => {
  realm = newName()
  regent = createPlanClient(server, `source-of-${realm}`)
})

const listRealmNames = async () => (await service.listRealms()).map(({ name }) => name)
const createRoles = (count: number) => ({ realm: Array.from({ length: count }, (_, at) => ({ name: `role-${at}` })) })
const countPasswords = async (username: string) => {
  const user = await getLiveObject(service, SYSTEM, realm, 'user', username)
  const credentials = await service.read(SYSTEM, realm, (context) => getCredentialsByUser(context, [user]))
  return credentials.get(user.id)?.length ?? 0
}
const listGuards = (outcome: { realms: { guards?: { guard: string }[] }[] }) =>
  outcome.realms.flatMap(({ guards = [] }) => guards.map(({ guard }) => guard))

test('a realm that is removed from the source is deleted only with an approval; other realms of the run are applied', async () => {
  const other = `${realm}-other`
  await regent.apply({ realm, users: [{ username: 'ann' }, { username: 'bob' }] }, { realm: other, displayName: 'One' })
  const outcome = await regent.apply({ realm: other, displayName: 'Two' })
  const { pendingApproval } = outcome.realms.find(({ plan }: { plan: { realm: string } }) => plan.realm === realm)
  expect(pendingApproval.guards).toEqual([
    {
      guard: 'deletesRealm',
      message: expect.stringMatching(`deletes the realm ${realm} with 2 users, \\d clients and 0 sessions`),
      objects: [realm],
      revision: expect.any(Number),
    },
  ])
  expect(await listRealmNames()).toContain(realm)
  expect((await getLiveObject(service, SYSTEM, other, 'realm')).representation.displayName).toBe('Two')

  const { status, body } = await regent.approve(pendingApproval.plan)
  expect(status).toBe(200)
  expect(body.outcome.realms).toMatchObject([
    { plan: { realm }, approval: { plan: pendingApproval.plan, by: 'admin' } },
  ])
  expect(body.plan).toMatchObject({ state: 'applied', approvedBy: 'admin' })
  expect(await listRealmNames()).not.toContain(realm)
  expect(await listRealmNames()).toContain(other)

  // A declaration of the realm would create an empty one.
  const again = await regent.apply({ realm }, { realm: other, displayName: 'Two' })
  expect(again.realms[0].pendingApproval.guards).toEqual([
    {
      guard: 'recreatesRealm',
      message: expect.stringContaining(`recreates the realm ${realm}, which had 2 users`),
      objects: [realm],
    },
  ])
  expect(await listRealmNames()).not.toContain(realm)
  await regent.approve(again.realms[0].pendingApproval.plan)
  expect(await listRealmNames()).toContain(realm)
})

test('if another source still declares the realm, only objects of this source are deleted; master is never deleted', async () => {
  const other = `other-of-${realm}`
  await regent.apply({ realm, roles: createRoles(2) })
  await applySources(service, SYSTEM, [createSource([{ realm, roles: { realm: [{ name: 'theirs' }] } }], other)])
  const outcome = await regent.apply({ realm: `${realm}-else` })
  expect(outcome.realms[0].pendingApproval).toBeUndefined()
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('theirs')
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).not.toContain('role-0')
  expect((await regent.plan({ realm: `${realm}-else` })).body.realms).toHaveLength(1)

  await regent.apply({ realm: `${realm}-else` }, { realm: 'master', displayName: realm })
  const { realms } = await regent.apply({ realm: `${realm}-else` })
  expect(realms.at(-1)).toMatchObject({
    plan: {
      realm: 'master',
      actions: [{ operation: 'update', changes: [{ path: 'displayName', reason: 'undeclared' }] }],
    },
  })
})

test('with `prune: none`, a realm that is removed from the source is retained', async () => {
  const settings = { prune: 'none' as const }
  await applySources(service, SYSTEM, [{ ...createSource([{ realm }, { realm: `${realm}-b` }], realm), settings }])
  const { notes } = await applySources(service, SYSTEM, [{ ...createSource([{ realm }], realm), settings }])
  expect(notes).toEqual([{ message: `realm ${realm}-b is no longer declared; it is retained` }])
  expect(await listRealmNames()).toContain(`${realm}-b`)
})

test.each([
  ['more than 20 objects', 60, 39, 'deletes 21 objects, more than 20'],
  ['more than half of the managed objects', 8, 3, 'deletes 5 objects, more than 50 % of the 9 that its sources manage'],
])(
  'a plan that deletes %s needs an approval, and nothing of it is applied before',
  async (_, before, after, message) => {
    await regent.apply({ realm, displayName: 'One', roles: createRoles(before) })
    const { realms } = await regent.apply({ realm, displayName: 'Two', roles: createRoles(after) })
    expect(realms[0].pendingApproval.guards).toEqual([{ guard: 'deletions', message, objects: [] }])
    expect((await getLiveObject(service, SYSTEM, realm, 'realm')).representation.displayName).toBe('One')
    await regent.approve(realms[0].pendingApproval.plan)
    expect((await getLiveObject(service, SYSTEM, realm, 'realm')).representation.displayName).toBe('Two')
    expect(
      (await regent.plan({ realm, displayName: 'Two', roles: createRoles(after) })).body.realms[0].plan.actions,
    ).toEqual([])
  },
)

test('objects below a deleted object count as deletions', async () => {
  const declared = { realm, groups: [] }
  const applyAll = () =>
    server.call('POST', '/regent/v1/apply', { body: toSourceBody([declared], `source-of-${realm}`, { prune: 'all' }) })
  await applyAll()
  await createObject(service, ANN, realm, 'group', { path: '/top' })
  const below = Array.from({ length: 25 }, (_, at) => ({ representation: { path: `/top/${at}` } }))
  await service.write(ANN, realm, (context) => writers.group.create(context, below))
  expect(listGuards((await applyAll()).body)).toEqual(['deletions'])
  expect(await listLiveObjects(service, SYSTEM, realm, 'group')).toHaveProperty('size', 26)
})

test('up to three deletions need no approval, whatever their share, and a source can set a lower limit', async () => {
  await regent.apply({ realm, roles: createRoles(3) })
  expect((await regent.apply({ realm })).realms[0].pendingApproval).toBeUndefined()
  const initial = { ...createSource([{ realm, roles: createRoles(3) }], realm), settings: { guards: { deletions: 0 } } }
  await applySources(service, SYSTEM, [initial])
  const fewer = { ...createSource([{ realm, roles: createRoles(2) }], realm), settings: { guards: { deletions: 0 } } }
  expect(listGuards((await applySources(service, SYSTEM, [fewer])) as never)).toEqual(['deletions'])
})

const SELF_REGISTERED: Caller = { actor: { kind: 'user', user: 'eve', client: 'account-console' } }

test('adopting a user whom neither a source nor an administrator created needs an approval, and sets no credentials', async () => {
  await regent.apply({ realm })
  await createObject(service, ANN, realm, 'user', { username: 'ann' })
  await createObject(service, SELF_REGISTERED, realm, 'user', { username: 'eve', enabled: true })
  const users = ['ann', 'eve'].map((username) => ({
    username,
    credentials: [{ type: 'password', value: 'declared-1' }],
  }))
  const declared = { realm, users }
  const { realms } = await regent.apply(declared)
  expect(realms[0].pendingApproval.guards).toMatchObject([
    {
      guard: 'adoption',
      message: expect.stringMatching(
        /^adopts user eve, created neither .*; declared passwords are set only if you approve with --with-credentials$/,
      ),
    },
  ])
  await regent.approve(realms[0].pendingApproval.plan)
  expect((await regent.plan(declared)).body.realms[0].plan.actions).toEqual([])
  expect(await countPasswords('eve')).toBe(0)
})

test('an approval with credentials sets the declared password of an adopted user', async () => {
  await regent.apply({ realm })
  await createObject(service, SELF_REGISTERED, realm, 'user', { username: 'eve', enabled: true })
  const declared = { realm, users: [{ username: 'eve', credentials: [{ type: 'password', value: 'declared-1' }] }] }
  const { realms } = await regent.apply(declared)
  const { body } = await regent.approve(realms[0].pendingApproval.plan, { withCredentials: true })
  expect(body.outcome.realms[0].plan.actions).toMatchObject([
    { operation: 'update', key: ['eve'], changes: [{ path: 'credentials' }] },
  ])
  expect(await countPasswords('eve')).toBe(1)
  expect((await regent.plan(declared)).body.realms[0].plan.actions).toEqual([])
})

test('an approval with credentials does not apply to other declared credentials', async () => {
  await regent.apply({ realm })
  await createObject(service, SELF_REGISTERED, realm, 'user', { username: 'eve', enabled: true })
  const eve = (value: string) => ({ realm, users: [{ username: 'eve', credentials: [{ type: 'password', value }] }] })
  const { saved } = await regent.save(eve('approved-1'))
  await regent.approve(saved.id, { withCredentials: true })
  expect((await regent.apply(eve('other-2'))).realms[0].pendingApproval.plan).not.toBe(saved.id)
  expect(await countPasswords('eve')).toBe(0)
  expect((await regent.apply(eve('approved-1'))).realms[0].approval).toMatchObject({ plan: saved.id })
  expect(await countPasswords('eve')).toBe(1)
})

const ADMIN = { 'realm-management': ['realm-admin'] }

/** An object that an administrator with `roles` creates, before a source declares it with admin permissions. */
interface Preparation {
  readonly roles: string
  /** Further declarations, with which the object is declared. */
  readonly declared: object
  readonly message: RegExp
  createObject(administered: AdminRealm): Promise<void>
}

const createAsWeak = async ({ as }: AdminRealm, address: string, body: object) => {
  const { status, headers } = await as('weak', 'POST', address, body)
  expect(status).toBeLessThan(300)
  return String(headers.location).split('/').at(-1)!
}
const withAdminRole = (content: object) => ({
  roles: { realm: [{ name: 'owner', composites: { client: ADMIN } }] },
  ...content,
})
const createGroup = async (administered: AdminRealm) => {
  const id = await createAsWeak(administered, 'groups', { name: 'future' })
  await administered.as('weak', 'PUT', `users/${administered.users.weak}/groups/${id}`)
}
const createSubgroup = async (administered: AdminRealm) => {
  const parent = await createAsWeak(administered, 'groups', { name: 'future' })
  const id = await createAsWeak(administered, `groups/${parent}/children`, { name: 'ops' })
  await administered.as('weak', 'PUT', `users/${administered.users.weak}/groups/${id}`)
}
const createUser = async (administered: AdminRealm) => {
  const credentials = [{ type: 'password', value: 'evil' }]
  await createAsWeak(administered, 'users', { username: 'chief', enabled: true, credentials })
}
const createRole = async (administered: AdminRealm) => {
  await createAsWeak(administered, 'roles', { name: 'ops' })
  const { body: role } = await administered.as('weak', 'GET', 'roles/ops')
  await administered.as('weak', 'POST', `users/${administered.users.weak}/role-mappings/realm`, [role])
}
const createServiceAccount = async (administered: AdminRealm) => {
  await createAsWeak(administered, 'clients', { clientId: 'robot', secret: 'evil', serviceAccountsEnabled: true })
}
const createClient = async (administered: AdminRealm) => {
  await createAsWeak(administered, 'clients', { clientId: 'robot', secret: 'evil' })
}
const robot = {
  clients: [{ clientId: 'robot', serviceAccountsEnabled: true }],
  users: [{ username: 'service-account-robot', serviceAccountClientId: 'robot', clientRoles: ADMIN }],
}
const membersGain =
  /existing objects .*: group \/future, created by weak .*, gains realm-admin of .* for its existing members$/
const userGains = /: user chief, created by weak .*, gains realm-admin of .*; their passwords stay$/
const holdersGain = /: role ops, created by weak .*, gains realm-admin of .* for its existing holders$/

const preparations: Record<string, Preparation> = {
  'a group with an admin role': {
    roles: 'manage-users',
    declared: { groups: [{ name: 'future', clientRoles: ADMIN }] },
    message: membersGain,
    createObject: createGroup,
  },
  'a group with a declared composite role': {
    roles: 'manage-users',
    declared: withAdminRole({ groups: [{ name: 'future', realmRoles: ['owner'] }] }),
    message: membersGain,
    createObject: createGroup,
  },
  'a group with a live composite role': {
    roles: 'manage-users',
    declared: { groups: [{ name: 'future', realmRoles: ['administrator'] }] },
    message: membersGain,
    createObject: createGroup,
  },
  'a group whose parent has an admin role': {
    roles: 'manage-users',
    declared: { groups: [{ name: 'future', clientRoles: ADMIN, subGroups: [{ name: 'ops' }] }] },
    message: /: group \/future, .* for its existing members; group \/future\/ops, .* for its existing members$/,
    createObject: createSubgroup,
  },
  'a user with an admin role': {
    roles: 'manage-users',
    declared: { users: [{ username: 'chief', clientRoles: ADMIN }] },
    message: userGains,
    createObject: createUser,
  },
  'a user with a declared composite role': {
    roles: 'manage-users',
    declared: withAdminRole({ users: [{ username: 'chief', realmRoles: ['owner'] }] }),
    message: userGains,
    createObject: createUser,
  },
  'a user in a declared group': {
    roles: 'manage-users',
    declared: { groups: [{ name: 'new', clientRoles: ADMIN }], users: [{ username: 'chief', groups: ['/new'] }] },
    message: userGains,
    createObject: createUser,
  },
  'a user in a live group': {
    roles: 'manage-users',
    declared: { users: [{ username: 'chief', groups: ['/realm-admins'] }] },
    message: userGains,
    createObject: createUser,
  },
  'a service account': {
    roles: 'manage-clients',
    declared: robot,
    message: /: user service-account-robot, created by weak .*, gains realm-admin of [^;]*$/,
    createObject: createServiceAccount,
  },
  'a client whose service account is new': {
    roles: 'manage-clients',
    declared: robot,
    message: /: client robot, created by weak .*, gains realm-admin of .* by its service account$/,
    createObject: createClient,
  },
  'a role with an admin role': {
    roles: 'manage-realm manage-users',
    declared: { roles: { realm: [{ name: 'ops', composites: { client: ADMIN } }] } },
    message: holdersGain,
    createObject: createRole,
  },
  'a role with a declared composite role': {
    roles: 'manage-realm manage-users',
    declared: {
      roles: {
        realm: [
          { name: 'owner', composites: { client: ADMIN } },
          { name: 'ops', composites: { realm: ['owner'] } },
        ],
      },
    },
    message: holdersGain,
    createObject: createRole,
  },
}

test.each(Object.entries(preparations))(
  'adopting %s that a weaker administrator created grants admin permissions only with an approval',
  async (_, { roles, declared, message, createObject }) => {
    const administered = await createAdminRealm({ weak: roles })
    await createObject(administered)
    const document = { realm: administered.name, displayName: 'Changed', ...declared }
    const [{ pendingApproval }] = (await regent.apply(document)).realms
    expect(pendingApproval?.guards).toMatchObject([{ guard: 'adoption', message: expect.stringMatching(message) }])
    const { representation } = await getLiveObject(service, SYSTEM, administered.name, 'realm')
    expect(representation.displayName).not.toBe('Changed')

    const { body } = await regent.approve(pendingApproval.plan)
    expect(body.outcome.realms[0].approval).toMatchObject({ plan: pendingApproval.plan })
    const again = (await regent.plan(document)).body.realms[0]
    expect([again.plan.actions, again.guards]).toEqual([[], undefined])
  },
)

test('an undeclared member of an adopted group gets its admin permissions only after the approval', async () => {
  const administered = await createAdminRealm({ weak: 'manage-users' })
  await createGroup(administered)
  const groups = [{ name: 'future', clientRoles: ADMIN }]
  const [{ pendingApproval }] = (await regent.apply({ realm: administered.name, groups })).realms
  expect((await administered.as('weak', 'GET', 'components')).status).toBe(403)
  await regent.approve(pendingApproval.plan)
  expect((await administered.as('weak', 'GET', 'components')).status).toBe(200)
})

test('an approval with credentials sets the declared password of an adopted user who gains admin permissions', async () => {
  const administered = await createAdminRealm({ weak: 'manage-users' })
  await createUser(administered)
  const complete = { username: 'chief', email: 'chief@example.org', firstName: 'B', lastName: 'S' }
  const chief = { ...complete, clientRoles: ADMIN, credentials: [{ type: 'password', value: 'good' }] }
  const [{ pendingApproval }] = (await regent.apply({ realm: administered.name, users: [chief] })).realms
  expect(pendingApproval.guards[0].message).toMatch(/; declared passwords are set only if .* --with-credentials$/)
  await regent.approve(pendingApproval.plan, { withCredentials: true })
  const canLogIn = async (password: string) =>
    (await logInWithPassword(administered.name, { username: 'chief', password })).body.access_token !== undefined
  expect([await canLogIn('good'), await canLogIn('evil')]).toEqual([true, false])
})

test.each([
  ['a user without admin permissions', { users: [{ username: 'chief', firstName: 'Chief', groups: ['/plain'] }] }],
  ['a group without admin permissions', { groups: [{ name: 'future', realmRoles: ['offline_access'] }] }],
  [
    'a group and a user that have them',
    {
      groups: [{ name: 'realm-admins', clientRoles: ADMIN }],
      users: [{ username: 'admin', groups: ['/realm-admins'] }],
    },
  ],
  [
    'new objects',
    withAdminRole({
      groups: [{ name: 'new', clientRoles: ADMIN }],
      users: [{ username: 'new', groups: ['/new'], realmRoles: ['owner'] }],
    }),
  ],
  ['a group that Regent created', { groups: [{ name: 'plain', clientRoles: ADMIN }] }],
])('adopting %s needs no approval', async (_, declared) => {
  const administered = await createAdminRealm({ weak: 'manage-users' })
  await createGroup(administered)
  await createUser(administered)
  await createObject(service, SYSTEM, administered.name, 'group', { path: '/plain' })
  const [realm] = (await regent.apply({ realm: administered.name, ...declared })).realms
  expect(realm.pendingApproval).toBeUndefined()
  expect(realm.plan.actions.length).toBeGreaterThan(0)
})

test('a plan is stale if a role that it gives to an adopted group contains admin roles by then', async () => {
  const administered = await createAdminRealm({ weak: 'manage-users' })
  await createGroup(administered)
  const { path, name, adminRole } = administered
  await server.create(`${path}/roles`, { name: 'inner' })
  await server.create(`${path}/roles`, { name: 'outer', composite: true, composites: { realm: ['inner'] } })
  let calls = 0
  const requireSame = async () => {
    if (calls++ === 0) await server.call('POST', `${path}/roles/inner/composites`, { body: [adminRole] })
  }
  const sources = [createSource([{ realm: name, groups: [{ name: 'future', realmRoles: ['outer'] }] }], name)]
  const { saved } = await planAndSave({ service, caller: SYSTEM, sources })
  const { realms } = await applyRun({ service, caller: SYSTEM, sources, savedPlan: { plan: saved.id, requireSame } })
  expect(calls).toBe(2)
  expect(realms[0]!.pendingApproval?.guards).toMatchObject([{ guard: 'adoption' }])
})

test('an equal plan keeps its pending approval, and a different plan replaces it', async () => {
  const deleting = (displayName: string) => ({ realm, displayName, roles: createRoles(1) })
  await regent.apply({ realm, roles: createRoles(8) })
  const first = (await regent.apply(deleting('One'))).realms[0].pendingApproval
  expect((await regent.apply(deleting('One'))).realms[0].pendingApproval).toEqual(first)
  const second = (await regent.apply(deleting('Two'))).realms[0].pendingApproval
  expect(second.plan).not.toBe(first.plan)
  expect((await regent.approve(first.plan)).status).toBe(404)
  // The plan is obsolete once the source declares the objects again.
  await regent.apply({ realm, roles: createRoles(8) })
  expect((await regent.show(second.plan)).status).toBe(404)
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('role-7')
})

test('a caller who may not administer a realm cannot discard its plan that is pending approval', async () => {
  const administered = await createAdminRealm({})
  await regent.apply({ realm, users: [{ username: 'ann' }] })
  await server.call('DELETE', `/admin/realms/${realm}`)
  const { pendingApproval } = (await regent.apply({ realm })).realms[0]
  const body = toSourceBody([{ realm: administered.name }], `source-of-${realm}`)
  expect(
    (await server.call('POST', '/regent/v1/apply', { token: await administered.token('admin'), body })).status,
  ).toBe(403)
  expect((await regent.show(pendingApproval.plan)).body.state).toBe('pending')
})

test('after a change between plan and approval, a new plan needs an approval', async () => {
  await regent.apply({ realm, roles: createRoles(8) })
  const { pendingApproval } = (await regent.apply({ realm, roles: createRoles(1) })).realms[0]
  await updateObject(service, ANN, realm, 'realm', [realm], { displayName: 'Theirs' })
  await deleteObject(service, ANN, realm, 'role', 'role-7')
  const { body } = await regent.approve(pendingApproval.plan)
  expect(body.outcome.realms[0].pendingApproval.plan).not.toBe(pendingApproval.plan)
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('role-6')
  expect((await regent.show(pendingApproval.plan)).status).toBe(404)
})

test('an approval is void after a change of an object to delete, or of an object below it', async () => {
  const declared = { realm, clients: [{ clientId: 'shop' }], roles: createRoles(8) }
  await regent.apply(declared)
  const { pendingApproval } = (await regent.apply({ realm, roles: createRoles(1) })).realms[0]
  await updateObject(service, ANN, realm, 'role', ['role-7'], { description: 'Theirs' })
  const { id } = await getLiveObject(service, SYSTEM, realm, 'client', 'shop')
  await server.call('POST', `/admin/realms/${realm}/clients/${id}/roles`, { body: { name: 'buyer' } })
  const again = (await regent.approve(pendingApproval.plan)).body.outcome.realms[0]
  const voidNotes = (objects: string) => [
    { message: `The approval by admin is void, since objects to delete have changed: ${objects}.` },
  ]
  expect(again.plan.notes).toEqual(voidNotes('role role-7, role buyer of client shop'))
  expect((await regent.show(again.pendingApproval.plan)).body).toMatchObject({ state: 'pending' })
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('role-7')
  await updateObject(service, ANN, realm, 'role', ['client', 'shop', 'buyer'], { description: 'Theirs' })
  const last = (await regent.approve(again.pendingApproval.plan)).body.outcome.realms[0]
  expect(last.plan.notes).toEqual(voidNotes('role buyer of client shop'))
  expect((await regent.approve(last.pendingApproval.plan)).body.plan).toMatchObject({ state: 'applied' })
})

test('an approval to delete a realm is void after a change of its configuration, but not of its users', async () => {
  await regent.apply({ realm, displayName: 'One' }, { realm: `${realm}-else` })
  const planDeletion = async () => (await regent.apply({ realm: `${realm}-else` })).realms[0].pendingApproval.plan
  const first = await planDeletion()
  await createObject(service, ANN, realm, 'user', { username: 'bob' })
  expect(await planDeletion()).toBe(first)
  await createObject(service, ANN, realm, 'client', { clientId: 'shop' })
  const { body } = await regent.approve(first)
  expect(body.outcome.realms[0].pendingApproval.plan).not.toBe(first)
  expect(await listRealmNames()).toContain(realm)
})

test('a realm is not deleted if another source has declared it since the plan was saved', async () => {
  const declareRealms = (...names: string[]) =>
    createSource(
      names.map((name) => ({ realm: name })),
      `source-of-${realm}`,
    )
  await applySources(service, SYSTEM, [declareRealms(realm, `${realm}-else`)])
  const { saved } = await planAndSave({ service, caller: SYSTEM, sources: [declareRealms(`${realm}-else`)] })
  await approveSavedPlan(service, SYSTEM, { id: saved.id })
  let calls = 0
  const requireSame = async () => {
    if (calls++ === 0) await applySources(service, SYSTEM, [createSource([{ realm }], `other-of-${realm}`)])
  }
  await applyRun({
    service,
    caller: SYSTEM,
    sources: [declareRealms(`${realm}-else`)],
    only: new Set([realm]),
    savedPlan: { plan: saved.id, requireSame },
  })
  expect(calls).toBe(2)
  expect(await listRealmNames()).toContain(realm)
})

test('a run without changes costs at most two statements while its sources have saved plans', async () => {
  const state = createSource([{ realm, roles: createRoles(8) }], realm)
  await applySources(service, SYSTEM, [state])
  await regent.save({ realm, displayName: 'Saved' })
  const before = await dumpRows(service)
  const executed = await statements(() => applySources(service, SYSTEM, [state]), { keepsCaches: true })
  expect(executed.length).toBeLessThanOrEqual(2)
  expect(await dumpRows(service)).toEqual(before)
})
