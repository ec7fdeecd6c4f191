// Runs with a deadline. When it passes, the run is rolled back with a timeout error, not an error of a document.
import { expect, test } from 'vitest'
import type { Deadline } from '../../src/lib/timing/deadline.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { failure } from '../../src/service/context/errors.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { dumpRows } from '../support/database-rows.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()

/** Returns a deadline that passes after a number of checks. */
function deadlineAfter(checks: number): Deadline {
  let count = 0
  return { remaining: () => (count++ < checks ? 60_000 : 0), timeoutError: failure('timeout', 'it has taken too long') }
}

test('a run whose deadline passes at any step changes nothing', async () => {
  const realm = newName()
  await applySource(service, createSource([{ realm, clients: [{ clientId: 'removed' }] }], realm))
  const before = await dumpRows(service, realm)
  const desired = createSource(
    [
      {
        realm,
        displayName: 'In time',
        clients: [{ clientId: 'shop' }],
        users: [{ username: 'ann', credentials: [{ type: 'password', value: 'a-password' }] }],
      },
    ],
    realm,
  )
  let checks = 0
  for (let isOverdue = true; isOverdue; checks++) {
    const deadline = deadlineAfter(checks)
    const error = await applySources(service, { ...SYSTEM, deadline }, [desired]).catch((reason: unknown) => reason)
    isOverdue = error === deadline.timeoutError
    // Leftover rows would remain, so comparing after every sixth run suffices.
    if (isOverdue && checks % 6 === 5) expect(await dumpRows(service, realm)).toEqual(before)
    if (!isOverdue) expect(error).toMatchObject({ realms: [{ plan: { realm } }] })
  }
  expect(checks).toBeGreaterThan(20)
  expect((await getLiveObject(service, SYSTEM, realm, 'client', 'shop')).key).toEqual(['shop'])
})
