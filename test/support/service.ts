// A service on the engine under test: one per worker, kept on globalThis, since opening a database costs a second.
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Outbound, createOutbound } from '../../src/lib/http/outbound.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { migrations } from '../../src/store/database/migrate.ts'
import type { ExecutedStatement } from '../../src/store/database/query.ts'
import { findRowDifferences } from './described-rows.ts'
import { findUnboundTables } from './names-the-realm.ts'

/** The servers of tests are on this machine. */
const outbound = createOutbound({ development: true })

/** A service and what it did. */
export interface TestService {
  readonly service: Service
  /** The SQL texts and parameters of the work, in order. */
  statements(work: () => Promise<unknown>): Promise<{ sql: string; parameters: readonly unknown[] }[]>
}

declare global {
  var openTestService: Promise<TestService> | undefined
}

/** What runs within is not counted: it is not the work's own. */
export const withoutCounting = new AsyncLocalStorage<true>()

/** Every statement that was executed, for counts. */
const executed: { sql: string; parameters: readonly unknown[] }[] = []
const looked = new Map<string, string[]>()
const realmTables = new Set(
  Object.values(migrations)
    .flat()
    .flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []),
)

/** Keeps a statement, and checks that it names the realm and returns what its description says. */
function checkStatement(statement: ExecutedStatement): void {
  const { sql, parameters } = statement
  if (isTransaction(sql)) return
  globalThis.misdescribedResults ??= []
  globalThis.misdescribedResults.push(...findRowDifferences(statement))
  if (!withoutCounting.getStore()) executed.push({ sql, parameters })
  if (!looked.has(sql)) looked.set(sql, isOfAllRealms(sql) ? [] : findUnboundTables(sql, realmTables))
  const unbound = looked.get(sql)!
  globalThis.unboundStatements ??= []
  if (unbound.length) globalThis.unboundStatements.push(`${unbound.join(', ')}: ${sql}`)
}

/** PostgreSQL's driver tells of its transactions, PGlite's does not. */
export const isTransaction = (sql: string): boolean => /^(begin|start transaction|commit|rollback)/i.test(sql)

/** Migrations are of all realms; so are back-ups and what tests themselves ask of the whole store, which say so. */
function isOfAllRealms(sql: string): boolean {
  return /\/\* (test|all realms) \*\//.test(sql) || Object.values(migrations).flat().includes(sql)
}

/** The worker's service, with a master realm. */
export function testService(): Promise<TestService> {
  globalThis.openTestService ??= createTestService()
  return globalThis.openTestService
}

/** A service on an empty database of its own, which the caller closes. */
export async function newService(
  options: { clock?: () => Date; onStatement?: typeof checkStatement; outbound?: Outbound } = {},
): Promise<Service> {
  const onStatement = (statement: Parameters<typeof checkStatement>[0]) => {
    checkStatement(statement)
    options.onStatement?.(statement)
  }
  return openService({ location: await newDatabase(), key: new Uint8Array(32), outbound, ...options, onStatement })
}

/** Where an empty database is: in memory on PGlite, newly created on PostgreSQL. */
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

/** A name that no other test uses. */
export function newName(prefix = 'realm'): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`
}

/** Makes a realm with everything that a new realm has. */
export async function newRealm(service: Service, representation: Record<string, never> | object = {}): Promise<string> {
  const realm = newName()
  await service.createRealm(SYSTEM, { representation: { realm, enabled: true, ...representation } }, async () => {})
  return realm
}

async function createTestService(): Promise<TestService> {
  const service = await openService({
    location: await newDatabase(),
    key: new Uint8Array(32),
    outbound,
    onStatement: checkStatement,
  })
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  return {
    service,
    async statements(work) {
      const start = executed.length
      await work()
      return executed.slice(start)
    },
  }
}
