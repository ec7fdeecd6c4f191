// Privilege escalation in the model: no sequence of operations grants admin permissions, and every check of the server is needed for that.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as privilegeEscalation from '../../src/service/permissions/privilege-escalation.ts'
import { escalations, findCheck, operationNames } from './operations.ts'
import { neverGainsRoles } from './run-model.ts'

const SEQUENCES = Number(process.env.REGENT_MODEL_SEQUENCES ?? 10_000)

// The campaign generates ten times as many, which takes longer than a test may.
test('administrators gain no admin permissions by any sequence of operations', {
  timeout: 180_000 + 10 * SEQUENCES,
}, () => {
  fc.assert(neverGainsRoles(), { numRuns: SEQUENCES })
})

test.each(escalations)('administrators gain admin permissions without the check of: %s', (unchecked) => {
  expect(fc.check(neverGainsRoles(unchecked), { numRuns: 20_000, seed: 1, endOnFailure: true })).toMatchObject({
    failed: true,
  })
})

test('the model contains every check of the server', () => {
  const checks = Object.keys(privilegeEscalation).filter((name) => name.startsWith('require'))
  const modelled = operationNames.flatMap((name) => findCheck(name) ?? [])
  expect([...new Set(modelled)].sort()).toEqual(checks.sort())
})
