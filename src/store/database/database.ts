// Opens the store: a PostgreSQL database, or PGlite in this process.
import { type Dialect, Kysely } from 'kysely'
import pg from 'pg'
import { createFolder } from '../../lib/create-folder.ts'
import { lockFolder } from './folder-lock.ts'
import { LAST_MIGRATION, migrate } from './migrate.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { type ExecutedStatement, integer, query, row } from './query.ts'
import { createStatisticsUpdates } from './statistics.ts'
import {
  outsideTransaction,
  runTransaction,
  type Tables,
  type Transaction,
  type TransactionOptions,
} from './transaction.ts'
import { openEmbeddedWakeUps, openPostgresWakeUps, type WakeUpChannel } from './wake-up.ts'

/** A function that is called after each executed statement. */
export type StatementListener = (statement: ExecutedStatement) => void

/** The location of a store: the URL of a PostgreSQL database, or the folder of an embedded one; neither: in memory. */
export interface StoreLocation {
  readonly url?: string | undefined
  readonly folder?: string | undefined
  readonly connections?: ConnectionOptions
}

/** The connections to a PostgreSQL database. */
export interface ConnectionOptions {
  /** The most connections at a time, without the one for wake-ups. Absent: 10. */
  readonly poolSize?: number
  /** The URL for wake-ups, if `url` is that of a connection pooler. */
  readonly directUrl?: string | undefined
  /** Some connection poolers do not allow prepared statements. Absent: statements are prepared. */
  readonly preparesStatements?: boolean
}

/** An open store. */
export interface Store {
  readonly engine: 'PostgreSQL' | 'PGlite'
  /** Runs the work in a transaction, and again after a serialization failure or a deadlock. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs reads outside a transaction, so that each statement sees its own state. Throws inside a transaction. */
  read<T>(work: (db: Transaction) => Promise<T>): Promise<T>
  /** Subscribes to the wake-ups of all processes that use the store. */
  readonly subscribe: WakeUpChannel['subscribe']
  readonly isUpToDate: WakeUpChannel['isUpToDate']
  /** Publishes the URL of the running server to processes that cannot open the folder meanwhile. */
  announce(url: string): Promise<void>
  /** Updates the statistics of the query planner in the background, after a large write. */
  updateStatistics(): void
  close(): Promise<void>
}

/** Milliseconds to wait for a connection. Writers of one realm wait for each other, and hold their connections meanwhile. */
const CONNECTION_TIMEOUT = 30_000

/**
 * Opens the store, and migrates it to the last migration, or to `lastMigration`.
 * @throws FolderInUse, or the error of the database.
 */
export async function openStore(
  location: StoreLocation,
  onStatement?: StatementListener,
  lastMigration = LAST_MIGRATION,
): Promise<Store> {
  const { url, folder, connections = {} } = location
  return url
    ? openPostgres({ ...connections, url }, lastMigration, onStatement)
    : openEmbedded(folder, lastMigration, onStatement)
}

async function openPostgres(
  { url, directUrl = url, poolSize = 10, preparesStatements = true }: ConnectionOptions & { readonly url: string },
  lastMigration: string,
  onStatement?: StatementListener,
): Promise<Store> {
  // int8 as a number: the store's numbers stay far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    pipeline: true,
  })
  // The pool replaces an idle connection that breaks. Without a handler, the event would end the process.
  pool.on('error', () => {})
  // So would the event of a connection in use, whose statements fail anyway.
  pool.on('connect', (client) => client.on('error', () => {}))
  const driver = new PostgresDriver(pool, { preparesStatements })
  const db = createKysely(driver.createDialect(), onStatement)
  try {
    checkVersion(await getServerVersion(db))
    await migrate(db, lastMigration)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const wakeUps = openPostgresWakeUps(directUrl, pool)
  const statistics = createStatisticsUpdates(db)
  return {
    engine: 'PostgreSQL',
    transaction: (work, options) =>
      runTransaction(
        (limited, settings) => driver.runTransaction({ work: limited, settings, onStatement }),
        work,
        options,
      ),
    read: (work) => outsideTransaction(() => work(db)),
    subscribe: wakeUps.subscribe,
    isUpToDate: wakeUps.isUpToDate,
    announce: async () => {},
    updateStatistics: statistics.start,
    async close() {
      await statistics.close()
      await wakeUps.close()
      await db.destroy()
    },
  }
}

/** Returns the version of the PostgreSQL server, such as 150018. One statement. */
async function getServerVersion(db: Kysely<Tables>): Promise<number> {
  const { version } = await query(row({ version: integer }))`
    select current_setting('server_version_num')::integer as version`.firstOrThrow(db)
  return version
}

/** The oldest supported version of PostgreSQL: `unique nulls not distinct` was added in 15. */
const OLDEST_MAJOR = 15

/**
 * Checks the version of a PostgreSQL server, such as 150018.
 * @throws Error if it is too old.
 */
export function checkVersion(version: number): void {
  const [major, minor] = [Math.floor(version / 10_000), version % 10_000]
  if (major < OLDEST_MAJOR)
    throw new Error(
      `The database is PostgreSQL ${major}.${minor}. Regent needs version ${OLDEST_MAJOR} or later: upgrade it.`,
    )
}

async function openEmbedded(
  folder: string | undefined,
  lastMigration: string,
  onStatement?: StatementListener,
): Promise<Store> {
  // A server on PostgreSQL does not load PGlite.
  const [{ openPGlite }, { PGliteDriver }] = await Promise.all([import('./pglite.ts'), import('./pglite-driver.ts')])
  if (folder) await createFolder(folder)
  const lock = folder ? await lockFolder(folder) : undefined
  try {
    const pglite = await openPGlite(folder, lastMigration)
    const driver = new PGliteDriver(pglite)
    const db = createKysely(driver.createDialect(), onStatement)
    await migrate(db, lastMigration)
    const wakeUps = openEmbeddedWakeUps(pglite, db)
    const statistics = createStatisticsUpdates(db)
    return {
      engine: 'PGlite',
      // The isolation level is not needed: there is one connection, so that transactions run one after the other.
      transaction: (work, options) =>
        runTransaction(
          (limited, settings) => driver.runTransaction({ work: limited, settings, onStatement }),
          work,
          options,
        ),
      read: (work) => outsideTransaction(() => work(db)),
      subscribe: wakeUps.subscribe,
      isUpToDate: wakeUps.isUpToDate,
      announce: async (url) => lock?.announce(url),
      updateStatistics: statistics.start,
      async close() {
        await statistics.close()
        await wakeUps.close()
        await db.destroy()
        await pglite.close()
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

function createKysely(dialect: Dialect, onStatement?: StatementListener): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect,
    log: (event) => {
      if (event.level === 'query') onStatement?.(event.query)
    },
  })
}
