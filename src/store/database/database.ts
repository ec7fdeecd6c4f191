// Opens the store: PostgreSQL, or PGlite in this process. Everything above sees one Kysely handle.
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdir } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, PostgresDialect } from 'kysely'
import pg from 'pg'
import { errorCode } from '../../lib/error-code.ts'
import type { Deadline } from '../../lib/timing/deadline.ts'
import { emptyImage } from './image.ts'
import { lockFolder } from './lock.ts'
import { LAST_MIGRATION, migrate } from './migrate.ts'
import { type ExecutedStatement, integer, row, rows } from './row.ts'
import { inTime } from './time.ts'
import type { Tables, Transaction } from './transaction.ts'
import { embeddedWakeUps, postgresWakeUps, type WakeUps } from './wake.ts'

/** Is called after each statement that was executed. */
export type StatementListener = (statement: ExecutedStatement) => void

/** Where the store is: `url` of a PostgreSQL database, or `folder` of an embedded one (absent: in memory). */
export interface StoreLocation {
  readonly url?: string | undefined
  readonly folder?: string | undefined
}

/** An open store. */
export interface Store {
  readonly engine: 'PostgreSQL' | 'PGlite'
  /** Runs the work in one transaction; runs it again after a serialization failure or a deadlock. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs reads that need not see one state, each statement for itself. Inside a transaction: throws. */
  read<T>(work: (db: Transaction) => Promise<T>): Promise<T>
  /** Tells of what transactions have left to look at, of any process over the same store. */
  readonly subscribe: WakeUps['subscribe']
  /** Says to whoever is refused the folder where the running server answers. */
  announce(url: string): Promise<void>
  close(): Promise<void>
}

/** How a transaction runs: `snapshot` reads one state throughout and writes nothing. */
export interface TransactionOptions {
  readonly snapshot?: boolean
  /** What is not done by then is rolled back. */
  readonly deadline?: Deadline | undefined
}

/** Thrown by the work to end its transaction without keeping anything; `transaction` then returns `value`. */
export class Rollback<T> extends Error {
  readonly value: T
  constructor(value: T) {
    super('rolled back on purpose')
    this.value = value
  }
}

/** SQLSTATEs after which the same work may succeed: serialization_failure and deadlock_detected. */
const RETRIED = new Set(['40001', '40P01'])
const ATTEMPTS = 5

/** Milliseconds to wait for a connection: where many write in one realm, they follow each other, and others wait for theirs. */
const PATIENCE = 30_000

const inTransaction = new AsyncLocalStorage<true>()

/**
 * Opens the store and brings its schema up to date, or to the migration `level`. Throws FolderInUse, or what the database says.
 */
export async function openStore(
  location: StoreLocation,
  onStatement?: StatementListener,
  level = LAST_MIGRATION,
): Promise<Store> {
  const { url, folder } = location
  return url ? openPostgres(url, level, onStatement) : openEmbedded(folder, level, onStatement)
}

async function openPostgres(url: string, level: string, onStatement?: StatementListener): Promise<Store> {
  // int8 as a number: journal numbers and counts stay far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: PATIENCE, pipeline: true })
  // An idle connection that breaks is replaced by the pool; unhandled, the event would end the process.
  pool.on('error', () => {})
  // So would the event of one that is in use, whose statements fail by themselves.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = kysely(new PostgresDialect({ pool }), onStatement)
  try {
    demandVersion(await serverVersion(db))
    await migrate(db, level)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const wakes = postgresWakeUps(url)
  return {
    engine: 'PostgreSQL',
    transaction: (work, options) => transact(db, work, options),
    read: (work) => outside(() => work(db)),
    subscribe: wakes.subscribe,
    announce: async () => {},
    async close() {
      await wakes.close()
      await db.destroy()
    },
  }
}

/** Returns the version of the PostgreSQL server, such as 150018. One statement. */
async function serverVersion(db: Kysely<Tables>): Promise<number> {
  const { version } = await rows(row({ version: integer }))`
    select current_setting('server_version_num')::integer as version`.one(db)
  return version
}

/** The oldest version of PostgreSQL that has every statement of the store: `unique nulls not distinct` came with 15. */
const OLDEST_MAJOR = 15

/**
 * Checks the version of a PostgreSQL server, such as 150018.
 * @throws Error when it is too old.
 */
export function demandVersion(version: number): void {
  const [major, minor] = [Math.floor(version / 10_000), version % 10_000]
  if (major < OLDEST_MAJOR)
    throw new Error(
      `The database is PostgreSQL ${major}.${minor}. Regent needs version ${OLDEST_MAJOR} or later: upgrade it.`,
    )
}

async function openEmbedded(
  folder: string | undefined,
  level: string,
  onStatement?: StatementListener,
): Promise<Store> {
  if (folder) await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = folder ? await lockFolder(folder) : undefined
  try {
    const pglite = await openPGlite(folder, level)
    const db = kysely(new PGliteDialect({ pglite }), onStatement)
    await migrate(db, level)
    const wakes = embeddedWakeUps(pglite, db)
    return {
      engine: 'PGlite',
      transaction: (work, options) => transact(db, work, options),
      read: (work) => outside(() => work(db)),
      subscribe: wakes.subscribe,
      announce: async (url) => lock?.announce(url),
      async close() {
        await wakes.close()
        await db.destroy()
        if (!pglite.closed) await pglite.close()
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/**
 * What PGlite runs is compiled twice: at once, and again with optimizations once it has run long enough. Of the function
 * that evaluates expressions the second takes 800 ms and 600 MB, which most commands end before it pays back: only who
 * runs it much comes to that. It is a number of bytes that have run, roughly.
 */
const WASM_TIERING_BUDGET = 2_000_000_000

/** A PGlite of its own: the folder as it is, or made from the prepared image of the empty database, which has every migration. */
async function openPGlite(folder: string | undefined, level: string): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`)
  const parsers = { 20: Number }
  const dataDir = folder ? `file://${folder}/pglite` : 'memory://'
  if (level !== LAST_MIGRATION) return PGlite.create({ dataDir, parsers })
  const { exists, image } = await emptyImage(folder ? `${folder}/pglite` : undefined)
  return PGlite.create({ dataDir, parsers, ...(exists || !image ? {} : { loadDataDir: image }) })
}

function kysely(dialect: PostgresDialect | PGliteDialect, onStatement?: StatementListener): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect,
    log: (event) => {
      if (event.level === 'query') onStatement?.(event.query)
    },
  })
}

async function transact<T>(
  db: Kysely<Tables>,
  work: (tx: Transaction) => Promise<T>,
  { snapshot, deadline }: TransactionOptions = {},
): Promise<T> {
  const timed = deadline ? inTime(work, deadline) : work
  for (let attempt = 1; ; attempt++) {
    try {
      // PGlite's driver ignores both, and needs neither: it has one connection, whose transactions follow each other.
      const transaction = snapshot
        ? db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
        : db.transaction()
      return await outside(() => transaction.execute(timed))
    } catch (error) {
      if (error instanceof Rollback) return error.value as T
      if (attempt === ATTEMPTS || !RETRIED.has(errorCode(error) ?? '')) throw error
    }
  }
}

/** Runs the work, which must not be inside a transaction: with one connection (PGlite) it would wait for itself for ever. */
function outside<T>(work: () => Promise<T>): Promise<T> {
  if (inTransaction.getStore()) throw new Error('a transaction is already open here: pass it on instead')
  return inTransaction.run(true, work)
}
