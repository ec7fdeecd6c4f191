// Reads all rows of the store, and plants failures. Uses the connection of the service, since PGlite has one only.
import { sql } from 'kysely'
import type { Service } from '../../src/service/context/service.ts'

/** Returns all rows as texts, by table; or the rows of a realm with the name or number. */
export function dumpRows(service: Service, realm?: string | number): Promise<Record<string, string[]>> {
  return service.query(async (db) => {
    const { rows: tables } = await sql<{ name: string; column: string | null }>`
      select t.tablename as name, min(c.column_name) as column from pg_tables t
      left join information_schema.columns c
        on c.table_schema = 'public' and c.table_name = t.tablename and c.data_type = 'integer'
          and (c.column_name = 'realm' or (c.table_name = 'realm' and c.column_name = 'number'))
      where t.schemaname = 'public' and t.tablename not like 'kysely%' group by 1 order by 1`.execute(db)
    const dump: Record<string, string[]> = {}
    for (const { name, column } of tables) {
      if (realm !== undefined && column === null) continue
      const number = typeof realm === 'number' ? sql`${realm}` : sql`(select number from realm where name = ${realm})`
      const isSelected = realm === undefined ? sql`true` : sql`${sql.ref(column!)} = ${number}`
      const { rows } = await sql<{
        row: string
      }>`/* test */ select t::text as row from ${sql.table(name)} t where ${isSelected} order by 1`.execute(db)
      dump[name] = rows.map(({ row }) => row)
    }
    return dump
  })
}

/** Tables of kinds, with the columns of natural keys. */
const KEYS = {
  realm: 'name',
  client_scope: 'name',
  client: 'client_id',
  protocol_mapper: 'name',
  authentication_flow: 'alias',
  authenticator_config: 'alias',
}

/** Makes the database refuse writes of objects with the natural key, until the next call. */
export async function plantFailure(service: Service, name: string | undefined): Promise<void> {
  await service.query(async (db) => {
    await sql`create table if not exists failing (name text not null)`.execute(db)
    await sql`delete from failing`.execute(db)
    if (name !== undefined) await sql`insert into failing values (${name})`.execute(db)
    await sql
      .raw(`create or replace function fail() returns trigger language plpgsql as $$ begin
        if exists (select from failing where name in (to_jsonb(new) ->> tg_argv[0], to_jsonb(old) ->> tg_argv[0])) then
          raise exception 'planted failure';
        end if;
        return coalesce(new, old);
      end $$`)
      .execute(db)
    for (const [table, key] of Object.entries(KEYS)) {
      await sql
        .raw(
          `create or replace trigger fail before insert or update or delete on ${table} for each row execute function fail('${key}')`,
        )
        .execute(db)
    }
  })
}
