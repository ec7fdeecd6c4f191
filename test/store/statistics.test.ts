// The query planner: its statistics are updated after a large write, and it compiles no statements.
import { sql } from 'kysely'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { newRealm, openNewService } from '../support/service.ts'

let updates = 0
const service = await openNewService({
  onStatement({ sql }) {
    if (sql.includes('analyze')) updates++
  },
})
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
afterAll(() => service.close())

async function createRoles(realm: string, count: number): Promise<void> {
  const roles = Array.from({ length: count }, (_, index) => ({
    representation: { name: `role-${index}`, description: 'A description of the role. '.repeat(20) },
  }))
  await service.write(SYSTEM, realm, (context) => writers.role.create(context, roles))
}

/** Returns the rows of the table of roles as the query planner estimates them; -1: the table has no statistics. */
async function getEstimatedRows(): Promise<number> {
  const [table] = await service.query(async (db) => {
    const { rows } = await sql<{ rows: number }>`
      select reltuples::integer as rows from pg_class where oid = 'role'::regclass`.execute(db)
    return rows
  })
  return table!.rows
}

test('a large write updates the statistics of tables that have grown, and a small write does not', async () => {
  const realm = await newRealm(service)
  await createRoles(realm, 1)
  expect(await getEstimatedRows()).toBe(-1)
  await createRoles(await newRealm(service), 1_000)
  // PostgreSQL shows the new number before the statement ends.
  await vi.waitFor(async () => expect([(await getEstimatedRows()) > 1_000, updates]).toEqual([true, 1]))
})

test.runIf(inject('databaseUrl'))('PostgreSQL compiles no statements of a server', async () => {
  const settings = await service.query(async (db) => {
    const { rows } = await sql<{ jit: string }>`show jit`.execute(db)
    return rows
  })
  expect(settings).toEqual([{ jit: 'off' }])
})
