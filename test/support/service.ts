// A service on the engine under test: one per worker, kept on globalThis, since opening a database costs a second.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openService, type Service, SYSTEM } from '../../src/service/service.ts'

/** A service and what it did. */
export interface TestService {
  readonly service: Service
  /** The SQL texts and parameters of the work, in order. */
  statements(work: () => Promise<unknown>): Promise<{ sql: string; parameters: readonly unknown[] }[]>
}

declare global {
  var testService: Promise<TestService> | undefined
}

/** Every statement that the worker's service executed, for checks over all tests. */
const executed: { sql: string; parameters: readonly unknown[] }[] = []

/** The worker's service, with a master realm. */
export function testService(): Promise<TestService> {
  globalThis.testService ??= open()
  return globalThis.testService
}

/** A service on an empty database of its own, which the caller closes. */
export async function freshService(): Promise<Service> {
  return openService({ location: await newDatabase(), key: new Uint8Array(32) })
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
  await service.create(SYSTEM, { representation: { realm, enabled: true, ...representation } }, async () => {})
  return realm
}

async function open(): Promise<TestService> {
  const service = await openService({
    location: await newDatabase(),
    key: new Uint8Array(32),
    onStatement: ({ sql, parameters }) => executed.push({ sql, parameters }),
  })
  await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  return {
    service,
    async statements(work) {
      const start = executed.length
      await work()
      return executed.slice(start)
    },
  }
}
