// Saved plans: applied exactly as they are, or refused with what has moved; approved by people, for a day.
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { applySources } from '../../src/reconcile/run/run.ts'
import { applySaved, approveSaved, savePlan } from '../../src/reconcile/run/saved.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { sweep } from '../../src/service/operations/sweeper.ts'
import { getPlan } from '../../src/service/sources/plans.ts'
import { change, liveObject, remove } from '../support/changes.ts'
import { plansOn } from '../support/plans.ts'
import { administeredRealm } from '../support/realm-with-boss.ts'
import { ANN, source } from '../support/reconcile.ts'
import { allRows } from '../support/rows.ts'
import { testServer } from '../support/server.ts'
import { freshService, newName, testService } from '../support/service.ts'

const { service } = await testService()
const server = await testServer()
let realm: string
let regent: ReturnType<typeof plansOn>

beforeEach(() => {
  realm = newName()
  regent = plansOn(server, `source-of-${realm}`)
})

const shop = (more: object = {}) => ({
  realm,
  clients: [{ clientId: 'shop', name: 'Shop', ...more }],
  roles: { realm: [{ name: 'staff' }] },
})
const client = () => liveObject(service, SYSTEM, realm, 'client', 'shop')
const secret = async () => service.vault.open(String((await client()).representation.secret))

test('a saved plan is applied by its id alone, with all of its realms, and only once', async () => {
  await regent.apply(shop())
  const other = `${realm}-new`
  const outcome = await regent.save(shop({ name: 'Other', secret: 'clear-1' }), { realm: other })
  expect(outcome.saved).toMatchObject({ id: expect.stringMatching(/^[a-z]{4}-[a-z]{4}-[a-z]{4}$/) })
  const { id } = outcome.saved
  expect((await regent.list()).body).toContainEqual(expect.objectContaining({ id, state: 'ready' }))
  const applied = await regent.carryOut(id)
  const actions = ({ realms }: { realms: { plan: { actions: object[] } }[] }) => realms.map(({ plan }) => plan.actions)
  expect(actions(applied.body)).toEqual(actions(outcome))
  expect((await client()).representation).toMatchObject({ name: 'Other' })
  expect(await secret()).toBe('clear-1')
  expect((await regent.show(id)).body).toMatchObject({
    state: 'applied',
    realms: [
      { realm, hasChanges: true, revision: expect.any(Number) },
      { realm: other, hasChanges: true },
    ],
    outcome: { realms: [{ plan: { realm } }, { plan: { realm: other } }] },
  })
  expect(await regent.carryOut(id)).toMatchObject({
    status: 409,
    body: { errorMessage: `the plan ${id} is applied already` },
  })
  // The revision tells by which plan it came about.
  const { body } = await server.call('GET', `/regent/v1/history/${realm}`)
  expect(body[0].actor).toMatchObject({ plan: id, user: 'admin' })
})

test('what somebody changes that the plan does not touch stays, and the plan is applied', async () => {
  await regent.apply(shop())
  const { saved } = await regent.save(shop({ name: 'Other' }))
  await change(service, ANN, realm, 'client', ['shop'], { description: 'Theirs' })
  await change(service, ANN, realm, 'realm', [realm], { displayName: 'Theirs' })
  expect((await regent.carryOut(saved.id)).status).toBe(200)
  expect((await client()).representation).toMatchObject({ name: 'Other', description: 'Theirs' })
})

