// A service on the engine under test: one per worker, stored in globalThis, since opening a database takes a second.
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { CompiledQuery } from 'kysely'
import pg from 'pg'
import { inject } from 'vitest'
import { createOutbound, type Outbound } from '../../src/lib/http/outbound.ts'
import type { KeyStoreDirectory } from '../../src/service/context/key-store-directory.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import type { VaultDirectory } from '../../src/service/context/vault-directory.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { migrations } from '../../src/store/database/migrate.ts'
import { PostgresConnection } from '../../src/store/database/postgres-driver.ts'
import type { ExecutedStatement } from '../../src/store/database/query.ts'
import { findRowDifferences } from './described-rows.ts'
import { partitionTables } from './partitioned-schema.ts'
import { findUnboundTables } from './unbound-tables.ts'

/** Number of partitions of each table of realm data; 0: tables are not partitioned. */
const PARTITIONS = Number(process.env.REGENT_PARTITIONS ?? 0)
if (PARTITIONS) {
  for (const [name, statements] of Object.entries(migrations))
    Object.assign(migrations, { [name]: partitionTables(statements, PARTITIONS) })
}

/** Allows connections to this machine, where the servers of tests run. */
const outbound = createOutbound({ development: true })

/** A service, with a record of its statements. */
export interface TestService {
  readonly service: Service
  /**
   * Runs the work, and returns its statements with their parameters, in order, without those that read realms and tokens. Unless
   * `keepsCaches`, it begins with a new log-in of the administrator and empty caches.
   */
  statements(work: () => Promise<unknown>, options?: { readonly keepsCaches?: boolean }): Promise<RecordedStatements>
}

/** The statements of some work, and how often it waited for PostgreSQL: statements that are sent together are one wait. */
type RecordedStatements = { sql: string; parameters: readonly unknown[] }[] & { readonly waits: number }

declare global {
  var openTestService: Promise<TestService> | undefined
}

/** Statements that run within this storage are not recorded. */
export const withoutCounting = new AsyncLocalStorage<true>()

/** All recorded statements. */
const executed: { sql: string; parameters: readonly unknown[] }[] = []
const looked = new Map<string, string[]>()
const realmTables = new Set(
  Object.values(migrations)
    .flat()
    .flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []),
)

/** Records a statement, and checks that it names the realm, and that its result conforms to its description. */
function checkStatement(statement: ExecutedStatement): void {
  const { sql, parameters } = statement
  if (isStatisticsUpdate(sql)) return
  globalThis.misdescribedResults ??= []
  globalThis.misdescribedResults.push(...findRowDifferences(statement))
  if (!withoutCounting.getStore() && !isCached(sql)) executed.push({ sql, parameters })
  if (!looked.has(sql)) looked.set(sql, isOfAllRealms(sql) ? [] : findUnboundTables(sql, realmTables))
  const unbound = looked.get(sql)!
  globalThis.unboundStatements ??= []
  if (unbound.length) globalThis.unboundStatements.push(`${unbound.join(', ')}: ${sql}`)
}

/** The waits for responses of PostgreSQL so far. Statements that are sent together are one. */
let waits = 0

/** Counts the waits of each connection, without those for statements that are not counted. */
function countWaits(): void {
  const inFlight = new WeakMap<object, number>()
  const count = <T>(connection: object, send: () => Promise<T>): Promise<T> => {
    if (withoutCounting.getStore()) return send()
    const before = inFlight.get(connection) ?? 0
    if (before === 0) waits++
    inFlight.set(connection, before + 1)
    return send().finally(() => inFlight.set(connection, inFlight.get(connection)! - 1))
  }
  const { execute, commit } = PostgresConnection.prototype
  Object.assign(PostgresConnection.prototype, {
    execute(this: PostgresConnection, query: CompiledQuery) {
      return isCached(query.sql) ? execute.call(this, query) : count(this, () => execute.call(this, query))
    },
    commit(this: PostgresConnection) {
      return count(this, () => commit.call(this))
    },
  })
}

/** Whether the statement updates the statistics of the query planner, in the background. */
const isStatisticsUpdate = (sql: string): boolean => /^\s*do .*\banalyze\b/is.test(sql)

/** Whether the statement fills the cache of realms and tokens. Then it depends on earlier calls, and on the time, whether it is executed. */
const isCached = (sql: string): boolean =>
  /^\s*with recursive token_client as/.test(sql) ||
  (/from realm where name (= \$1|= any\(\$1\)) offset 0\s+\) realm$/.test(sql) && !sql.includes('"changedKinds"'))

/** Whether the statement is about all realms: a migration, or a statement of a backup or test with a comment. */
function isOfAllRealms(sql: string): boolean {
  return /\/\* (test|all realms) \*\//.test(sql) || Object.values(migrations).flat().includes(sql)
}

/** Returns the service of the worker, which has a master realm. */
export function testService(): Promise<TestService> {
  globalThis.openTestService ??= createTestService()
  return globalThis.openTestService
}

/** Opens a service on a new, empty database. The caller must close it. */
export async function openNewService(
  options: {
    clock?: () => Date
    onStatement?: typeof checkStatement
    outbound?: Outbound
    vaultDirectory?: VaultDirectory
    keyStoreDirectory?: KeyStoreDirectory
    requiresSecondApprover?: boolean
  } = {},
): Promise<Service> {
  const onStatement = (statement: Parameters<typeof checkStatement>[0]) => {
    checkStatement(statement)
    options.onStatement?.(statement)
  }
  return openService({ location: await newDatabase(), key: new Uint8Array(32), outbound, ...options, onStatement })
}

/** Returns the location of an empty database: in memory on PGlite, newly created on PostgreSQL. */
export async function newDatabase(): Promise<{ url?: string }> {
  const url = inject('databaseUrl')
  if (!url) return {}
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`create database ${name} strategy wal_log`)
  await client.end()
  return { url: Object.assign(new URL(url), { pathname: `/${name}` }).href }
}

/** Returns a unique name. */
export function newName(prefix = 'realm'): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`
}

/** Creates a realm, and returns its name. */
export async function newRealm(service: Service, representation: Record<string, never> | object = {}): Promise<string> {
  const realm = newName()
  await service.createRealm(SYSTEM, { representation: { realm, enabled: true, ...representation } }, async () => {})
  return realm
}

async function createTestService(): Promise<TestService> {
  countWaits()
  const service = await openService({
    location: await newDatabase(),
    key: new Uint8Array(32),
    outbound,
    onStatement: checkStatement,
  })
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  return {
    service,
    async statements(work, { keepsCaches = false } = {}) {
      if (!keepsCaches) {
        // Otherwise a log-in during the work might read the keys of master, without being counted.
        await (await globalThis.openTestServer)?.logIn()
        // Otherwise the number would depend on what earlier calls have read.
        service.cache.forget({})
      }
      const [start, waitsBefore] = [executed.length, waits]
      await work()
      return Object.assign(executed.slice(start), { waits: waits - waitsBefore })
    },
  }
}
