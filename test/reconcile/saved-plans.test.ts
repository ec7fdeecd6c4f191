// Saved plans: applied unchanged, or refused as stale; approved by administrators; valid for a day.
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { applySources } from '../../src/reconcile/run/run.ts'
import { applySavedPlan, approveSavedPlan, planAndSave } from '../../src/reconcile/run/saved-plans.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { getSavedPlan } from '../../src/service/sources/saved-plans.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { dumpRows } from '../support/database-rows.ts'
import { deleteObject, getLiveObject, updateObject } from '../support/live-objects.ts'
import { createPlanClient } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { newName, openNewService, testService } from '../support/service.ts'
import { ANN, createSource } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()
let realm: string
let regent: ReturnType<typeof createPlanClient>

beforeEach(() => {
  realm = newName()
  regent = createPlanClient(server, `source-of-${realm}`)
})

const shop = (more: object = {}) => ({
  realm,
  clients: [{ clientId: 'shop', name: 'Shop', ...more }],
  roles: { realm: [{ name: 'staff' }] },
})
const getClient = () => getLiveObject(service, SYSTEM, realm, 'client', 'shop')
const readSecret = async () => service.vault.open(String((await getClient()).representation.secret))

test('a saved plan is applied by its id alone, with all of its realms, and only once', async () => {
  await regent.apply(shop())
  const other = `${realm}-new`
  const outcome = await regent.save(shop({ name: 'Other', secret: 'clear-1' }), { realm: other })
  expect(outcome.saved).toMatchObject({ id: expect.stringMatching(/^[a-z]{4}-[a-z]{4}-[a-z]{4}$/) })
  const { id } = outcome.saved
  expect((await regent.list()).body).toContainEqual(expect.objectContaining({ id, state: 'ready' }))
  const applied = await regent.applySaved(id)
  const listActions = ({ realms }: { realms: { plan: { actions: object[] } }[] }) =>
    realms.map(({ plan }) => plan.actions)
  expect(listActions(applied.body)).toEqual(listActions(outcome))
  expect((await getClient()).representation).toMatchObject({ name: 'Other' })
  expect(await readSecret()).toBe('clear-1')
  expect((await regent.show(id)).body).toMatchObject({
    state: 'applied',
    realms: [
      { realm, hasChanges: true, revision: expect.any(Number) },
      { realm: other, hasChanges: true },
    ],
    outcome: { realms: [{ plan: { realm } }, { plan: { realm: other } }] },
  })
  expect(await regent.applySaved(id)).toMatchObject({
    status: 409,
    body: { errorMessage: `The plan ${id} was applied already. Plan again to apply later changes.` },
  })
  // The revision names the plan that it is from.
  const { body } = await server.call('GET', `/regent/v1/history/${realm}`)
  expect(body[0].actor).toMatchObject({ plan: id, user: 'admin' })
})

test('a change of an object that the plan does not touch does not make it stale', async () => {
  await regent.apply(shop())
  const { saved } = await regent.save(shop({ name: 'Other' }))
  await updateObject(service, ANN, realm, 'client', ['shop'], { description: 'Theirs' })
  await updateObject(service, ANN, realm, 'realm', [realm], { displayName: 'Theirs' })
  expect((await regent.applySaved(saved.id)).status).toBe(200)
  expect((await getClient()).representation).toMatchObject({ name: 'Other', description: 'Theirs' })
})

test('a change of an object that the plan touches makes it stale: the error names the author, and nothing is applied', async () => {
  await regent.apply(shop(), { realm: `${realm}-b` })
  const { saved } = await regent.save(shop({ name: 'Other' }), { realm: `${realm}-b`, displayName: 'B' })
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  await deleteObject(service, ANN, realm, 'role', 'staff')
  await server.logIn()
  const before = await dumpRows(service)
  const { status, body } = await regent.applySaved(saved.id)
  expect(status).toBe(409)
  expect(body).toEqual({
    errorMessage: `The plan ${saved.id} is stale, since something has changed since it was saved. Plan again.`,
    stale: [
      expect.objectContaining({
        realm,
        kind: 'client',
        key: ['shop'],
        path: 'name',
        from: 'Shop',
        to: 'Theirs',
        by: expect.objectContaining({ name: 'ann', client: 'admin-cli' }),
      }),
      expect.objectContaining({
        realm,
        kind: 'role',
        key: ['staff'],
        object: 'deleted',
        by: expect.objectContaining({ name: 'ann' }),
      }),
    ],
  })
  expect(await dumpRows(service)).toEqual(before)
})

