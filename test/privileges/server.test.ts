// Nobody gains power by any sequence of operations on the running server, which refuses what the rule refuses, and nothing else.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aPart, everything, TIME_LIMIT } from '../support/campaign.ts'
import { uncounted } from '../support/service.ts'
import { type OperationName, operations } from './operations.ts'
import { beginnings, neverGrows, sequences } from './play.ts'
import { carryOut, risenThere } from './server.ts'
import { worldOf } from './world.ts'

const SEQUENCES = Number(process.env.REGENT_SEQUENCES ?? (everything ? 200 : 50))
/** Making a realm takes longer than a sequence in it: they follow each other. */
const IN_A_REALM = 10

test(
  'what administrators can do on the server never grows, whatever they do',
  async () => {
    const several = fc.array(sequences({ maxLength: 4 }), { minLength: IN_A_REALM, maxLength: IN_A_REALM })
    await fc.assert(
      // Nobody counts the statements of all that, which would have to be kept until then.
      fc.asyncProperty(beginnings, several, (beginning, commands) =>
        uncounted.run(true, async () => {
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

test.each(aPart(Object.keys(operations) as OperationName[]))(
  'on the server too it grows without the check of: %s',
  async (without) => {
    const { counterexample } = fc.check(neverGrows(without), { numRuns: 5_000, seed: 1 })
    const [beginning, commands] = counterexample!
    const world = await worldOf(beginning)
    const state = await carryOut(world, beginning, commands, without)
    expect(await risenThere(world, beginning, state)).not.toEqual([])
  },
)
