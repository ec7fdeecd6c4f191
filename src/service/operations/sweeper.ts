// What goes when its time is over, in all realms.

import type { Transaction } from '../../store/database/transaction.ts'
import { deleteExpiredAdminEvents } from '../../store/journal/admin-events.ts'
import { deleteExpiredUserEvents } from '../../store/journal/user-events.ts'
import { deleteExpiredAuthenticationSessions } from '../../store/login/authentication-sessions.ts'
import { deleteExpiredSessions } from '../../store/login/session-ends.ts'
import { deleteExpiredSingleUses } from '../../store/login/single-use.ts'
import { CHUNK_SIZE } from '../../store/objects.ts'
import { deleteExpiredPlans } from '../../store/sources/plans.ts'
import type { Service } from '../context/service.ts'

/** One statement over all realms, which deletes at most so many rows whose time is over and gives how many they were. */
type Sweep = (tx: Transaction, now: Date, limit: number) => Promise<number>

const sweeps: readonly Sweep[] = [
  deleteExpiredAdminEvents,
  deleteExpiredUserEvents,
  deleteExpiredSessions,
  deleteExpiredSingleUses,
  deleteExpiredAuthenticationSessions,
  deleteExpiredPlans,
]

/** Deletes whatever is over, a chunk at a time: no statement holds many rows, and what was interrupted goes on the next time. */
export async function sweepExpiredRows(service: Service, now: Date): Promise<void> {
  for (const one of sweeps) {
    let gone: number
    do gone = await service.query((tx) => one(tx, now, CHUNK_SIZE))
    while (gone === CHUNK_SIZE)
  }
}