test('a plan with another digest is refused, and so is one that is pending approval', async () => {
  await regent.apply({ realm, roles: { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) } })
  const { saved } = await regent.save({ realm })
  expect(await regent.applySaved(saved.id, { digest: 'another' })).toMatchObject({
    status: 409,
    body: {
      errorMessage: `The plan file was edited: its digest is not that of the saved plan ${saved.id}. Use the original file, or plan again.`,
    },
  })
  expect(await regent.applySaved(saved.id, { digest: saved.digest })).toMatchObject({
    status: 409,
    body: { errorMessage: expect.stringContaining('is pending approval') },
  })
  // A plan that was only saved is approved, and not applied by that.
  const { body } = await regent.approve(saved.id)
  expect(body).toMatchObject({ plan: { state: 'approved', approvedBy: 'admin' } })
  expect(body.outcome).toBeUndefined()
  expect((await regent.applySaved(saved.id, { digest: saved.digest })).body.realms[0].approval).toMatchObject({
    by: 'admin',
  })
  expect((await regent.approve('lopa-nime-tura')).status).toBe(404)
})

test('a body with a missing or wrong field is refused by the name of the field', async () => {
  const plan = async (body: object) => (await server.call('POST', '/regent/v1/plan', { body })).body
  expect(await plan({})).toEqual({
    error: 'invalid_request',
    error_description: 'The field name of the request body is missing.',
  })
  expect(await plan({ name: realm, revision: 1, files: [] })).toEqual({
    error: 'invalid_request',
    error_description: 'The field revision of the request body is not valid (expected string, received number).',
  })
})

test('a plan without a realm cannot be saved', async () => {
  const body = { name: realm, revision: '1', files: [{ file: 'a.yaml', text: '# nothing yet\n', values: [] }] }
  expect(await server.call('POST', '/regent/v1/plan?save=true', { body })).toMatchObject({
    status: 400,
    body: { errorMessage: expect.stringContaining('The sources declare no realm') },
  })
  expect((await regent.list()).status).toBe(200)
})

test('an approval counts for the next run of the same sources that makes the same plan', async () => {
  const roles = { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) }
  await regent.apply({ realm, roles })
  const { saved } = await regent.save({ realm })
  await regent.approve(saved.id)
  expect((await regent.apply({ realm })).realms[0].approval).toMatchObject({ plan: saved.id })
})

test('of two equal saved plans, the requested one is applied', async () => {
  const roles = { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) }
  await regent.apply({ realm, roles })
  const first = (await regent.save({ realm })).saved.id
  const second = (await regent.save({ realm })).saved.id
  await regent.approve(first)
  await regent.approve(second)
  expect((await regent.applySaved(second)).body.realms[0].approval).toMatchObject({ plan: second })
  expect((await regent.show(first)).body.state).toBe('approved')
  expect((await regent.show(second)).body.state).toBe('applied')
})

test('a plan pending approval belongs to its last requester, and is applied on their behalf', async () => {
  const toSource = (count: number) => {
    const roles = { realm: Array.from({ length: count }, (_, at) => ({ name: `role-${at}` })) }
    return { ...createSource([{ realm, roles }], `source-of-${realm}`), settings: {} }
  }
  await applySources(service, SYSTEM, [toSource(8)])
  const first = (await applySources(service, ANN, [toSource(1)])).realms[0]!.pendingApproval!.plan
  const watched: Caller = { actor: { kind: 'source', source: `source-of-${realm}` } }
  const limited = { ...toSource(1), sourcePermissions: { realms: [realm] } }
  expect((await applySources(service, watched, [limited])).realms[0]!.pendingApproval!.plan).toBe(first)
  expect(await getSavedPlan(service, SYSTEM, first)).toMatchObject({ createdBy: watched.actor })
})

