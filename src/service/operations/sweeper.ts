// Deletes expired rows of all realms.
import { CHUNK_SIZE } from '../../store/database/query.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { sendWakeUp } from '../../store/database/wake-up.ts'
import { deleteExpiredAdminEvents } from '../../store/journal/admin-events.ts'
import {
  deleteOldEntries,
  deleteOldPlansOfRuns,
  deleteOldRuns,
  deleteOldUserEntries,
} from '../../store/journal/retention.ts'
import { deleteExpiredUserEvents } from '../../store/journal/user-events.ts'
import { deleteExpiredAuthenticationSessions } from '../../store/login/authentication-sessions.ts'
import { deleteExpiredSessions } from '../../store/login/session-ends.ts'
import { deleteExpiredSingleUses } from '../../store/login/single-use.ts'
import { deleteExpiredInitialTokens } from '../../store/registration-tokens.ts'
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
  deleteExpiredInitialTokens,
]

/** Deletes expired sessions, and announces it, since their tokens are not valid any more. */
async function sweepSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const deleted = await deleteExpiredSessions(tx, now, limit)
  if (deleted) await sendWakeUp(tx, { topic: 'access' })
  return deleted
}

/** The days for which each stream of the journal is kept; undefined: always. */
export interface JournalRetention {
  readonly configuration?: number | undefined
  readonly users?: number | undefined
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Deletes all expired rows, in chunks, so that no statement locks many of them. */
export async function sweepExpiredRows(service: Service, now: Date, retention: JournalRetention = {}): Promise<void> {
  for (const sweep of [...sweeps, ...listJournalSweeps(retention)]) {
    let deleted: number
    do deleted = await service.query((tx) => sweep(tx, now, CHUNK_SIZE))
    while (deleted === CHUNK_SIZE)
  }
}

function listJournalSweeps({ configuration, users }: JournalRetention): Sweep[] {
  const olderThan = (days: number | undefined, sweep: Sweep): Sweep[] =>
    days === undefined ? [] : [(tx, now, limit) => sweep(tx, new Date(now.getTime() - days * DAY_MS), limit)]
  return [
    ...olderThan(configuration, deleteOldEntries),
    ...olderThan(configuration, deleteOldRuns),
    ...olderThan(users, deleteOldUserEntries),
    ...olderThan(users, deleteOldPlansOfRuns),
  ]
}
