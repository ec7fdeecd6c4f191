// What waits for an approval: deleting a realm or making it again, many deletions, adopting people whom nobody made.
import { beforeEach, expect, test } from 'vitest'
import { applyRun, applySources } from '../../src/reconcile/run/run.ts'
import { approveSavedPlan, planAndSave } from '../../src/reconcile/run/saved-plans.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { getCredentialsByUser } from '../../src/service/users/credentials.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { dumpRows } from '../support/database-rows.ts'
import { createObject, deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
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

const names = async () => (await service.listRealms()).map(({ name }) => name)
const roles = (count: number) => ({ realm: Array.from({ length: count }, (_, at) => ({ name: `role-${at}` })) })
const passwordsOf = async (username: string) => {
  const user = await getLiveObject(service, SYSTEM, realm, 'user', username)
  const found = await service.read(SYSTEM, realm, (context) => getCredentialsByUser(context, [user]))
  return found.get(user.id)?.length ?? 0
}
const guardsIn = (outcome: { realms: { guards?: { guard: string }[] }[] }) =>
  outcome.realms.flatMap(({ guards = [] }) => guards.map(({ guard }) => guard))

test('a realm that is stated no more is deleted once a person approves that; the others of the run go on', async () => {
  const other = `${realm}-other`
  await regent.apply({ realm, users: [{ username: 'ann' }, { username: 'bob' }] }, { realm: other, displayName: 'One' })
  const outcome = await regent.apply({ realm: other, displayName: 'Two' })
  const { pendingApproval } = outcome.realms.find((one: { plan: { realm: string } }) => one.plan.realm === realm)
  expect(pendingApproval.guards).toEqual([
    {
      guard: 'deletesRealm',
      message: expect.stringMatching(`deletes the realm ${realm} with 2 users, \\d clients and 0 sessions`),
      objects: [realm],
      revision: expect.any(Number),
    },
  ])
  expect(await names()).toContain(realm)
  expect((await getLiveObject(service, SYSTEM, other, 'realm')).representation.displayName).toBe('Two')

  const { status, body } = await regent.approve(pendingApproval.plan)
  expect(status).toBe(200)
  expect(body.outcome.realms).toMatchObject([
    { plan: { realm }, approval: { plan: pendingApproval.plan, by: 'admin' } },
  ])
  expect(body.plan).toMatchObject({ state: 'applied', approvedBy: 'admin' })
  expect(await names()).not.toContain(realm)
  expect(await names()).toContain(other)

  // Who states it again would get an empty one.
  const again = await regent.apply({ realm }, { realm: other, displayName: 'Two' })
  expect(again.realms[0].pendingApproval.guards).toEqual([
    {
      guard: 'recreatesRealm',
      message: expect.stringContaining(`recreates the realm ${realm}, which had 2 users`),
      objects: [realm],
    },
  ])
  expect(await names()).not.toContain(realm)
  await regent.approve(again.realms[0].pendingApproval.plan)
  expect(await names()).toContain(realm)
})

test('of a realm that somebody else still states, only what the source owned goes; master is never deleted', async () => {
  const other = `other-of-${realm}`
  await regent.apply({ realm, roles: roles(2) })
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

test('a source that deletes nothing leaves a realm as it is that it states no more', async () => {
  const settings = { prune: 'none' as const }
  await applySources(service, SYSTEM, [{ ...createSource([{ realm }, { realm: `${realm}-b` }], realm), settings }])
  const { notes } = await applySources(service, SYSTEM, [{ ...createSource([{ realm }], realm), settings }])
  expect(notes).toEqual([{ message: `realm ${realm}-b is no longer declared; it is retained` }])
  expect(await names()).toContain(`${realm}-b`)
})

test.each([
  ['more than 20 objects', 60, 39, 'deletes 21 objects, more than 20'],
  [
    'more than half of what the source owns',
    8,
    3,
    'deletes 5 objects, more than 50 % of the 9 that its sources manage',
  ],
])('a plan that deletes %s waits, and nothing else of it is applied', async (_, before, after, message) => {
  await regent.apply({ realm, displayName: 'One', roles: roles(before) })
  const { realms } = await regent.apply({ realm, displayName: 'Two', roles: roles(after) })
  expect(realms[0].pendingApproval.guards).toEqual([{ guard: 'deletions', message, objects: [] }])
  expect((await getLiveObject(service, SYSTEM, realm, 'realm')).representation.displayName).toBe('One')
  await regent.approve(realms[0].pendingApproval.plan)
  expect((await getLiveObject(service, SYSTEM, realm, 'realm')).representation.displayName).toBe('Two')
  expect((await regent.plan({ realm, displayName: 'Two', roles: roles(after) })).body.realms[0].plan.actions).toEqual(
    [],
  )
})

test('what is below something counts too', async () => {
  const stated = { realm, groups: [] }
  const applying = () =>
    server.call('POST', '/regent/v1/apply', { body: toSourceBody([stated], `source-of-${realm}`, { prune: 'all' }) })
  await applying()
  await createObject(service, ANN, realm, 'group', { path: '/top' })
  const below = Array.from({ length: 25 }, (_, at) => ({ representation: { path: `/top/${at}` } }))
  await service.write(ANN, realm, (context) => writers.group.create(context, below))
  expect(guardsIn((await applying()).body)).toEqual(['deletions'])
  expect(await listLiveObjects(service, SYSTEM, realm, 'group')).toHaveProperty('size', 26)
})

test('three objects go whatever share they are, and a source settles what is many', async () => {
  await regent.apply({ realm, roles: roles(3) })
  expect((await regent.apply({ realm })).realms[0].pendingApproval).toBeUndefined()
  const strict = { ...createSource([{ realm, roles: roles(3) }], realm), settings: { guards: { deletions: 0 } } }
  await applySources(service, SYSTEM, [strict])
  const fewer = { ...createSource([{ realm, roles: roles(2) }], realm), settings: { guards: { deletions: 0 } } }
  expect(guardsIn((await applySources(service, SYSTEM, [fewer])) as never)).toEqual(['deletions'])
})

const SELF: Caller = { actor: { kind: 'user', user: 'eve', client: 'account-console' } }

test('a person whom neither a source nor an administrator made is adopted with an approval, and keeps their password', async () => {
  await regent.apply({ realm })
  await createObject(service, ANN, realm, 'user', { username: 'ann' })
  await createObject(service, SELF, realm, 'user', { username: 'eve', enabled: true })
  const users = ['ann', 'eve'].map((username) => ({ username, credentials: [{ type: 'password', value: 'stated-1' }] }))
  const stated = { realm, users }
  const { realms } = await regent.apply(stated)
  expect(realms[0].pendingApproval.guards).toMatchObject([
    { guard: 'adoption', message: expect.stringContaining('adopts user eve, created neither') },
  ])
  await regent.approve(realms[0].pendingApproval.plan)
  expect((await regent.plan(stated)).body.realms[0].plan.actions).toEqual([])
  expect(await passwordsOf('eve')).toBe(0)
})

test('with credentials only if the approval says so', async () => {
  await regent.apply({ realm })
  await createObject(service, SELF, realm, 'user', { username: 'eve', enabled: true })
  const stated = { realm, users: [{ username: 'eve', credentials: [{ type: 'password', value: 'stated-1' }] }] }
  const { realms } = await regent.apply(stated)
  const { body } = await regent.approve(realms[0].pendingApproval.plan, { withCredentials: true })
  expect(body.outcome.realms[0].plan.actions).toMatchObject([
    { operation: 'update', key: ['eve'], changes: [{ path: 'credentials' }] },
  ])
  expect(await passwordsOf('eve')).toBe(1)
  expect((await regent.plan(stated)).body.realms[0].plan.actions).toEqual([])
})

test('an approval with credentials is for those that were stated then', async () => {
  await regent.apply({ realm })
  await createObject(service, SELF, realm, 'user', { username: 'eve', enabled: true })
  const eve = (value: string) => ({ realm, users: [{ username: 'eve', credentials: [{ type: 'password', value }] }] })
  const { saved } = await regent.save(eve('approved-1'))
  await regent.approve(saved.id, { withCredentials: true })
  expect((await regent.apply(eve('other-2'))).realms[0].pendingApproval.plan).not.toBe(saved.id)
  expect(await passwordsOf('eve')).toBe(0)
  expect((await regent.apply(eve('approved-1'))).realms[0].approval).toMatchObject({ plan: saved.id })
  expect(await passwordsOf('eve')).toBe(1)
})

test('the same plan made again waits as the same; one that comes out differently takes its place, approved or not', async () => {
  const deleting = (displayName: string) => ({ realm, displayName, roles: roles(1) })
  await regent.apply({ realm, roles: roles(8) })
  const first = (await regent.apply(deleting('One'))).realms[0].pendingApproval
  expect((await regent.apply(deleting('One'))).realms[0].pendingApproval).toEqual(first)
  const second = (await regent.apply(deleting('Two'))).realms[0].pendingApproval
  expect(second.plan).not.toBe(first.plan)
  expect((await regent.approve(first.plan)).status).toBe(404)
  // What is stated again waits for nothing any more.
  await regent.apply({ realm, roles: roles(8) })
  expect((await regent.show(second.plan)).status).toBe(404)
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('role-7')
})

test('a plan that waits is dropped by nobody who may not administer its realm', async () => {
  const own = await createAdminRealm({})
  await regent.apply({ realm, users: [{ username: 'ann' }] })
  await server.call('DELETE', `/admin/realms/${realm}`)
  const { pendingApproval } = (await regent.apply({ realm })).realms[0]
  const body = toSourceBody([{ realm: own.name }], `source-of-${realm}`)
  expect((await server.call('POST', '/regent/v1/apply', { token: await own.token('admin'), body })).status).toBe(403)
  expect((await regent.show(pendingApproval.plan)).body.state).toBe('pending')
})

test('what somebody changes between plan and approval is planned anew', async () => {
  await regent.apply({ realm, roles: roles(8) })
  const { pendingApproval } = (await regent.apply({ realm, roles: roles(1) })).realms[0]
  await updateObject(service, ANN, realm, 'realm', [realm], { displayName: 'Theirs' })
  await deleteObject(service, ANN, realm, 'role', 'role-7')
  const { body } = await regent.approve(pendingApproval.plan)
  expect(body.outcome.realms[0].pendingApproval.plan).not.toBe(pendingApproval.plan)
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('role-6')
  expect((await regent.show(pendingApproval.plan)).status).toBe(404)
})

test('an approval is void once what is to be deleted has changed, or something below it', async () => {
  const stated = { realm, clients: [{ clientId: 'shop' }], roles: roles(8) }
  await regent.apply(stated)
  const { pendingApproval } = (await regent.apply({ realm, roles: roles(1) })).realms[0]
  await updateObject(service, ANN, realm, 'role', ['role-7'], { description: 'Theirs' })
  const { id } = await getLiveObject(service, SYSTEM, realm, 'client', 'shop')
  await server.call('POST', `/admin/realms/${realm}/clients/${id}/roles`, { body: { name: 'buyer' } })
  const again = (await regent.approve(pendingApproval.plan)).body.outcome.realms[0]
  const isVoid = (what: string) => [
    { message: `The approval by admin is void, since objects to delete have changed: ${what}.` },
  ]
  expect(again.plan.notes).toEqual(isVoid('role role-7, role buyer of client shop'))
  expect((await regent.show(again.pendingApproval.plan)).body).toMatchObject({ state: 'pending' })
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'role')).keys()]).toContain('role-7')
  await updateObject(service, ANN, realm, 'role', ['client', 'shop', 'buyer'], { description: 'Theirs' })
  const last = (await regent.approve(again.pendingApproval.plan)).body.outcome.realms[0]
  expect(last.plan.notes).toEqual(isVoid('role buyer of client shop'))
  expect((await regent.approve(last.pendingApproval.plan)).body.plan).toMatchObject({ state: 'applied' })
})

