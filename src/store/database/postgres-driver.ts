// Kysely's driver for PostgreSQL. Connections prepare statements, so that a text is parsed and planned once instead of at each execution.
import {
  AbortedTransactionError,
  type CompiledQuery,
  type Dialect,
  type Driver,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { traceChild } from '../../lib/tracing.ts'
import { createDialect, type ResultWithFields, refuseStreaming } from './dialect.ts'
import { StatementNames } from './statement-names.ts'
import { describeStatement } from './statement-span.ts'
import { type ConnectionTransaction, type OrderedConnection, runOnConnection } from './transaction-executor.ts'
import { StoreUnreachable, toStoreError } from './unreachable.ts'

/** Options of the driver. */
export interface DriverOptions {
  /** Whether connections prepare statements. */
  readonly preparesStatements: boolean
}

/** The driver of a pool of connections. */
export class PostgresDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #options: DriverOptions
  readonly #connections = new WeakMap<pg.PoolClient, PostgresConnection>()

  constructor(pool: pg.Pool, options: DriverOptions) {
    this.#pool = pool
    this.#options = options
  }

  /** Creates a dialect with this driver. */
  createDialect(): Dialect {
    return createDialect(() => this)
  }

  /** Runs a transaction on a connection of the pool. */
  async runTransaction<T>(transaction: ConnectionTransaction<T>): Promise<T> {
    const connection = await this.acquireConnection()
    try {
      return await runOnConnection(connection, transaction)
    } finally {
      connection.release()
    }
  }

  async init(): Promise<void> {}

  /** Throws StoreUnreachable. */
  async acquireConnection(): Promise<PostgresConnection> {
    const client = await this.#pool.connect().catch(throwStoreError)
    const connection = this.#connections.get(client) ?? this.#openConnection(client)
    connection.isReleased = false
    return connection
  }

  #openConnection(client: pg.PoolClient): PostgresConnection {
    const connection = new PostgresConnection(client, this.#options, () => this.acquireConnection())
    this.#connections.set(client, connection)
    connection.turnOffCompilation()
    return connection
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    connection.begin(settings)
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

function throwStoreError(error: unknown): never {
  throw toStoreError(error)
}

/** Whether a statement changes nothing, so that it can be executed again. */
const isRead = ({ sql }: CompiledQuery): boolean =>
  /^\s*(select|with)\b/i.test(sql) && !/\b(insert into|update|delete from|merge into)\b/i.test(sql)

/** A connection of the pool. */
export class PostgresConnection implements OrderedConnection {
  readonly #client: pg.PoolClient
  readonly #names: StatementNames | undefined
  readonly #acquireOther: () => Promise<PostgresConnection>
  #mustClose = false
  /** Whether the pool has it. */
  isReleased = false
  #isCollecting = false
  /** Whether it has worked, so that the database could be reached since it was opened. */
  #hasResponded = false

  /** @param acquireOther acquires another connection of the pool */
  constructor(
    client: pg.PoolClient,
    { preparesStatements }: DriverOptions,
    acquireOther: () => Promise<PostgresConnection>,
  ) {
    this.#client = client
    this.#acquireOther = acquireOther
    this.#names = preparesStatements ? new StatementNames() : undefined
  }

  /**
   * Executes a statement outside a transaction. Kysely replaces this method to log statements. A read is executed again on another connection
   * while it meets broken ones that were idle: the database may have restarted since they were used last.
   */
  async executeQuery<R>(query: CompiledQuery): Promise<ResultWithFields<R>> {
    try {
      return await traceChild(
        () => describeStatement(query),
        () => this.execute<R>(query),
      )
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || !isRead(query) || !this.#hasResponded) throw error
      // Reads that keep broken connections would wait for each other's.
      this.release()
      const other = await this.#acquireOther()
      try {
        return await other.executeQuery<R>(query)
      } finally {
        other.release()
      }
    }
  }

  /** Sends a statement. The messages of all statements that the same task sends leave together. Throws StoreUnreachable. */
  async execute<R>({ sql, parameters }: CompiledQuery): Promise<ResultWithFields<R>> {
    const name = this.#names?.find(sql)
    const statement = { ...(name && { name }), text: sql, values: [...parameters] }
    this.#collectMessages()
    const result = this.#client.query<R & pg.QueryResultRow>(statement)
    const { command, rowCount, rows, fields } = await result.catch((error: unknown) => this.#throwError(error))
    this.#hasResponded = true
    const changesRows = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)
    return { rows, fields, ...(changesRows && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  /** Collects the messages of the current task, and sends them at its end by one system call. */
  #collectMessages(): void {
    if (this.#isCollecting) return
    const { stream } = this.#client.connection
    this.#isCollecting = true
    stream.cork()
    process.nextTick(() => {
      this.#isCollecting = false
      stream.uncork()
    })
  }

  /**
   * Turns off just-in-time compilation, without waiting for the response. PostgreSQL compiles statements whose estimated costs are high, as
   * those of recursive ones are, which takes up to a second at each execution.
   */
  turnOffCompilation(): void {
    this.#collectMessages()
    // If it fails, the connection is broken, and the first statement fails too.
    this.#client.query('set jit = off').catch(() => {})
  }

  /** Sends the beginning of a transaction, without waiting for the response: the first statement follows at once. */
  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const modes = [isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean)
    this.#collectMessages()
    // If it fails, the connection is broken, and the first statement fails too.
    this.#client.query(`begin ${modes.join(' ')}`).catch(() => {})
  }

  /** @throws AbortedTransactionError if a statement of the transaction failed, so that nothing is committed; StoreUnreachable. */
  async commit(): Promise<void> {
    const { command } = await this.#client.query('commit').catch((error: unknown) => this.#throwError(error))
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  /** Rolls back the transaction. A connection that fails to do so is closed, which ends the transaction too. */
  async rollback(): Promise<void> {
    await this.#client.query('rollback').catch(() => {
      this.#mustClose = true
    })
  }

  #throwError(error: unknown): never {
    const storeError = toStoreError(error)
    this.#mustClose ||= storeError instanceof StoreUnreachable
    throw storeError
  }

  /** Returns the connection to the pool. It is closed instead if it has prepared as many statements as it may, or is broken. */
  release(): void {
    if (this.isReleased) return
    this.isReleased = true
    this.#client.release(this.#mustClose || this.#names?.isFull)
  }

  streamQuery(): AsyncIterableIterator<never> {
    return refuseStreaming()
  }
}
