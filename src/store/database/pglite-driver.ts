// Kysely's driver for PGlite. It prepares statements, so that a text is parsed and planned once instead of at each execution.
import { Mutex, type PGlite, parse, protocol } from '@electric-sql/pglite'
import { AbortedTransactionError, type CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely'
import { createDialect, type ResultWithFields, refuseStreaming } from './dialect.ts'
import { StatementNames } from './statement-names.ts'

const { serialize } = protocol

/** Creates the dialect of an open PGlite. Destroying Kysely does not close it. */
export function createPGliteDialect(pglite: PGlite): Dialect {
  return createDialect(() => new PGliteDriver(pglite))
}

/** PGlite has one connection, so transactions and single statements run one after the other. */
class PGliteDriver implements Driver {
  readonly #connection: PGliteConnection
  readonly #mutex = new Mutex()

  constructor(pglite: PGlite) {
    this.#connection = new PGliteConnection(pglite)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PGliteConnection> {
    await this.#mutex.acquire()
    return this.#connection
  }

  /** Ignores isolation level and access mode: no other transaction runs at the same time. */
  async beginTransaction(connection: PGliteConnection): Promise<void> {
    await connection.execute('begin')
  }

  async commitTransaction(connection: PGliteConnection): Promise<void> {
    if ((await connection.execute('commit')) === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollbackTransaction(connection: PGliteConnection): Promise<void> {
    await connection.execute('rollback')
  }

  async releaseConnection(): Promise<void> {
    this.#mutex.release()
  }

  async destroy(): Promise<void> {}
}

/** The connection of PGlite. */
export class PGliteConnection implements DatabaseConnection {
  readonly #pglite: PGlite
  readonly #names = new StatementNames()
  /** The types of the parameters by name of the prepared statement. */
  readonly #parameterTypes = new Map<string, readonly number[]>()

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<ResultWithFields<R>> {
    const name = this.#names.find(sql)
    const { rows, fields, affectedRows } = name
      ? await this.#executePrepared<R>(name, sql, parameters)
      : await this.#pglite.query<R>(sql, [...parameters])
    return { rows, fields, ...(affectedRows !== undefined && { numAffectedRows: BigInt(affectedRows) }) }
  }

  /** Executes a statement without parameters and rows. Returns its command tag. */
  async execute(text: string): Promise<string | undefined> {
    const [result] = await this.#pglite.exec(text)
    return result?.command
  }

  streamQuery(): AsyncIterableIterator<never> {
    return refuseStreaming()
  }

  async #executePrepared<R>(name: string, text: string, parameters: readonly unknown[]) {
    const types = this.#parameterTypes.get(name) ?? (await this.#prepare(name, text))
    const values = parameters.map((value, index) => this.#serializeValue(value, types[index]!))
    const messages = await this.#send(
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
    const messages = await this.#send(serialize.parse({ name, text }), serialize.describe({ type: 'S', name }))
    const types = parse.parseDescribeStatementResults(messages)
    this.#parameterTypes.set(name, types)
    return types
  }

  #serializeValue(value: unknown, type: number): string | null {
    if (value === null || value === undefined) return null
    return this.#pglite.serializers[type]?.(value) ?? String(value)
  }

  async #send(...messages: readonly Uint8Array[]) {
    return this.#pglite.execProtocolStream(Buffer.concat([...messages, serialize.sync()]))
  }
}
