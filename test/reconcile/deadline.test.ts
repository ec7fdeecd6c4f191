// A run that must have ended by a moment: wherever that passes, nothing is kept, and no document is to blame.
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

/** A moment that passes after so many looks at it. */
function passingAfter(looks: number): Deadline {
  let seen = 0
  return { remaining: () => (seen++ < looks ? 60_000 : 0), timeoutError: failure('timeout', 'it has taken too long') }
}

test('a run is broken off at each step at which its time may be over, and is whole when it is not', async () => {
  const realm = newName()
  await applySource(service, createSource([{ realm, clients: [{ clientId: 'gone' }] }], realm))
  const before = await dumpRows(service, realm)
  const wanted = createSource(
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
  let looks = 0
  for (let overdue = true; overdue; looks++) {
    const deadline = passingAfter(looks)
    const error = await applySources(service, { ...SYSTEM, deadline }, [wanted]).catch((one: unknown) => one)
    overdue = error === deadline.timeoutError
    // What one leaves, the next ones leave too: not each has to be looked at.
    if (overdue && looks % 6 === 5) expect(await dumpRows(service, realm)).toEqual(before)
    if (!overdue) expect(error).toMatchObject({ realms: [{ plan: { realm } }] })
  }
  expect(looks).toBeGreaterThan(20)
  expect((await getLiveObject(service, SYSTEM, realm, 'client', 'shop')).key).toEqual(['shop'])
})
