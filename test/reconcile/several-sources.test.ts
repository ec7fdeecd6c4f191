// Several sources of one realm that are read in one run: one desired realm, one plan, one transaction.
import { beforeEach, expect, test } from 'vitest'
import { renderOutcome } from '../../src/reconcile/report/render.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { change, liveObject } from '../support/changes.ts'
import { ANN, applyAs, source } from '../support/reconcile.ts'
import { newName, testService } from '../support/service.ts'

let service: Service
let realm: string
let platform: string
let team: string

beforeEach(async () => {
  ;({ service } = await testService())
  realm = newName()
  platform = `platform-${realm}`
  team = `team-${realm}`
})

type Kind = Parameters<typeof liveObject>[3]
const live = (kind: Kind, ...key: string[]) => liveObject(service, SYSTEM, realm, kind, ...key)
const isGone = (kind: Kind, ...key: string[]) => expect(live(kind, ...key)).rejects.toThrow()
const apply = (...sources: ReturnType<typeof source>[]) => applySources(service, SYSTEM, sources)
const problemsOf = (error: unknown) =>
  (error as { problems: { message: string; position: { file: string } }[] }).problems

test('all sources that state something about a realm give one plan, in which each owns what it states', async () => {
  const base = (displayName: string) =>
    source([{ realm, displayName, roles: { realm: [{ name: 'staff' }] } }], platform)
  const app = (description: string) =>
    source([{ realm, clients: [{ clientId: 'shop', description }], roles: { realm: [{ name: 'buyer' }] } }], team)
  const { realms } = await apply(base('One'), app('a shop'))
  expect(realms).toHaveLength(1)
  expect(await planSources(service, SYSTEM, [base('One'), app('a shop')])).toMatchObject({
    realms: [{ plan: { actions: [] } }],
  })
  // What one of them says no more goes; what the other one says stays.
  await apply(base('Two'), source([{ realm, clients: [{ clientId: 'shop' }] }], team))
  expect((await live('client', 'shop')).representation.description ?? null).toBeNull()
  expect((await live('realm', realm)).representation.displayName).toBe('Two')
  await isGone('role', 'buyer')
  expect((await live('role', 'staff')).key).toEqual(['staff'])
})

test('two sources that state one field differently are told both places, and nothing is written', async () => {
  const one = source([{ realm, displayName: 'One' }], platform)
  const other = source([{ realm, displayName: 'Other', enabled: true }], team)
  const problems = problemsOf(await apply(one, other).catch((error: unknown) => error))
  expect(problems.map(({ position, message }) => `${position.file}: ${message}`).sort()).toEqual([
    `${platform}-1.yaml: realm ${realm}: displayName is stated differently at ${team}-1.yaml:2:1: state it once, or twice the same`,
    `${team}-1.yaml: realm ${realm}: displayName is stated differently at ${platform}-1.yaml:2:1: state it once, or twice the same`,
  ])
  await isGone('realm', realm)
})

test('an object that moves from one source to another one stays the same object', async () => {
  const shop = { clientId: 'shop', name: 'Shop' }
  const base = (clients: object[]) => source([{ realm, clients }], platform)
  const app = (clients: object[]) => source([{ realm, clients }], team)
  await apply(base([shop]), app([]))
  const before = await live('client', 'shop')
  const moved = await apply(base([]), app([shop]))
  expect(renderOutcome(moved, 'applied')).toContain('Nothing to do.')
  expect((await live('client', 'shop')).id).toBe(before.id)
  // It is the other source's now: what the first one says no longer counts.
  await applyAs(service, base([]))
  expect((await live('client', 'shop')).id).toBe(before.id)
  await apply(base([]), app([]))
  await isGone('client', 'shop')
})

test('what a source stated goes when it states nothing of the realm any more, and another one still does', async () => {
  const base = source([{ realm, roles: { realm: [{ name: 'staff' }] } }], platform)
  const elsewhere = { realm: `${realm}-other` }
  await apply(base, source([elsewhere, { realm, clients: [{ clientId: 'shop' }] }], team))
  await apply(base, source([elsewhere], team))
  await isGone('client', 'shop')
  expect((await live('role', 'staff')).key).toEqual(['staff'])
  const again = await planSources(service, SYSTEM, [base, source([elsewhere], team)])
  expect(renderOutcome(again, 'planned')).toContain('Nothing to do.')
})

test('of a relation each source owns the elements that it states', async () => {
  const roles = ['a', 'b', 'c'].map((name) => ({ name }))
  const base = source(
    [{ realm, roles: { realm: [...roles, { name: 'all', composites: { realm: ['a', 'b'] } }] } }],
    platform,
  )
  const more = (composites: string[]) =>
    source([{ realm, roles: { realm: [{ name: 'all', composites: { realm: composites } }] } }], team)
  const composites = async () => (await live('role', 'all')).representation.composites
  await apply(base, more(['b', 'c']))
  expect(await composites()).toEqual({ realm: ['a', 'b', 'c'] })
  await apply(base, more([]))
  expect(await composites()).toEqual({ realm: ['a', 'b'] })
})

test('what one source changes of an object leaves alone what the other one says of it, whoever changed that meanwhile', async () => {
  const user = { username: 'ann', requiredActions: ['UPDATE_PASSWORD'] }
  const base = source([{ realm, users: [user] }], platform)
  const more = (lastName: string) => source([{ realm, users: [{ username: 'ann', lastName }] }], team)
  await apply(base, more('One'))
  await change(service, ANN, realm, 'user', ['ann'], { requiredActions: [] })
  await apply(base, more('Two'))
  expect((await live('user', 'ann')).representation).toMatchObject({ lastName: 'Two', requiredActions: [] })
})
