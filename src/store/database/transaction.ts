// Transactions: running them, retrying them, and ending them by a deadline.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { getErrorCode } from '../../lib/error-code.ts'
import { checkDeadline, type Deadline } from '../../lib/timing/deadline.ts'

/** The type of the tables for Kysely. SQL texts name them, so their types are unknown. */
export type Tables = unknown
/** A transaction, or the connection for a single read. The first parameter of every function of the store. */
export type Transaction = Kysely<Tables>

/** Options of a transaction. */
export interface TransactionOptions {
  /** Whether the transaction reads one state throughout, and writes nothing. */
  readonly snapshot?: boolean
  /** The transaction is rolled back unless it ends before the deadline. */
  readonly deadline?: Deadline | undefined
}

/** Thrown by the work of a transaction to roll it back. The transaction then returns `value`. */
export class Rollback<T> extends Error {
  readonly value: T
  constructor(value: T) {
    super('The transaction was rolled back on purpose.')
    this.value = value
  }
}

/** SQLSTATEs after which the same work may succeed: serialization_failure and deadlock_detected. */
const RETRIED = new Set(['40001', '40P01'])
const ATTEMPTS = 5

/** SQLSTATE query_canceled: a statement has exceeded the time limit of its transaction. */
const CANCELED = '57014'

const inTransaction = new AsyncLocalStorage<true>()

/** Runs the work in a transaction, and again after a serialization failure or a deadlock. */
export async function runTransaction<T>(
  db: Kysely<Tables>,
  work: (tx: Transaction) => Promise<T>,
  { snapshot, deadline }: TransactionOptions = {},
): Promise<T> {
  const limitedWork = deadline ? withDeadline(work, deadline) : work
  for (let attempt = 1; ; attempt++) {
    try {
      // PGlite's driver ignores both, and needs neither: it has one connection, so transactions run one after the other.
      const transaction = snapshot
        ? db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
        : db.transaction()
      return await outsideTransaction(() => transaction.execute(limitedWork))
    } catch (error) {
      if (error instanceof Rollback) return error.value
      if (attempt === ATTEMPTS || !RETRIED.has(getErrorCode(error) ?? '')) throw error
    }
  }
}

/**
 * Runs the work.
 * @throws Error if a transaction is open: PGlite has one connection, so the work would wait for ever.
 */
export function outsideTransaction<T>(work: () => Promise<T>): Promise<T> {
  if (inTransaction.getStore()) throw new Error('A transaction is already open. Pass it as an argument instead.')
  return inTransaction.run(true, work)
}

/**
 * Limits the work to the time until the deadline: the deadline is checked before each statement, and the database cancels a statement
 * that takes longer, even if it only waits for a lock. Throws the error of the deadline. One more statement.
 */
function withDeadline<T>(work: (tx: Transaction) => Promise<T>, deadline: Deadline): (tx: Transaction) => Promise<T> {
  const deadlineCheck: KyselyPlugin = {
    transformQuery({ node }) {
      checkDeadline(deadline)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return async (tx) => {
    checkDeadline(deadline)
    const limit = String(Math.ceil(deadline.remaining()))
    await sql`select set_config('statement_timeout', ${limit}, true)`.execute(tx)
    try {
      return await work(tx.withPlugin(deadlineCheck))
    } catch (error) {
      throw getErrorCode(error) === CANCELED ? deadline.timeoutError : error
    }
  }
}
