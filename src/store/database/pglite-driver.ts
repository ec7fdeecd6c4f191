// Kysely's driver for PGlite. It prepares statements, so that a text is parsed and planned once instead of at each execution.
import { Mutex, type PGlite, parse, protocol } from '@electric-sql/pglite'
import { AbortedTransactionError, type CompiledQuery, type Dialect, type Driver } from 'kysely'
import { traceChild } from '../../lib/tracing.ts'
import { createDialect, type ResultWithFields, refuseStreaming } from './dialect.ts'
import { StatementNames } from './statement-names.ts'
import { describeStatement } from './statement-span.ts'
import { type ConnectionTransaction, type OrderedConnection, runOnConnection } from './transaction-executor.ts'

const { serialize } = protocol

/** PGlite has one connection, so transactions and single statements run one after the other. */
export class PGliteDriver implements Driver {
  readonly #connection: PGliteConnection
  readonly #mutex = new Mutex()

  constructor(pglite: PGlite) {
    this.#connection = new PGliteConnection(pglite)
  }

  /** Creates a dialect with this driver. Destroying its Kysely does not close PGlite. */
  createDialect(): Dialect {
    return createDialect(() => this)
  }

  /** Runs a transaction after those that began before. */
  async runTransaction<T>(transaction: ConnectionTransaction<T>): Promise<T> {
    const connection = await this.acquireConnection()
    try {
      return await runOnConnection(connection, transaction)
    } finally {
      await this.releaseConnection()
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PGliteConnection> {
    await this.#mutex.acquire()
    return this.#connection
  }

  async beginTransaction(connection: PGliteConnection): Promise<void> {
    connection.begin()
  }

  async commitTransaction(connection: PGliteConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: PGliteConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(): Promise<void> {
    this.#mutex.release()
  }

  async destroy(): Promise<void> {}
}

/** The connection of PGlite. */
export class PGliteConnection implements OrderedConnection {
  readonly #pglite: PGlite
  readonly #names = new StatementNames()
  /** The types of the parameters by name of the prepared statement. */
  readonly #parameterTypes = new Map<string, readonly number[]>()
  /** Resolves at the end of the last statement. Several steps execute one, between which another one must not begin. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  executeQuery<R>(query: CompiledQuery): Promise<ResultWithFields<R>> {
    return traceChild(
      () => describeStatement(query),
      () => this.execute<R>(query),
    )
  }

  execute<R>(query: CompiledQuery): Promise<ResultWithFields<R>> {
    return this.#inOrder(() => this.#executeNow(query))
  }

  /** Ignores isolation level and access mode: no other transaction runs at the same time. */
  begin(): void {
    this.#send('begin').catch(() => {})
  }

  async commit(): Promise<void> {
    if ((await this.#send('commit')) === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    await this.#send('rollback')
  }

  /** Executes a statement without parameters and rows. Returns its command tag. */
  async #send(text: string): Promise<string | undefined> {
    const [result] = await this.#inOrder(() => this.#pglite.exec(text))
    return result?.command
  }

  /** Runs work after all earlier statements, also after failed ones. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  async #executeNow<R>({ sql, parameters }: CompiledQuery): Promise<ResultWithFields<R>> {
    const name = this.#names.find(sql)
    const { rows, fields, affectedRows } = name
      ? await this.#executePrepared<R>(name, sql, parameters)
      : await this.#pglite.query<R>(sql, [...parameters])
    return { rows, fields, ...(affectedRows !== undefined && { numAffectedRows: BigInt(affectedRows) }) }
  }

  streamQuery(): AsyncIterableIterator<never> {
    return refuseStreaming()
  }

  async #executePrepared<R>(name: string, text: string, parameters: readonly unknown[]) {
    const types = this.#parameterTypes.get(name) ?? (await this.#prepare(name, text))
    const values = parameters.map((value, index) => this.#serializeValue(value, types[index]!))
    const messages = await this.#sendMessages(
      serialize.bind({ statement: name, values }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
    )
    const [result] = parse.parseResults(messages, this.#pglite.parsers)
    if (!result) throw new Error('The statement has no result.')
    return { ...result, rows: result.rows as R[] }
  }

  /** Prepares a statement. Returns the types of its parameters. */
  async #prepare(name: string, text: string): Promise<readonly number[]> {
    const messages = await this.#sendMessages(serialize.parse({ name, text }), serialize.describe({ type: 'S', name }))
    const types = parse.parseDescribeStatementResults(messages)
    this.#parameterTypes.set(name, types)
    return types
  }

  #serializeValue(value: unknown, type: number): string | null {
    if (value === null || value === undefined) return null
    return this.#pglite.serializers[type]?.(value) ?? String(value)
  }

  async #sendMessages(...messages: readonly Uint8Array[]) {
    return this.#pglite.execProtocolStream(Buffer.concat([...messages, serialize.sync()]))
  }
}