test('an approval of the end of a realm is void once anything in it has changed, but for people', async () => {
  await regent.apply({ realm, displayName: 'One' }, { realm: `${realm}-else` })
  const waiting = async () => (await regent.apply({ realm: `${realm}-else` })).realms[0].pendingApproval.plan
  const first = await waiting()
  await createObject(service, ANN, realm, 'user', { username: 'bob' })
  expect(await waiting()).toBe(first)
  await createObject(service, ANN, realm, 'client', { clientId: 'shop' })
  const { body } = await regent.approve(first)
  expect(body.outcome.realms[0].pendingApproval.plan).not.toBe(first)
  expect(await names()).toContain(realm)
})

test('a realm does not end where another source has come to it since that was planned', async () => {
  const of = (...all: string[]) =>
    createSource(
      all.map((one) => ({ realm: one })),
      `source-of-${realm}`,
    )
  await applySources(service, SYSTEM, [of(realm, `${realm}-else`)])
  const { saved } = await planAndSave(service, SYSTEM, [of(`${realm}-else`)])
  await approveSavedPlan(service, SYSTEM, { id: saved.id })
  let others = 0
  const requireSame = async () => {
    if (others++ === 0) await applySources(service, SYSTEM, [createSource([{ realm }], `other-of-${realm}`)])
  }
  await applyRun({
    service,
    caller: SYSTEM,
    sources: [of(`${realm}-else`)],
    only: new Set([realm]),
    savedPlan: { plan: saved.id, requireSame },
  })
  expect(others).toBe(2)
  expect(await names()).toContain(realm)
})

test('a run that has nothing to do costs two statements at most while plans of its sources are there', async () => {
  const state = createSource([{ realm, roles: roles(8) }], realm)
  await applySources(service, SYSTEM, [state])
  await regent.save({ realm, displayName: 'Saved' })
  const before = await dumpRows(service)
  const executed = await statements(() => applySources(service, SYSTEM, [state]))
  expect(executed.length).toBeLessThanOrEqual(2)
  expect(await dumpRows(service)).toEqual(before)
})
