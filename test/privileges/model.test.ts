// Nobody gains power by any sequence of operations, and every check of the rule is needed for that: in a realm in miniature.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as privilege from '../../src/service/permissions/privilege-escalation.ts'
import { checkOf, growing, type OperationName, operations } from './operations.ts'
import { neverGrows } from './play.ts'

const SEQUENCES = Number(process.env.REGENT_MODEL_SEQUENCES ?? 10_000)

test('what administrators can do never grows, whatever they do', () => {
  fc.assert(neverGrows(), { numRuns: SEQUENCES })
})

test.each(growing)('it grows without the check of: %s', (without) => {
  expect(fc.check(neverGrows(without), { numRuns: 5_000, seed: 1, endOnFailure: true })).toMatchObject({ failed: true })
})

test('every check of the server is among them', () => {
  const checks = Object.keys(privilege).filter((name) => name.startsWith('demand'))
  const played = (Object.keys(operations) as OperationName[]).flatMap((name) => checkOf(name) ?? [])
  expect([...new Set(played)].sort()).toEqual(checks.sort())
})
