// Stores of versions before the first release are refused. earlier-store.sql is a dump of a real one.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { openStore, type StoreLocation } from '../../src/store/database/database.ts'
import { LAST_MIGRATION, migrations } from '../../src/store/database/migrate.ts'
import { newDatabase } from '../support/service.ts'

const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const earlierTables = await readFile(join(import.meta.dirname, 'earlier-store.sql'), 'utf8')

/** The location of a store, and a function to run SQL in it while it is closed. */
interface ClosedStore {
  readonly location: StoreLocation
  run(sql: string): Promise<unknown[]>
}

/** Creates an empty database of the engine under test. */
async function emptyStore(name: string): Promise<ClosedStore> {
  const { url } = await newDatabase()
  if (url) {
    const run = async (sql: string) => {
      const client = new pg.Client(url)
      await client.connect()
      const results = [await client.query(sql)].flat()
      await client.end()
      return results.at(-1)!.rows
    }
    return { location: { url }, run }
  }
  const location = { folder: join(folder, name) }
  await mkdir(location.folder)
  const run = async (sql: string) => {
    const pglite = await PGlite.create({ dataDir: `file://${location.folder}/pglite` })
    const results = await pglite.exec(sql)
    await pglite.close()
    return results.at(-1)!.rows
  }
  return { location, run }
}

/** Selects everything that a refusal could change: tables, columns, and the rows of the migrations. */
const state = `
  select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, null as row
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and a.attnum > 0
  union all select 'kysely_migration', null, null, null, m::text from kysely_migration m
  union all select 'kysely_migration_lock', null, null, null, l::text from kysely_migration_lock l
  union all select 'store_setting', null, null, null, s::text from store_setting s
  order by 1, 2, 5`

test('a store of a version before the first release is refused unchanged, with instructions to move it', async () => {
  const store = await emptyStore('earlier')
  await store.run(`${earlierTables}; insert into store_setting values ('kept', 'value')`)
  const before = await store.run(state)
  expect(before.length).toBeGreaterThan(40)
  await expect(openStore(store.location)).rejects.toThrow(
    /^An earlier version of Regent created the store: it has the migration 0001-realms\..*`regent export REALM --full --secrets`.*`regent apply`/,
  )
  expect(await store.run(state)).toEqual(before)
})

test('a store from before the last renaming of tables and columns is refused unchanged', async () => {
  const store = await emptyStore('renamed')
  await (await openStore(store.location)).close()
  await store.run(`
    update kysely_migration set name = '0001-realm-configuration' where name = '0001-realms-and-flows';
    update kysely_migration set name = '0010-operations' where name = '0010-leases-and-outbox'`)
  const before = await store.run(state)
  await expect(openStore(store.location)).rejects.toThrow(
    /^An earlier version of Regent created the store: it has the migration 0001-realm-configuration\./,
  )
  expect(await store.run(state)).toEqual(before)
})

test('a store of a later version is refused with the name of its migration', async () => {
  const store = await emptyStore('later')
  await (await openStore(store.location)).close()
  await store.run(`insert into kysely_migration values ('9999-later', now()::text)`)
  await expect(openStore(store.location)).rejects.toThrow(
    'A later version of Regent created the store: it has the migration 9999-later. Use that version.',
  )
})

test('groups that organizations had as a field become objects with their roles, and are declared again', async () => {
  const store = await emptyStore('groups')
  const entries = Object.entries(migrations)
  const at = entries.findIndex(([name]) => name === '0020-organization-groups')
  await store.run(
    entries
      .slice(0, at)
      .flatMap(([, statements]) => statements)
      .join(';'),
  )
  const groups = [
    {
      name: 'a/b',
      description: 'Both',
      realmRoles: ['clerk', 'deleted'],
      subGroups: [{ name: 'c', attributes: { floor: ['1'] }, clientRoles: { app: ['buyer'] } }],
    },
  ]
  await store.run(`
    insert into realm (number, id, name, version, body) values (1, 'r', 'r', 1, '{}');
    insert into client (realm, id, client_id, version, body) values (1, 'c', 'app', 1, '{}');
    insert into role (realm, id, client, name, version, body) values (1, 'k', null, 'clerk', 1, '{}'), (1, 'b', 'c', 'buyer', 1, '{}');
    insert into organization (realm, id, alias, display_name, display_name_folded, version, body)
      values (1, 'o', 'acme', 'acme', 'acme', 7, '${JSON.stringify({ description: 'x', groups })}');
    insert into source (number, name) values (1, 's');
    insert into inventory (realm, source, kind, object, key, fields, file, line, lines, declared_digest)
      values (1, 1, 'organization', 'o', '["acme"]', '{"groups": [], "description": "x"}', 'f', 1, '{"groups": 3}', 'd')`)
  await store.run(entries[at]![1].join(';'))
  const migrated = await store.run(`
    select g.organization, g.path, p.path as parent, g.version::integer, g.body,
      array(select role from organization_group_role r where r.realm = g.realm and r.organization_group = g.id) as roles
    from organization_group g left join organization_group p on p.realm = g.realm and p.id = g.parent order by g.path`)
  expect(migrated).toEqual([
    { organization: 'o', path: '/a~/b', parent: null, version: 7, body: { description: 'Both' }, roles: ['k'] },
    {
      organization: 'o',
      path: '/a~/b/c',
      parent: '/a~/b',
      version: 7,
      body: { attributes: { floor: ['1'] } },
      roles: ['b'],
    },
  ])
  expect(await store.run('select body from organization')).toEqual([{ body: { description: 'x' } }])
  expect(await store.run('select fields, lines, declared_digest from inventory')).toEqual([
    { fields: { description: 'x' }, lines: {}, declared_digest: null },
  ])
})

test('migrations are numbered without gaps', () => {
  const names = Object.keys(migrations)
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1))
  expect(names.every((name) => /^\d{4}(-[a-z]+)+$/.test(name))).toBe(true)
  expect(LAST_MIGRATION).toBe(names.at(-1))
})
