// Nobody gains power by any sequence of operations on the running server, which refuses what the rule refuses, and nothing else.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdminRole } from '../../src/kinds/admin-roles.ts'
import { takeSample, isFullRun, TIME_LIMIT } from '../support/campaign.ts'
import { withoutCounting } from '../support/service.ts'
import { checkOf, growing, type OperationName, operations } from './operations.ts'
import { beginnings, neverGrows, neverRefused, sequences } from './play.ts'
import { attempts } from './requests.ts'
import { carryOut, risenThere } from './server.ts'
import { worldOf } from './world.ts'

const SEQUENCES = Number(process.env.REGENT_SEQUENCES ?? (isFullRun ? 200 : 50))
/** Making a realm takes longer than a sequence in it: they follow each other. */
const IN_A_REALM = 10

test(
  'what administrators can do on the server never grows, whatever they do',
  async () => {
    const several = fc.array(sequences({ maxLength: 4 }), { minLength: IN_A_REALM, maxLength: IN_A_REALM })
    await fc.assert(
      // Nobody counts the statements of all that, which would have to be kept until then.
      fc.asyncProperty(beginnings, several, (beginning, commands) =>
        withoutCounting.run(true, async () => {
          const world = await worldOf(beginning)
          const state = await carryOut(world, beginning, commands.flat())
          expect(await risenThere(world, beginning, state)).toEqual([])
        }),
      ),
      { numRuns: SEQUENCES / IN_A_REALM, endOnFailure: true },
    )
  },
  TIME_LIMIT,
)

const refusedNames = (Object.keys(operations) as OperationName[]).filter((name) => checkOf(name) !== undefined)

test.each(takeSample(refusedNames))('the server refuses what is more than the caller could grant: %s', async (name) => {
  const { counterexample } = fc.check(neverRefused(name), { numRuns: 5_000, seed: 1 })
  const [beginning, commands] = counterexample!
  const world = await worldOf(beginning)
  await carryOut(world, beginning, commands)
})

test.each(takeSample(growing))('on the server it does not grow by what it would without the check of: %s', async (name) => {
  const tried = Object.keys(attempts) as AdminRole[]
  const { counterexample } = fc.check(neverGrows(name, tried), { numRuns: 50_000, seed: 1 })
  const [beginning, commands] = counterexample!
  const world = await worldOf(beginning)
  const state = await carryOut(world, beginning, commands)
  expect(await risenThere(world, beginning, state)).toEqual([])
})

test.each(takeSample(growing.filter((name) => checkOf(name) !== undefined)))(
  'on the server too it grows without the check of: %s',
  async (without) => {
    const { counterexample } = fc.check(neverGrows(without), { numRuns: 5_000, seed: 1 })
    const [beginning, commands] = counterexample!
    const world = await worldOf(beginning)
    const state = await carryOut(world, beginning, commands, without)
    expect(await risenThere(world, beginning, state)).not.toEqual([])
  },
)
