// Workflows in documents: stored, compared and exported.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listLiveObjects, updateObject } from '../support/live-objects.ts'
import {
  apply,
  exportDocument,
  plan,
  realm,
  service,
  switchRealm,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

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

test('after an apply, the plans of the document and of an export are empty; the export recreates the workflows in another realm', async () => {
  const workflows = [onboarding(), { name: 'by-hand', steps: [{ uses: 'delete-client' }] }]
  const planned = await plan({ workflows })
  expect(planned).toContain('+ workflow onboarding')
  expect(planned).not.toContain('not executed')
  await apply({ workflows })
  expect(await plan({ workflows })).toContain('Nothing to do.')
  const exportedRealm = await exportDocument()
  expect(exportedRealm.workflows).toMatchObject([{ name: 'by-hand' }, onboarding()])
  expect(await plan(exportedRealm)).toContain('Nothing to do.')
  await switchRealm()
  await apply({ workflows: exportedRealm.workflows })
  expect((await exportDocument()).workflows).toEqual(exportedRealm.workflows)
})

test('a change by an administrator is drift; a workflow that is removed from the source is deleted', async () => {
  await apply({ workflows: [onboarding()] })
  await updateObject(service, ANN, realm, 'workflow', ['onboarding'], {
    enabled: false,
    steps: [{ uses: 'delete-user' }],
  })
  const drift = await listDrift(service, SYSTEM, realm)
  expect(drift.map(({ path }) => path).sort()).toEqual(['enabled', 'steps'])
  await apply({ workflows: [onboarding()] })
  expect(await plan({ workflows: [onboarding()] })).toContain('Nothing to do.')
  await apply({})
  expect((await listLiveObjects(service, SYSTEM, realm, 'workflow')).size).toBe(0)
})

test('an invalid workflow is refused with Keycloak’s message', async () => {
  await expect(apply({ workflows: [onboarding({ if: 'has-role(' })] })).rejects.toThrow('expected ")"')
  await expect(apply({ workflows: [onboarding({ on: 'full_moon' })] })).rejects.toThrow('id: full-moon')
})
