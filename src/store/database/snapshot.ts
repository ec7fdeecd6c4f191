// All that the store keeps, as texts, and back into an empty one. Which tables and columns there are says the database itself.
// Rows never become values here: numbers and times stay what they are, to the last digit.
import { type RawBuilder, sql } from 'kysely'
import { bigint, integer, json, type RowOf, row, rows, text } from './row.ts'
import type { Transaction } from './transaction.ts'

const keptTableRow = row({
  name: text,
  columns: json<readonly string[]>(),
})

/** A table with the columns that are kept of it. */
export type KeptTable = RowOf<typeof keptTableRow>

const sequenceRow = row({
  table: text,
  column: text,
  value: bigint,
})

/** The last number that a column has given. */
export type Sequence = RowOf<typeof sequenceRow>

/** Rows that are read at a time. */
const CHUNK = 500

/** What belongs to the migrations is theirs. */
const ofStore = sql`c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
  and c.relname not like 'kysely%'`

/**
 * The tables by name. Not kept are columns that the database computes, and ids of transactions: they are of the database
 * where they were given, and a row that is restored has that of the transaction which restores it. One statement.
 */
export async function keptTables(tx: Transaction): Promise<KeptTable[]> {
  return rows(keptTableRow)`
    select c.relname::text as name, jsonb_agg(a.attname order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where ${ofStore} and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
    group by c.relname order by c.relname collate "C"`.all(tx)
}

/** How many rows each table has. One statement. */
export async function countRows(
  tx: Transaction,
  tables: readonly KeptTable[],
): Promise<{ name: string; rows: number }[]> {
  const counts = tables.map(
    ({ name }) => sql`select ${name} as name, count(*)::integer as rows from ${sql.table(name)}`,
  )
  return rows(row({ name: text, rows: integer }))`
    /* all realms */ ${sql.join(counts, sql` union all `)}`.all(tx)
}

/** The last migration that the store has. One statement. */
export async function lastMigration(tx: Transaction): Promise<string> {
  const { name } = await rows(row({ name: text }))`select max(name collate "C") as name from kysely_migration`.one(tx)
  return name
}

/** The numbers that columns have given, as far as they have. No snapshot holds them: they may be later than it. One statement. */
export async function sequences(tx: Transaction): Promise<Sequence[]> {
  return rows(sequenceRow)`
    select c.relname::text as table, a.attname::text as column, s.value
    from pg_class c join pg_attribute a on a.attrelid = c.oid,
      lateral (select pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass) as value) s
    where ${ofStore} and a.attidentity <> '' and s.value is not null
    order by c.relname collate "C"`.all(tx)
}

/** The rows of a table as JSON texts, some at a time. A statement for each 500 of them, and three. */
export async function* rowTexts(tx: Transaction, { name, columns }: KeptTable): AsyncGenerator<string[]> {
  await sql`declare kept /* all realms */ no scroll cursor for
    select row_to_json(r)::text as row from (select ${listed(columns)} from ${sql.table(name)}) r`.execute(tx)
  for (;;) {
    const chunk = await rows(row({ row: text }))`fetch ${sql.raw(String(CHUNK))} from kept`.all(tx)
    if (!chunk.length) break
    yield chunk.map(({ row }) => row)
  }
  await sql`close kept`.execute(tx)
}

/** Puts rows into a table: the text of a list. One statement. */
export async function insertTexts(tx: Transaction, { name, columns }: KeptTable, rows: string): Promise<void> {
  const table = sql.table(name)
  await sql`/* all realms */ insert into ${table} (${listed(columns)}) overriding system value
    select ${listed(columns)} from json_populate_recordset(null::${table}, ${rows}::json)`.execute(tx)
}

/**
 * Runs the work without foreign keys, which refer to one another in circles, and checks all of them afterwards. Nobody else uses
 * the tables meanwhile. Two statements for each foreign key, and one.
 */
export async function withoutForeignKeys(tx: Transaction, work: () => Promise<void>): Promise<void> {
  const keys = await rows(row({ table: text, name: text, definition: text }))`
    select c.relname::text as table, k.conname::text as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and ${ofStore} order by 1, 2`.all(tx)
  const alter = (table: string, what: RawBuilder<unknown>) => sql`alter table ${sql.table(table)} ${what}`.execute(tx)
  for (const { table, name } of keys) await alter(table, sql`drop constraint ${sql.ref(name)}`)
  await work()
  for (const { table, name, definition } of keys)
    await alter(table, sql`add constraint ${sql.ref(name)} ${sql.raw(definition)}`)
}

/** Keeps others from making realms until the transaction ends. One statement. */
export async function lockStore(tx: Transaction): Promise<void> {
  await sql`lock table realm in share row exclusive mode`.execute(tx)
}

/** Forgets what the store knows of itself since it was opened. One statement. */
export async function deleteSettings(tx: Transaction): Promise<void> {
  await sql`delete from store_setting`.execute(tx)
}

/** Goes on behind these numbers, also where the transaction fails; and counts what there is, which statements are planned by. Two statements. */
export async function settle(tx: Transaction, last: readonly Sequence[]): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence(quote_ident(x.table), x.column)::regclass, x.value)
    from json_to_recordset(${JSON.stringify(last)}::json) x ("table" text, "column" text, value bigint)`.execute(tx)
  await sql`analyze`.execute(tx)
}

function listed(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)))
}
