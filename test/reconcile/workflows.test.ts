// Workflows in documents: kept and compared, and told not to be carried out.
import { expect, test } from 'vitest'
import { findDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { change, liveObjects } from '../support/changes.ts'
import { apply, exported, goOnIn, plan, realm, realmOfEachTest, service } from '../support/documents.ts'
import { ANN } from '../support/reconcile.ts'

realmOfEachTest()

const onboarding = (more: object = {}) => ({
  name: 'onboarding',
  on: 'user_created',
  if: 'has-role(clerk) and not is-member-of(/staff)',
  enabled: true,
  schedule: { 'batch-size': 5, after: '1d' },
  concurrency: { 'cancel-in-progress': 'true' },
  steps: [
    { uses: 'notify-user', with: { message: 'Hello', to: ['a', 'b'] }, after: '1000' },
    { uses: 'disable-user', after: 'P30D' },
  ],
  ...more,
})

test('apply, then plan, is empty; an export plans to nothing, and makes the same workflows elsewhere', async () => {
  const workflows = [onboarding(), { name: 'by-hand', steps: [{ uses: 'delete-client' }] }]
  const planned = await plan({ workflows })
  expect(planned).toContain('+ workflow onboarding')
  expect(planned).toContain(
    'Regent does not have the step disable-user; workflows with it are kept, and not carried out',
  )
  await apply({ workflows })
  expect(await plan({ workflows })).toContain('Nothing to do.')
  const shown = await exported()
  expect(shown.workflows).toMatchObject([{ name: 'by-hand' }, onboarding()])
  expect(await plan(shown)).toContain('Nothing to do.')
  await goOnIn()
  await apply({ workflows: shown.workflows })
  expect((await exported()).workflows).toEqual(shown.workflows)
})

test('what an administrator changes is drift; a workflow that is stated no more is pruned', async () => {
  await apply({ workflows: [onboarding()] })
  await change(service, ANN, realm, 'workflow', ['onboarding'], { enabled: false, steps: [{ uses: 'delete-user' }] })
  const drift = await findDrift(service, SYSTEM, realm)
  expect(drift.map(({ path }) => path).sort()).toEqual(['enabled', 'steps'])
  await apply({ workflows: [onboarding()] })
  expect(await plan({ workflows: [onboarding()] })).toContain('Nothing to do.')
  await apply({})
  expect((await liveObjects(service, SYSTEM, realm, 'workflow')).size).toBe(0)
})

test('a workflow that cannot be is refused in the words of the reference server', async () => {
  await expect(apply({ workflows: [onboarding({ if: 'has-role(' })] })).rejects.toThrow('expected ")"')
  await expect(apply({ workflows: [onboarding({ on: 'full_moon' })] })).rejects.toThrow('id: full-moon')
})
