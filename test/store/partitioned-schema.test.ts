// The schema can be distributed by realm.
import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { migrations } from '../../src/store/database/migrate.ts'
import { partitionTables } from '../support/partitioned-schema.ts'
import { newDatabase } from '../support/service.ts'

/** The tables without realm data, of which a distributed database has a copy in each shard. */
const SHARED_TABLES = [
  'audit_outbox',
  'deleted_realm',
  'lease',
  'plan',
  'plan_realm',
  'realm',
  'source',
  'source_editor',
  'store_setting',
]
const PARTITIONS = 2

describe.runIf(inject('databaseUrl') && !process.env.REGENT_PARTITIONS)('partitioned by realm', () => {
  test('every unique key contains the realm, and every foreign key refers to such a key', async () => {
    const { url } = await newDatabase()
    const client = new pg.Client(url)
    await client.connect()
    // PostgreSQL refuses other keys of partitioned tables.
    for (const statement of Object.values(migrations).flatMap((all) => partitionTables(all, PARTITIONS)))
      await client.query(statement)
    const { rows } = await client.query(`
      select c.relname as name from pg_class c
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and not c.relispartition order by 1`)
    await client.end()
    expect(rows.map(({ name }) => name)).toEqual(SHARED_TABLES)
  })
})
