// Kysely's driver for PostgreSQL. Connections prepare statements, so that a text is parsed and planned once instead of at each execution.
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { createDialect, type ResultWithFields, refuseStreaming } from './dialect.ts'
import { StatementNames } from './statement-names.ts'

/** Options of the driver. */
export interface DriverOptions {
  /** Whether connections prepare statements. */
  readonly preparesStatements: boolean
}

/** Creates the dialect whose connections are those of the pool. */
export function createPostgresDialect(pool: pg.Pool, options: DriverOptions): Dialect {
  return createDialect(() => new PostgresDriver(pool, options))
}

class PostgresDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #options: DriverOptions
  readonly #connections = new WeakMap<pg.PoolClient, PostgresConnection>()

  constructor(pool: pg.Pool, options: DriverOptions) {
    this.#pool = pool
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const client = await this.#pool.connect()
    const connection = this.#connections.get(client) ?? new PostgresConnection(client, this.#options)
    this.#connections.set(client, connection)
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

/** A connection of the pool. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #names: StatementNames | undefined
  #mustClose = false

  constructor(client: pg.PoolClient, { preparesStatements }: DriverOptions) {
    this.#client = client
    this.#names = preparesStatements ? new StatementNames() : undefined
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<ResultWithFields<R>> {
    const name = this.#names?.find(sql)
    const statement = { ...(name && { name }), text: sql, values: [...parameters] }
    const { command, rowCount, rows, fields } = await this.#client.query<R & pg.QueryResultRow>(statement)
    const changesRows = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)
    return { rows, fields, ...(changesRows && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  /** Sends the beginning of a transaction, without waiting for the response: the first statement follows at once. */
  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const modes = [isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean)
    // If it fails, the connection is broken, and the first statement fails too.
    this.#client.query(`begin ${modes.join(' ')}`).catch(() => {})
  }

  /** @throws AbortedTransactionError if a statement of the transaction failed, so that nothing is committed. */
  async commit(): Promise<void> {
    const { command } = await this.#client.query('commit')
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    try {
      await this.#client.query('rollback')
    } catch (error) {
      this.#mustClose = true
      throw error
    }
  }

  /** Returns the connection to the pool. It is closed instead if it has prepared as many statements as it may, or is broken. */
  release(): void {
    this.#client.release(this.#mustClose || this.#names?.isFull)
  }

  streamQuery(): AsyncIterableIterator<never> {
    return refuseStreaming()
  }
}
