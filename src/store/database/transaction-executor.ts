// Transactions on a connection of either engine. Kysely's own transactions would wait for the response of each statement.
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { traceChild } from '../../lib/tracing.ts'
import { createDialect, type ResultWithFields } from './dialect.ts'
import { describeStatement } from './statement-span.ts'
import type { CompletedWork, Tables, Transaction } from './transaction.ts'

/** A connection that executes what is sent to it in order, also while the responses of earlier statements are awaited. */
export interface OrderedConnection extends DatabaseConnection {
  execute<R>(query: CompiledQuery): Promise<ResultWithFields<R>>
  /** Sends the beginning of a transaction, without waiting for the response. If it fails, so does the first statement. */
  begin(settings: TransactionSettings): void
  /** @throws AbortedTransactionError if a statement of the transaction failed, so that nothing is committed. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

const compiler = new PostgresQueryCompiler()
const adapter = new PostgresAdapter()
const dialect = createDialect(() => new DummyDriver())

/** A transaction to run, and a function that is called after each of its statements. */
export interface ConnectionTransaction<T> {
  readonly work: (tx: Transaction) => Promise<CompletedWork<T>>
  readonly settings: TransactionSettings
  readonly onStatement?: ((statement: CompiledQuery) => void) | undefined
}

/** Runs a transaction on a connection, and traces it. */
export function runOnConnection<T>(connection: OrderedConnection, transaction: ConnectionTransaction<T>): Promise<T> {
  return traceChild(
    () => ({ name: 'transaction', kind: 'client', attributes: { 'db.system.name': 'postgresql' } }),
    () => completeTransaction(connection, transaction),
  )
}

/** Runs work in a transaction on a connection. The commit is sent together with the statements whose responses the work did not await. */
async function completeTransaction<T>(
  connection: OrderedConnection,
  { work, settings, onStatement }: ConnectionTransaction<T>,
): Promise<T> {
  const executor = new TransactionExecutor(connection, onStatement)
  try {
    connection.begin(settings)
    const { value, pending } = await work(executor.createKysely())
    executor.end()
    const commit = connection.commit()
    // The errors of the statements come first: the commit fails because of them.
    commit.catch(() => {})
    for (const statement of pending) await statement
    await commit
    return value
  } catch (error) {
    executor.end()
    if (!(error instanceof AbortedTransactionError)) await connection.rollback()
    throw error
  }
}

/** Executes the statements of one transaction, until it ends. */
class TransactionExecutor extends DefaultQueryExecutor {
  readonly #connection: OrderedConnection
  readonly #onStatement: ((statement: CompiledQuery) => void) | undefined
  #isOver = false

  constructor(connection: OrderedConnection, onStatement?: (statement: CompiledQuery) => void) {
    super(compiler, adapter, { provideConnection: (consumer) => consumer(connection) })
    this.#connection = connection
    this.#onStatement = onStatement
  }

  /** Returns a Kysely that executes statements here. */
  createKysely(): Kysely<Tables> {
    return new Kysely({ config: { dialect }, dialect, driver: new DummyDriver(), executor: this })
  }

  /** Sends the statement before it returns. */
  override async executeQuery<R>(query: CompiledQuery): Promise<ResultWithFields<R>> {
    if (this.#isOver) throw new Error('The transaction is over.')
    const result = await traceChild(
      () => describeStatement(query),
      () => this.#connection.execute<R>(query),
    )
    this.#onStatement?.(query)
    return result
  }

  /** Ends the use of the connection by the transaction. */
  end(): void {
    this.#isOver = true
  }
}
