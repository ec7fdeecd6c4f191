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

test('apply, then plan, is empty; an export has them as documents do, and plans to nothing', async () => {
  expect(await exportDocument()).not.toHaveProperty('clientPolicies')
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
  const shown = await exportDocument()
  expect(shown).toMatchObject({ ...document(), clientPolicies: { policies: [{ enabled: false }] } })
  expect(await plan(shown)).toContain('Nothing to do.')
  console.log(await plan({}))
  await apply({})
  expect(await exportDocument()).not.toHaveProperty('clientPolicies')
})

test('an executor that Regent does not have is kept, and the plan says so; a profile must be there', async () => {
  expect(await plan(document('acme-audit'))).toContain(
    'Regent does not have the executor acme-audit; it is not enforced',
  )
  await apply(document('acme-audit'))
  await expect(apply(document('acme-audit', ['strictest']))).rejects.toThrow(
    'Policy all contains invalid profile strictest',
  )
})
