// The retention of the journal, per stream: what is deleted, and what remains possible.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { explainObject } from '../../src/reconcile/history/explain-object.ts'
import { diffRevisions, listHistory, rollback } from '../../src/reconcile/history/history.ts'
import type { Context } from '../../src/service/context/context.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { dumpRows } from '../support/database-rows.ts'
import { updateObject } from '../support/live-objects.ts'
import { newName, openNewService } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

const DAY = 24 * 60 * 60 * 1000
const start = Date.now()

/** The day of the clock. */
let day = 0
let service: Service
beforeAll(async () => {
  service = await openNewService({ clock: () => new Date(start + day * DAY) })
  await bootstrap(service)
})
afterAll(() => service.close())

const sweep = (retention: { configuration?: number; users?: number }) =>
  sweepExpiredRows(service, new Date(start + day * DAY), retention)

/** Creates a realm on day 0, and changes it and its user on days 10 and 20. Returns the name and a source. */
async function createChangedRealm() {
  day = 0
  const realm = newName()
  const source = createSource([{ realm, displayName: 'Day 0', users: [{ username: 'ann', firstName: 'Day 0' }] }])
  await applySource(service, source)
  for (day of [10, 20]) {
    await updateObject(service, ANN, realm, 'realm', [realm], { displayName: `Day ${day}` })
    await updateObject(service, ANN, realm, 'user', ['ann'], { firstName: `Day ${day}` })
  }
  const read = <T>(work: (context: Context) => Promise<T>) => service.read(SYSTEM, realm, work)
  return { realm, source, read, revisions: () => read((context) => listHistory(context, {})) }
}

test('older revisions are deleted, the history reports it, and one cannot roll back to them', async () => {
  const { realm, source, read, revisions } = await createChangedRealm()
  const before = await revisions()
  expect(before.map(({ oldestRetained }) => oldestRetained)).toEqual(before.map(() => false))
  const explain = () => read((context) => explainObject(context, 'displayName'))
  expect((await explain()).isJournalComplete).toBe(true)
  const usersBefore = (await dumpRows(service, realm)).user_journal
  day = 25
  await sweep({ configuration: 20 })
  const after = await revisions()
  expect(after.map(({ number }) => number)).toEqual(before.slice(0, 2).map(({ number }) => number))
  expect(after.map(({ oldestRetained }) => oldestRetained)).toEqual([false, true])
  expect((await dumpRows(service, realm)).user_journal).toEqual(usersBefore)
  expect((await explain()).isJournalComplete).toBe(false)
  const [latest, oldest, deleted] = before.map(({ number }) => number) as [number, number, number]
  const refusal = `The revision r${deleted} of realm ${realm} is older than the journal, whose retention has deleted it. The oldest entry is r${oldest}. Run "regent history ${realm}" to list the revisions.`
  await expect(rollback(service, ANN, { realm, revision: deleted })).rejects.toThrow(refusal)
  await expect(read((context) => diffRevisions(context, deleted))).rejects.toThrow(refusal)
  await expect(rollback(service, ANN, { realm, revision: latest + 100 })).rejects.toThrow(
    `has no revision r${latest + 100}`,
  )
  const drifted = (await listDrift(service, SYSTEM, realm)).map(({ path }) => path)
  expect(drifted).toEqual(['displayName', 'firstName'])
  await rollback(service, ANN, { realm, revision: oldest })
  expect(await planText(service, source)).toContain('displayName: Day 10 → Day 0')
})

test('without changes for long, the last revision and the numbers of later ones remain', async () => {
  const { realm, revisions } = await createChangedRealm()
  const [last] = await revisions()
  day = 1000
  await sweep({ configuration: 1, users: 1 })
  expect(await revisions()).toEqual([{ ...last, created: 0, oldestRetained: true }])
  await updateObject(service, ANN, realm, 'realm', [realm], { displayName: 'Day 1000' })
  expect((await revisions()).map(({ number }) => number)).toEqual([last!.number + 1, last!.number])
})

test('the users stream has a retention of its own, and no record of a run keeps values of users', async () => {
  const { realm, revisions } = await createChangedRealm()
  const before = await revisions()
  day = 25
  await sweep({ users: 10 })
  expect(await revisions()).toEqual(before)
  const rows = await dumpRows(service, realm)
  expect(rows.user_journal).toHaveLength(1)
  expect(rows.user_journal!.join()).toContain('Day 10')
  expect(rows.history!.join()).not.toContain('firstName')
})

test('without a setting, nothing is deleted', async () => {
  const { realm } = await createChangedRealm()
  const before = await dumpRows(service, realm)
  day = 10_000
  await sweep({})
  expect(await dumpRows(service, realm)).toEqual(before)
})
