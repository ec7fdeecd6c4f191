// Privilege escalation on the server: no sequence of operations grants admin permissions, and the server refuses what the model refuses.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFullRun, TIME_LIMIT, takeSample } from '../support/property-options.ts'
import { withoutCounting } from '../support/service.ts'
import { escalations, findCheck, operationNames } from './operations.ts'
import { attemptRoles } from './requests.ts'
import { commandSequences, initialRealms, isNeverRefused, neverGainsRoles } from './run-model.ts'
import { listGainedOnServer, runOnServer } from './run-on-server.ts'
import { createTestRealm } from './test-realm.ts'

const SEQUENCES = Number(process.env.REGENT_SEQUENCES ?? (isFullRun ? 200 : 50))
/** Several sequences run in one realm, since its creation takes longer than a sequence. */
const SEQUENCES_PER_REALM = 10

test(
  'administrators gain no admin permissions on the server by any sequence of operations',
  async () => {
    const sequences = fc.array(commandSequences({ maxLength: 4 }), {
      minLength: SEQUENCES_PER_REALM,
      maxLength: SEQUENCES_PER_REALM,
    })
    await fc.assert(
      // The statements are not counted, since their records would be kept until the end.
      fc.asyncProperty(initialRealms, sequences, (initial, commands) =>
        withoutCounting.run(true, async () => {
          const realm = await createTestRealm(initial)
          const state = await runOnServer(realm, { initial, commands: commands.flat() })
          expect(await listGainedOnServer(realm, initial, state)).toEqual([])
        }),
      ),
      { numRuns: SEQUENCES / SEQUENCES_PER_REALM, endOnFailure: true },
    )
  },
  TIME_LIMIT,
)

const refusedOperations = operationNames.filter((name) => findCheck(name) !== undefined)

test.each(takeSample(refusedOperations))(
  'the server refuses callers who could not grant the result: %s',
  async (name) => {
    const { counterexample } = fc.check(isNeverRefused(name), { numRuns: 5_000, seed: 1 })
    const [initial, commands] = counterexample!
    await runOnServer(await createTestRealm(initial), { initial, commands })
  },
)

test.each(takeSample(escalations))(
  'administrators gain nothing on the server by a sequence that needs the check of: %s',
  async (name) => {
    const { counterexample } = fc.check(neverGainsRoles(name, attemptRoles), { numRuns: 50_000, seed: 1 })
    const [initial, commands] = counterexample!
    const realm = await createTestRealm(initial)
    const state = await runOnServer(realm, { initial, commands })
    expect(await listGainedOnServer(realm, initial, state)).toEqual([])
  },
)

test.each(takeSample(escalations.filter((name) => findCheck(name) !== undefined)))(
  'administrators gain admin permissions on the server without the check of: %s',
  async (unchecked) => {
    const { counterexample } = fc.check(neverGainsRoles(unchecked), { numRuns: 5_000, seed: 1 })
    const [initial, commands] = counterexample!
    const realm = await createTestRealm(initial)
    const state = await runOnServer(realm, { initial, commands }, unchecked)
    expect(await listGainedOnServer(realm, initial, state)).not.toEqual([])
  },
)
