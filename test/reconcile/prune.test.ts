// What becomes of what is stated no more: `owned` deletes what the source made, `none` nothing.
import { expect, test } from 'vitest'
import { findDrift } from '../../src/reconcile/drift.ts'
import { renderOutcome } from '../../src/reconcile/render.ts'
import { applySources, planSources } from '../../src/reconcile/run.ts'
import { SYSTEM } from '../../src/service/service.ts'
import type { SourceSettings } from '../../src/service/source-settings.ts'
import { change, remove } from '../support/changes.ts'
import { live, realm, realmOfEachTest, service, state } from '../support/documents.ts'
import { ANN, applyAs, source } from '../support/reconcile.ts'
import { testService } from '../support/service.ts'

realmOfEachTest()

const pruning = (prune: SourceSettings['prune'], document: object) => ({ ...state(document), settings: { prune } })
const apply = (prune: SourceSettings['prune'], document: object) => applyAs(service, pruning(prune, document))
const plan = async (prune: SourceSettings['prune'], document: object) =>
  renderOutcome(await planSources(service, SYSTEM, [pruning(prune, document)]), 'planned')
const roles = (...names: string[]) => ({ roles: { realm: names.map((name) => ({ name })) } })
const isGone = (...key: Parameters<typeof live>) => expect(live(...key)).rejects.toThrow()

test('a source that prunes nothing leaves what it states no more, says so, and costs no more than any', async () => {
  const { statements } = await testService()
  await apply('none', roles('staff', 'guest'))
  expect(await plan('none', roles('staff'))).toContain(
    'note: stated no more, and not pruned: role guest\nNothing to do.',
  )
  await apply('none', roles('staff'))
  await live('role', 'guest')
  expect((await statements(() => apply('none', roles('staff')))).length).toBeLessThanOrEqual(2)
})

test('what nobody states any more is no drift, whatever becomes of it', async () => {
  const { statements } = await testService()
  await apply('none', roles('staff', 'guest', 'other'))
  await apply('none', roles('staff'))
  await change(service, ANN, realm, 'role', ['guest'], { description: 'changed' })
  await remove(service, ANN, realm, 'role', 'other')
  expect(await findDrift(service, SYSTEM, realm)).toEqual([])
  expect((await statements(() => apply('none', roles('staff')))).length).toBeLessThanOrEqual(2)
})

test('what was left goes once the source prunes again, and only what is still there', async () => {
  await apply('none', roles('staff', 'guest', 'other'))
  await apply('none', roles('staff'))
  await remove(service, ANN, realm, 'role', 'other')
  expect(await plan('owned', roles('staff'))).toMatch(/- role guest\nPlan: 0 to create, 0 to update, 1 to delete\./)
  await apply('owned', roles('staff'))
  await isGone('role', 'guest')
  await live('role', 'staff')
})

test('what was left is the same object when it is stated again', async () => {
  await apply('none', roles('staff', 'guest'))
  const { id } = await live('role', 'guest')
  await apply('none', roles('staff'))
  await apply('owned', { roles: { realm: [{ name: 'staff' }, { name: 'guest', description: 'again' }] } })
  expect(await live('role', 'guest')).toMatchObject({ id, representation: { description: 'again' } })
  await apply('owned', roles('staff'))
  await isGone('role', 'guest')
})

test('what one source left, another one may delete that owned it too only if none of them prunes nothing', async () => {
  const own = (name: string, prune: SourceSettings['prune'], ...names: string[]) => ({
    ...source([{ realm, ...roles(...names) }], `${realm}-${name}`),
    settings: { prune },
  })
  await applySources(service, SYSTEM, [own('one', 'none', 'staff', 'guest'), own('other', 'owned', 'staff', 'guest')])
  await applySources(service, SYSTEM, [own('one', 'none', 'staff'), own('other', 'owned', 'staff')])
  await live('role', 'guest')
  // It is nobody's veto: whoever states it otherwise may.
  await applySources(service, SYSTEM, [
    {
      ...source([{ realm, roles: { realm: [{ name: 'guest', description: 'new' }] } }], `${realm}-third`),
    },
  ])
  expect((await live('role', 'guest')).representation.description).toBe('new')
})
