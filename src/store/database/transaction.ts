// Transactions: running them, retrying them, and ending them by a deadline.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Kysely, type KyselyPlugin, sql, type TransactionSettings } from 'kysely'
import { getErrorCode } from '../../lib/error-code.ts'
import { checkDeadline, type Deadline, LONGEST_TIMER } from '../../lib/timing/deadline.ts'

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

/** The result of the work of a transaction, and the statements whose responses it did not await. */
export interface CompletedWork<T> {
  readonly value: T
  /** Their errors are those of the transaction. */
  readonly pending: readonly Promise<unknown>[]
}

/** Runs the work in a transaction of an engine. */
export type TransactionRunner = <T>(
  work: (tx: Transaction) => Promise<CompletedWork<T>>,
  settings: TransactionSettings,
) => Promise<T>

/** Runs the work in a transaction, and again after a serialization failure or a deadlock. */
export async function runTransaction<T>(
  run: TransactionRunner,
  work: (tx: Transaction) => Promise<T>,
  { snapshot, deadline }: TransactionOptions = {},
): Promise<T> {
  const completeWork = (tx: Transaction) => collectDeferred(tx, work)
  const limitedWork = deadline ? withDeadline(completeWork, deadline) : completeWork
  const settings = snapshot ? ({ isolationLevel: 'repeatable read', accessMode: 'read only' } as const) : {}
  for (let attempt = 1; ; attempt++) {
    try {
      return await outsideTransaction(() => run(limitedWork, settings))
    } catch (error) {
      if (error instanceof Rollback) return error.value
      if (attempt === ATTEMPTS || !RETRIED.has(getErrorCode(error) ?? '')) throw error
    }
  }
}

/** Statements that were sent, and whose responses are not awaited yet. */
interface DeferredStatements {
  readonly statements: Promise<unknown>[]
  /** Whether they must be awaited before the commit is sent. */
  mustAwait: boolean
}

const deferredStatements = new WeakMap<Transaction, DeferredStatements>()

/**
 * Leaves the response of a statement to the end of the transaction: the statements after it, and the commit, are sent at once. It must have been
 * sent. If it fails, the transaction is rolled back and throws its error.
 *
 * @param options.isCheck the response can refuse the transaction, so that the commit must not be sent before
 */
export function defer(
  tx: Transaction,
  statement: Promise<unknown>,
  options: { readonly isCheck?: boolean } = {},
): void {
  // The error is thrown at the end of the transaction.
  statement.catch(() => {})
  const deferred = deferredStatements.get(tx)
  deferred?.statements.push(statement)
  if (deferred && options.isCheck) deferred.mustAwait = true
}

/** Awaits the statements that were deferred so far. The first error is thrown: the statements after a failed one fail since it did. */
export async function awaitStatements(tx: Transaction): Promise<void> {
  for (const statement of deferredStatements.get(tx)?.statements.splice(0) ?? []) await statement
}

/** Runs a part of the work of a transaction, and awaits the statements that it defers. Throws the first error. */
export async function awaitDeferred<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const { value, pending } = await collectDeferred(tx, work)
  for (const statement of pending) await statement
  return value
}

/** Runs a part of the work of a transaction. If it fails, only this part is rolled back, and its error thrown. Two more statements. */
export async function rollBackOnError<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(tx)
  try {
    const value = await awaitDeferred(tx, work)
    await sql`release savepoint part`.execute(tx)
    return value
  } catch (error) {
    await sql`rollback to savepoint part`.execute(tx)
    throw error
  }
}

/** Runs work, and returns the statements that it defers, except those that must be awaited. */
async function collectDeferred<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>): Promise<CompletedWork<T>> {
  const outer = deferredStatements.get(tx)
  const deferred: DeferredStatements = { statements: [], mustAwait: false }
  deferredStatements.set(tx, deferred)
  try {
    const value = await work(tx)
    if (deferred.mustAwait) await awaitStatements(tx)
    return { value, pending: deferred.statements }
  } catch (error) {
    // The first error is the cause of the others.
    await awaitStatements(tx)
    throw error
  } finally {
    if (outer) deferredStatements.set(tx, outer)
    else deferredStatements.delete(tx)
  }
}

/** @throws Error if a transaction is open: PGlite has one connection, so that another transaction would wait for ever. */
export function requireNoTransaction(): void {
  if (inTransaction.getStore()) throw new Error('A transaction is already open. Pass it as an argument instead.')
}

/** Runs the work as that of a transaction. Throws if another one is open. */
export function outsideTransaction<T>(work: () => Promise<T>): Promise<T> {
  requireNoTransaction()
  return inTransaction.run(true, work)
}

/**
 * Limits the work to the time until the deadline: the deadline is checked before each statement and before the commit, and the database
 * cancels a statement that takes longer, even if it only waits for a lock. Throws the error of the deadline. One more statement, unless the
 * deadline has no time yet.
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
    const remaining = deadline.remaining()
    if (Number.isFinite(remaining)) {
      const limit = String(Math.ceil(Math.min(remaining, LONGEST_TIMER)))
      await sql`select set_config('statement_timeout', ${limit}, true)`.execute(tx)
    }
    try {
      const result = await work(tx.withPlugin(deadlineCheck))
      checkDeadline(deadline)
      return result
    } catch (error) {
      throw getErrorCode(error) === CANCELED ? deadline.timeoutError : error
    }
  }
}
