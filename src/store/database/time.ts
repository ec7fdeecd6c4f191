// Transactions that must have ended by a moment: nothing is begun after it, and what runs then is broken off.
import { type KyselyPlugin, sql } from 'kysely'
import { errorCode } from '../../lib/error-code.ts'
import { type Deadline, demandTime } from '../../lib/timing/deadline.ts'
import type { Transaction } from './transaction.ts'

/** SQLSTATE query_canceled: a statement took longer than its transaction may. */
const CANCELED = '57014'

/**
 * The work within the time that is left when its transaction begins. Each statement looks at the clock before it begins, and is
 * broken off by the database when it takes that long by itself, also where it only waits for a lock. Throws `overdue`. One
 * statement more.
 */
export function inTime<T>(work: (tx: Transaction) => Promise<T>, deadline: Deadline): (tx: Transaction) => Promise<T> {
  const looking: KyselyPlugin = {
    transformQuery({ node }) {
      demandTime(deadline)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return async (tx) => {
    demandTime(deadline)
    const limit = String(Math.ceil(deadline.left()))
    await sql`select set_config('statement_timeout', ${limit}, true)`.execute(tx)
    try {
      return await work(tx.withPlugin(looking))
    } catch (error) {
      throw errorCode(error) === CANCELED ? deadline.overdue : error
    }
  }
}
