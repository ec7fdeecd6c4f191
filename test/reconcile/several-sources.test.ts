// Several sources of one realm in one run: one desired realm, one plan, one transaction.
import { beforeEach, expect, test } from 'vitest'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { updateObject } from '../support/live-objects.ts'
import { getLive, realm, service, useNewRealmNamePerTest } from '../support/realm-documents.ts'
import { ANN, applySource, createSource, listProblems } from '../support/sources.ts'

useNewRealmNamePerTest()

let platform: string
let team: string

beforeEach(() => {
  platform = `platform-${realm}`
  team = `team-${realm}`
})

const expectDeleted = (...key: Parameters<typeof getLive>) => expect(getLive(...key)).rejects.toThrow()
const apply = (...sources: ReturnType<typeof createSource>[]) => applySources(service, SYSTEM, sources)

test('all sources that declare a realm give one plan, in which each manages what it declares', async () => {
  const base = (displayName: string) =>
    createSource([{ realm, displayName, roles: { realm: [{ name: 'staff' }] } }], platform)
  const app = (description: string) =>
    createSource([{ realm, clients: [{ clientId: 'shop', description }], roles: { realm: [{ name: 'buyer' }] } }], team)
  const { realms } = await apply(base('One'), app('a shop'))
  expect(realms).toHaveLength(1)
  expect(await planSources(service, SYSTEM, [base('One'), app('a shop')])).toMatchObject({
    realms: [{ plan: { actions: [] } }],
  })
  // An object that one source no longer declares is deleted; objects of the other source are retained.
  await apply(base('Two'), createSource([{ realm, clients: [{ clientId: 'shop' }] }], team))
  expect((await getLive('client', 'shop')).representation.description ?? null).toBeNull()
  expect((await getLive('realm', realm)).representation.displayName).toBe('Two')
  await expectDeleted('role', 'buyer')
  expect((await getLive('role', 'staff')).key).toEqual(['staff'])
})

test('different values for one field from two sources are refused with both positions', async () => {
  const base = createSource([{ realm, displayName: 'One' }], platform)
  const app = createSource([{ realm, displayName: 'Other', enabled: true }], team)
  const problems = listProblems(await apply(base, app).catch((error: unknown) => error))
  expect(problems.map(({ position, message }) => `${position.file}: ${message}`).sort()).toEqual([
    `${platform}-1.yaml: realm ${realm}: displayName is declared differently at ${team}-1.yaml:2:1. Declare it once, or with the same value.`,
    `${team}-1.yaml: realm ${realm}: displayName is declared differently at ${platform}-1.yaml:2:1. Declare it once, or with the same value.`,
  ])
  await expectDeleted('realm', realm)
})

test('an object that moves to another source keeps its id', async () => {
  const shop = { clientId: 'shop', name: 'Shop' }
  const base = (clients: object[]) => createSource([{ realm, clients }], platform)
  const app = (clients: object[]) => createSource([{ realm, clients }], team)
  await apply(base([shop]), app([]))
  const before = await getLive('client', 'shop')
  const outcome = await apply(base([]), app([shop]))
  expect(renderOutcome(outcome, 'applied')).toContain('Nothing to do.')
  expect((await getLive('client', 'shop')).id).toBe(before.id)
  // The other source manages it now, and the first one has no effect on it.
  await applySource(service, base([]))
  expect((await getLive('client', 'shop')).id).toBe(before.id)
  await apply(base([]), app([]))
  await expectDeleted('client', 'shop')
})

test('the objects of a source are deleted when it no longer declares the realm, and another source still does', async () => {
  const base = createSource([{ realm, roles: { realm: [{ name: 'staff' }] } }], platform)
  const otherRealm = { realm: `${realm}-other` }
  await apply(base, createSource([otherRealm, { realm, clients: [{ clientId: 'shop' }] }], team))
  await apply(base, createSource([otherRealm], team))
  await expectDeleted('client', 'shop')
  expect((await getLive('role', 'staff')).key).toEqual(['staff'])
  const again = await planSources(service, SYSTEM, [base, createSource([otherRealm], team)])
  expect(renderOutcome(again, 'planned')).toContain('Nothing to do.')
})

test('each source manages the elements of a relation that it declares', async () => {
  const roles = ['a', 'b', 'c'].map((name) => ({ name }))
  const base = createSource(
    [{ realm, roles: { realm: [...roles, { name: 'all', composites: { realm: ['a', 'b'] } }] } }],
    platform,
  )
  const more = (composites: string[]) =>
    createSource([{ realm, roles: { realm: [{ name: 'all', composites: { realm: composites } }] } }], team)
  const getComposites = async () => (await getLive('role', 'all')).representation.composites
  await apply(base, more(['b', 'c']))
  expect(await getComposites()).toEqual({ realm: ['a', 'b', 'c'] })
  await apply(base, more([]))
  expect(await getComposites()).toEqual({ realm: ['a', 'b'] })
})

test('a change of a user by one source does not reapply the required actions of another source', async () => {
  const user = { username: 'ann', requiredActions: ['UPDATE_PASSWORD'] }
  const base = createSource([{ realm, users: [user] }], platform)
  const more = (lastName: string) => createSource([{ realm, users: [{ username: 'ann', lastName }] }], team)
  await apply(base, more('One'))
  await updateObject(service, ANN, realm, 'user', ['ann'], { requiredActions: [] })
  await apply(base, more('Two'))
  expect((await getLive('user', 'ann')).representation).toMatchObject({ lastName: 'Two', requiredActions: [] })
})
