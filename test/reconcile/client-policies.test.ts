// Client profiles and policies in documents: each list is one field of the realm.
import { expect, test } from 'vitest'
import { apply, exportDocument, plan, useNewRealmPerTest } from '../support/realm-documents.ts'

useNewRealmPerTest()

const profile = (executor = 'pkce-enforcer') => ({
  name: 'strict',
  executors: [{ executor, configuration: { 'auto-configure': true } }],
})
const policy = (profiles: string[]) => ({
  name: 'all',
  conditions: [{ condition: 'client-access-type', configuration: { type: ['confidential'] } }],
  profiles,
})
const document = (executor?: string, profiles = ['strict', 'fapi-1-baseline']) => ({
  clientProfiles: { profiles: [profile(executor)] },
  clientPolicies: { policies: [policy(profiles)] },
})

test('after an apply, the plans of the document and of an export are empty; policies removed from the source are deleted', async () => {
  expect(await exportDocument()).not.toHaveProperty('clientPolicies')
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
  const exportedDocument = await exportDocument()
  expect(exportedDocument).toMatchObject({ ...document(), clientPolicies: { policies: [{ enabled: false }] } })
  expect(await plan(exportedDocument)).toContain('Nothing to do.')
  await apply({})
  expect(await exportDocument()).not.toHaveProperty('clientPolicies')
})

test('an unknown executor is stored, and the plan notes its effect; an unknown profile is refused', async () => {
  expect(await plan(document('acme-audit'))).toContain(
    'Regent does not have the executor acme-audit; token requests of its clients are refused',
  )
  await apply(document('acme-audit'))
  await expect(apply(document('acme-audit', ['strictest']))).rejects.toThrow(
    'Policy all contains invalid profile strictest',
  )
})
