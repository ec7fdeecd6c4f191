// The tables with data of realms.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testService } from '../support/service.ts'

const { service } = await testService()

test('the rows of each table with a realm refer to it, or to others that do, and are deleted with it, except for journals', async () => {
  const tables = await service.query(async (db) => {
    const { rows } = await sql<{ name: string; isDeleted: boolean }>`
      with recursive key as (
        select k.conrelid as child, k.confrelid as parent from pg_constraint k
        where k.contype = 'f' and k.confdeltype = 'c' and not exists (
          select from pg_attribute a where a.attrelid = k.conrelid and a.attnum = any(k.conkey) and not a.attnotnull
        )
      ), deleted as (
        select 'realm'::regclass::oid as name
        union
        select k.child from key k join deleted d on d.name = k.parent
      )
      select c.relname as name, c.oid in (select d.name from deleted d) as "isDeleted"
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and a.attname = 'realm' and c.relnamespace = 'public'::regnamespace
      order by c.relname`.execute(db)
    return rows
  })
  expect(tables.length).toBeGreaterThan(50)
  // The history of a realm outlives it. A mapper belongs to a client or to a client scope.
  const remaining = ['journal', 'protocol_mapper', 'user_journal']
  expect(tables.filter(({ isDeleted }) => !isDeleted).map(({ name }) => name)).toEqual(remaining)
})
