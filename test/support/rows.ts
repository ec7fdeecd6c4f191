// All rows of the store, and failures planted into it: through the connection of the service itself, since PGlite has one.
import { sql } from 'kysely'
import type { Service } from '../../src/service/service.ts'

/** Every row of every table as text, by table. */
export function allRows(service: Service): Promise<Record<string, string[]>> {
  return service.look(async (db) => {
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1`.execute(
      db,
    )
    const dump: Record<string, string[]> = {}
    for (const { name } of tables) {
      const { rows } = await sql<{
        row: string
      }>`/* test */ select t::text as row from ${sql.table(name)} t order by 1`.execute(db)
      dump[name] = rows.map(({ row }) => row)
    }
    return dump
  })
}

/** Tables of kinds with the columns of their natural keys. */
const KEYS = {
  realm: 'name',
  client_scope: 'name',
  client: 'client_id',
  protocol_mapper: 'name',
  authentication_flow: 'alias',
  authenticator_config: 'alias',
}

/** Makes the database refuse to write objects with that natural key, until it is called again. */
export async function failAt(service: Service, name: string | undefined): Promise<void> {
  await service.look(async (db) => {
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
