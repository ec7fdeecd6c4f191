// Deletes expired rows of all realms.
import type { Transaction } from '../../store/database/transaction.ts'
import { sendWakeUp } from '../../store/database/wake-up.ts'
import { deleteExpiredAdminEvents } from '../../store/journal/admin-events.ts'
import { deleteExpiredUserEvents } from '../../store/journal/user-events.ts'
import { deleteExpiredAuthenticationSessions } from '../../store/login/authentication-sessions.ts'
import { deleteExpiredSessions } from '../../store/login/session-ends.ts'
import { deleteExpiredSingleUses } from '../../store/login/single-use.ts'
import { CHUNK_SIZE } from '../../store/objects.ts'
import { deleteExpiredPlans } from '../../store/sources/plans.ts'
import type { Service } from '../context/service.ts'

/** A statement over all realms that deletes up to `limit` expired rows, and returns their number. */
type Sweep = (tx: Transaction, now: Date, limit: number) => Promise<number>

const sweeps: readonly Sweep[] = [
  deleteExpiredAdminEvents,
  deleteExpiredUserEvents,
  sweepSessions,
  deleteExpiredSingleUses,
  deleteExpiredAuthenticationSessions,
  deleteExpiredPlans,
]

/** Deletes expired sessions, and announces it, since their tokens are not valid any more. */
async function sweepSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const deleted = await deleteExpiredSessions(tx, now, limit)
  if (deleted) await sendWakeUp(tx, { topic: 'access' })
  return deleted
}

/** Deletes all expired rows, in chunks, so that no statement locks many of them. */
export async function sweepExpiredRows(service: Service, now: Date): Promise<void> {
  for (const sweep of sweeps) {
    let deleted: number
    do deleted = await service.query((tx) => sweep(tx, now, CHUNK_SIZE))
    while (deleted === CHUNK_SIZE)
  }
}