test('only realm administrators can read, apply, approve and reject plans; a source cannot approve', async () => {
  const { token, name } = await createAdminRealm({ viewer: 'view-clients' })
  const otherRealm = await createAdminRealm({})
  const { saved } = await createPlanClient(server, name).save({ realm: name, displayName: 'Planned' })
  const send = async (tokenPromise: Promise<string>, method: string, path = '') =>
    server.call(method, `/regent/v1/plans${path}`, { token: await tokenPromise })
  for (const callerToken of [token('viewer'), otherRealm.token('admin')]) {
    expect((await send(callerToken, 'GET')).body).toEqual([])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/apply'],
      ['POST', '/approve'],
      ['DELETE', ''],
    ] as const)
      expect((await send(callerToken, method, `/${saved.id}${path}`)).status, `${method} ${path}`).toBe(403)
  }
  expect((await send(token('admin'), 'GET')).body).toMatchObject([{ id: saved.id, created: { name: 'admin' } }])
  expect((await send(token('admin'), 'POST', `/${saved.id}/apply`)).status).toBe(200)
})

test('no secret and no value of a variable is stored in plain text', async () => {
  const values = [{ '/clients/0/secret': 'value-of-a-variable', '/users/0/credentials/0/value': 'password-of-ann' }]
  const text = `realm: ${realm}\nclients: [{ clientId: shop, secret: $(env:SECRET) }]\nusers: [{ username: ann, credentials: [{ type: password, value: $(env:PASSWORD) }] }]\n`
  const body = { name: realm, revision: '1', files: [{ file: 'a.yaml', text, values }] }
  const { body: outcome } = await server.call('POST', '/regent/v1/plan?save=true', { body })
  const stored = JSON.stringify([await dumpRows(service), (await regent.show(outcome.saved.id)).body, outcome])
  expect(stored).toContain(outcome.saved.id)
  for (const secret of Object.values(values[0]!)) expect(stored).not.toContain(secret)
  expect((await regent.applySaved(outcome.saved.id)).status).toBe(200)
  expect(await readSecret()).toBe('value-of-a-variable')
  // The sealed sources are deleted with that.
  const { rows } = await service.query((db) =>
    sql<{
      sealed: string | null
    }>`/* test */ select sealed_sources as sealed from plan where id = ${outcome.saved.id}`.execute(db),
  )
  expect(rows).toEqual([{ sealed: null }])
})

let now = new Date('2026-01-01T00:00:00Z')
const separateService = await openNewService({ clock: () => now })
await separateService.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
afterAll(() => separateService.close())

test('plans and approvals expire after a day and are deleted', async () => {
  const roles = { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) }
  const toSource = (content: object) => ({ ...createSource([{ realm, ...content }], realm), settings: {} })
  await applySources(separateService, SYSTEM, [toSource({ roles })])
  const { saved } = await planAndSave({ service: separateService, caller: SYSTEM, sources: [toSource({})] })
  await approveSavedPlan(separateService, SYSTEM, { id: saved.id })
  expect(await getSavedPlan(separateService, SYSTEM, saved.id)).toMatchObject({ approvedBy: 'operator' })
  now = new Date('2026-01-02T00:00:00Z')
  await expect(applySavedPlan(separateService, SYSTEM, { id: saved.id })).rejects.toThrow(
    `The plan ${saved.id} expired at 2026-01-02T00:00:00.000Z. Create it again.`,
  )
  const outcome = await applySources(separateService, SYSTEM, [toSource({})])
  expect(outcome.realms[0]!.pendingApproval?.plan).not.toBe(saved.id)
  await sweepExpiredRows(separateService, now)
  await expect(getSavedPlan(separateService, SYSTEM, saved.id)).rejects.toThrow(`There is no plan ${saved.id}.`)
  await expect(
    approveSavedPlan(
      separateService,
      { actor: { kind: 'source', source: realm } },
      { id: outcome.realms[0]!.pendingApproval!.plan },
    ),
  ).rejects.toThrow('403')
})
