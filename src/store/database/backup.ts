// Reads all rows of the store as JSON texts, and writes them into an empty store. Tables and columns are read from the database's catalog.
// Rows are never parsed, so numbers and times keep their precision.
import { type RawBuilder, sql } from 'kysely'
import { bigint, integer, json, query, type RowOf, row, text } from './query.ts'
import type { Transaction } from './transaction.ts'

const tableColumnsRow = row({
  name: text,
  columns: json<readonly string[]>(),
})

/** A table with the columns to back up. */
export type TableColumns = RowOf<typeof tableColumnsRow>

const sequenceRow = row({
  table: text,
  column: text,
  value: bigint,
})

/** The last value of an identity column. */
export type Sequence = RowOf<typeof sequenceRow>

/** Number of rows that are read at a time. */
const CHUNK = 500

/** Whether a table is the store's, not that of the migrations. */
const isStoreTable = sql`c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
  and c.relname not like 'kysely%'`

/**
 * Returns the tables by name, without computed columns and transaction ids. A transaction id is valid in its database only; a restored row
 * gets the id of the transaction that restores it. One statement.
 */
export async function listTables(tx: Transaction): Promise<TableColumns[]> {
  return query(tableColumnsRow)`
    select c.relname::text as name, jsonb_agg(a.attname order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where ${isStoreTable} and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
    group by c.relname order by c.relname collate "C"`.all(tx)
}

/** Returns the number of rows of each table. One statement. */
export async function countRows(
  tx: Transaction,
  tables: readonly TableColumns[],
): Promise<{ name: string; rows: number }[]> {
  const counts = tables.map(
    ({ name }) => sql`select ${name} as name, count(*)::integer as rows from ${sql.table(name)}`,
  )
  return query(row({ name: text, rows: integer }))`
    /* all realms */ ${sql.join(counts, sql` union all `)}`.all(tx)
}

/** Returns the name of the store's last migration. One statement. */
export async function findLastMigration(tx: Transaction): Promise<string> {
  const { name } = await query(
    row({ name: text }),
  )`select max(name collate "C") as name from kysely_migration`.firstOrThrow(tx)
  return name
}

/** Returns the last values of identity columns that have any. Sequences are outside of snapshots: the values may be later. One statement. */
export async function listSequences(tx: Transaction): Promise<Sequence[]> {
  return query(sequenceRow)`
    select c.relname::text as table, a.attname::text as column, s.value
    from pg_class c join pg_attribute a on a.attrelid = c.oid,
      lateral (select pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass) as value) s
    where ${isStoreTable} and a.attidentity <> '' and s.value is not null
    order by c.relname collate "C"`.all(tx)
}

/** Yields the rows of a table as JSON texts, 500 at a time. A statement per 500 rows, and three more. */
export async function* readRows(tx: Transaction, { name, columns }: TableColumns): AsyncGenerator<string[]> {
  await sql`declare table_rows /* all realms */ no scroll cursor for
    select row_to_json(r)::text as row from (select ${buildColumnList(columns)} from ${sql.table(name)}) r`.execute(tx)
  for (;;) {
    const chunk = await query(row({ row: text }))`fetch ${sql.raw(String(CHUNK))} from table_rows`.all(tx)
    if (!chunk.length) break
    yield chunk.map(({ row }) => row)
  }
  await sql`close table_rows`.execute(tx)
}

/** Inserts rows into a table. `rows` is the JSON of a list. One statement. */
export async function insertRows(tx: Transaction, { name, columns }: TableColumns, rows: string): Promise<void> {
  const table = sql.table(name)
  await sql`/* all realms */ insert into ${table} (${buildColumnList(columns)}) overriding system value
    select ${buildColumnList(columns)} from json_populate_recordset(null::${table}, ${rows}::json)`.execute(tx)
}

/**
 * Drops all foreign keys, which form cycles, runs the work, and adds them again, which checks them. The tables are locked meanwhile.
 * Two statements per foreign key, and one more.
 */
export async function withoutForeignKeys(tx: Transaction, work: () => Promise<void>): Promise<void> {
  const keys = await query(row({ table: text, name: text, definition: text }))`
    select c.relname::text as table, k.conname::text as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and ${isStoreTable} order by 1, 2`.all(tx)
  const alter = (table: string, change: RawBuilder<unknown>) =>
    sql`alter table ${sql.table(table)} ${change}`.execute(tx)
  for (const { table, name } of keys) await alter(table, sql`drop constraint ${sql.ref(name)}`)
  await work()
  for (const { table, name, definition } of keys)
    await alter(table, sql`add constraint ${sql.ref(name)} ${sql.raw(definition)}`)
}

/** Prevents other transactions from creating realms until this one ends. One statement. */
export async function lockStore(tx: Transaction): Promise<void> {
  await sql`lock table realm in share row exclusive mode`.execute(tx)
}

/** Deletes all settings of the store. One statement. */
export async function deleteSettings(tx: Transaction): Promise<void> {
  await sql`delete from store_setting`.execute(tx)
}

/** Sets the last values of identity columns, even if the transaction fails, and updates the statistics of the query planner. Two statements. */
export async function finishRestore(tx: Transaction, last: readonly Sequence[]): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence(quote_ident(x.table), x.column)::regclass, x.value)
    from json_to_recordset(${JSON.stringify(last)}::json) x ("table" text, "column" text, value bigint)`.execute(tx)
  await sql`analyze`.execute(tx)
}

function buildColumnList(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)))
}