test('what somebody changes that the plan touches refuses it, and is told with who did it; nothing is changed', async () => {
  await regent.apply(shop(), { realm: `${realm}-b` })
  const { saved } = await regent.save(shop({ name: 'Other' }), { realm: `${realm}-b`, displayName: 'B' })
  await change(service, ANN, realm, 'client', ['shop'], { name: 'Theirs' })
  await remove(service, ANN, realm, 'role', 'staff')
  await server.logIn()
  const before = await allRows(service)
  const { status, body } = await regent.carryOut(saved.id)
  expect(status).toBe(409)
  expect(body).toEqual({
    errorMessage: `the plan ${saved.id} is not what would be applied now, since something has changed meanwhile: plan again`,
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
  expect(await allRows(service)).toEqual(before)
})

test('a plan that says otherwise than what was saved is refused, and so is one that waits', async () => {
  await regent.apply({ realm, roles: { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) } })
  const { saved } = await regent.save({ realm })
  expect(await regent.carryOut(saved.id, { digest: 'another' })).toMatchObject({
    status: 409,
    body: { errorMessage: `this is not the plan ${saved.id} as it was saved: it was changed since` },
  })
  expect(await regent.carryOut(saved.id, { digest: saved.digest })).toMatchObject({
    status: 409,
    body: { errorMessage: expect.stringContaining('is pending approval') },
  })
  // What nobody tried to apply is only approved: applying it is another matter.
  const { body } = await regent.approve(saved.id)
  expect(body).toMatchObject({ plan: { state: 'approved', approvedBy: 'admin' } })
  expect(body.outcome).toBeUndefined()
  expect((await regent.carryOut(saved.id, { digest: saved.digest })).body.realms[0].approval).toMatchObject({
    by: 'admin',
  })
  expect((await regent.approve('lopa-nime-tura')).status).toBe(404)
})

test('what is about no realm is no plan to save', async () => {
  const body = { name: realm, revision: '1', files: [{ file: 'a.yaml', text: '# nothing yet\n', values: [] }] }
  expect(await server.call('POST', '/regent/v1/plan?save=true', { body })).toMatchObject({
    status: 400,
    body: { errorMessage: expect.stringContaining('the sources state no realm') },
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

test('of two saved plans that do the same, the one is applied that was asked for', async () => {
  const roles = { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) }
  await regent.apply({ realm, roles })
  const first = (await regent.save({ realm })).saved.id
  const second = (await regent.save({ realm })).saved.id
  await regent.approve(first)
  await regent.approve(second)
  expect((await regent.carryOut(second)).body.realms[0].approval).toMatchObject({ plan: second })
  expect((await regent.show(first)).body.state).toBe('approved')
  expect((await regent.show(second)).body.state).toBe('applied')
})

test('a plan that waits is of whoever wanted it last: what is stated then goes on as theirs', async () => {
  const state = (count: number) => {
    const roles = { realm: Array.from({ length: count }, (_, at) => ({ name: `role-${at}` })) }
    return { ...source([{ realm, roles }], `source-of-${realm}`), settings: {} }
  }
  await applySources(service, SYSTEM, [state(8)])
  const first = (await applySources(service, ANN, [state(1)])).realms[0]!.pendingApproval!.plan
  const watched: Caller = { actor: { kind: 'source', source: `source-of-${realm}` } }
  const limited = { ...state(1), ceiling: { realms: [realm] } }
  expect((await applySources(service, watched, [limited])).realms[0]!.pendingApproval!.plan).toBe(first)
  expect(await getPlan(service, SYSTEM, first)).toMatchObject({ madeBy: watched.actor })
})

test('only who administers the realm sees, applies, approves and rejects its plans; a source approves nothing', async () => {
  const { token, name } = await administeredRealm({ viewer: 'view-clients' })
  const elsewhere = await administeredRealm({})
  const { saved } = await plansOn(server, name).save({ realm: name, displayName: 'Planned' })
  const ask = async (who: Promise<string>, method: string, path = '') =>
    server.call(method, `/regent/v1/plans${path}`, { token: await who })
  for (const who of [token('viewer'), elsewhere.token('boss')]) {
    expect((await ask(who, 'GET')).body).toEqual([])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/apply'],
      ['POST', '/approve'],
      ['DELETE', ''],
    ] as const)
      expect((await ask(who, method, `/${saved.id}${path}`)).status, `${method} ${path}`).toBe(403)
  }
  expect((await ask(token('boss'), 'GET')).body).toMatchObject([{ id: saved.id, created: { name: 'admin' } }])
  expect((await ask(token('boss'), 'POST', `/${saved.id}/apply`)).status).toBe(200)
})

test('no secret and no value of a variable is kept in the clear', async () => {
  const values = [{ '/clients/0/secret': 'value-of-a-variable', '/users/0/credentials/0/value': 'password-of-ann' }]
  const text = `realm: ${realm}\nclients: [{ clientId: shop, secret: $(env:SECRET) }]\nusers: [{ username: ann, credentials: [{ type: password, value: $(env:PASSWORD) }] }]\n`
  const body = { name: realm, revision: '1', files: [{ file: 'a.yaml', text, values }] }
  const { body: outcome } = await server.call('POST', '/regent/v1/plan?save=true', { body })
  const kept = JSON.stringify([await allRows(service), (await regent.show(outcome.saved.id)).body, outcome])
  expect(kept).toContain(outcome.saved.id)
  for (const secret of Object.values(values[0]!)) expect(kept).not.toContain(secret)
  expect((await regent.carryOut(outcome.saved.id)).status).toBe(200)
  expect(await secret()).toBe('value-of-a-variable')
  // What was stated is dropped with that.
  const { rows } = await service.look((db) =>
    sql<{ kept: string | null }>`/* test */ select kept from plan where id = ${outcome.saved.id}`.execute(db),
  )
  expect(rows).toEqual([{ kept: null }])
})

let now = new Date('2026-01-01T00:00:00Z')
const own = await freshService({ clock: () => now })
await own.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
afterAll(() => own.close())

test('plans and approvals are over after a day, and then they go', async () => {
  const roles = { realm: Array.from({ length: 8 }, (_, at) => ({ name: `role-${at}` })) }
  const state = (one: object) => ({ ...source([{ realm, ...one }], realm), settings: {} })
  await applySources(own, SYSTEM, [state({ roles })])
  const { saved } = await savePlan(own, SYSTEM, [state({})])
  await approveSaved(own, SYSTEM, saved.id)
  expect(await getPlan(own, SYSTEM, saved.id)).toMatchObject({ approvedBy: 'operator' })
  now = new Date('2026-01-02T00:00:00Z')
  await expect(applySaved(own, SYSTEM, saved.id)).rejects.toThrow(
    `the time of plan ${saved.id} was over at 2026-01-02T00:00:00.000Z: plan again`,
  )
  const outcome = await applySources(own, SYSTEM, [state({})])
  expect(outcome.realms[0]!.pendingApproval?.plan).not.toBe(saved.id)
  await sweep(own, now)
  await expect(getPlan(own, SYSTEM, saved.id)).rejects.toThrow(`there is no plan ${saved.id}`)
  await expect(
    approveSaved(own, { actor: { kind: 'source', source: realm } }, outcome.realms[0]!.pendingApproval!.plan),
  ).rejects.toThrow('403')
})
