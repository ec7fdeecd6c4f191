// The statements that every kind shares, written from its table. Each takes a list: one object is a list of one.
import { type RawBuilder, sql } from 'kysely'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName, Representation } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import type { Transaction } from './database.ts'
import { bodyOf, conditions, each, keyOf, parentOf, referencesOf, relationsOf } from './object-sql.ts'
import { tables } from './tables.ts'

/** An object as it is kept. */
export interface StoredObject {
  readonly id: string
  /** Number of the journal entry that last changed it. */
  readonly version: number
  readonly key: Key
  /** The parent; absent when it belongs to the realm itself. */
  readonly parent?: { readonly kind: KindName; readonly id: string }
  /** The representation less natural key, references and relations. Secrets are sealed. */
  readonly body: Representation
  /** References: field, or `field.key` of a map → id and natural key. */
  readonly references: Readonly<Record<string, { readonly id: string; readonly key: Key }>>
  /** Relations: field → natural keys; those of siblings are relative to their parent. */
  readonly relations: Readonly<Record<string, readonly Key[]>>
}

/** A row to write. */
export interface ObjectRow {
  readonly id: string
  readonly name: string
  readonly body: Representation
  readonly parent?: { readonly kind: KindName; readonly id: string }
  /** Texts with columns of their own, by field; absent and null are the same. */
  readonly columns: Readonly<Record<string, string | null>>
  /** Ids by the reference's field; absent and null are the same. */
  readonly references: Readonly<Record<string, string | null>>
}

/** Which objects of a realm: those of any of these. Nothing stated: all. */
export interface ObjectFilter {
  readonly ids?: readonly string[]
  readonly keys?: readonly Key[]
  readonly parents?: { readonly kind: KindName; readonly ids: readonly string[] }
  /** Only those that belong to the realm itself. */
  readonly topLevel?: true
  /** Part of the natural key, in any case. */
  readonly search?: string
  /** Part of the representation as it is kept: these values, nested. */
  readonly containing?: Representation
  /** What the caller may see. */
  readonly visible?: Visibility
  readonly first?: number
  readonly max?: number
}

/** What a caller may see of a kind: everything, or the objects with these ids. */
export type Visibility = 'all' | { readonly ids: readonly string[] }

/** Rows per statement of a bulk write. */
export const CHUNK = 5_000

/** The objects of a kind, ordered by natural key. One statement. */
export async function selectObjects(
  tx: Transaction,
  realm: number,
  kind: KindName,
  filter: ObjectFilter,
): Promise<StoredObject[]> {
  const table = tables[kind]
  const offset = filter.first ? sql`offset ${filter.first}` : sql``
  const limit = filter.max === undefined ? sql`` : sql`limit ${filter.max}`
  return select(
    tx,
    kind,
    sql`where t.${sql.ref(table.realm)} = ${realm} and ${conditions(kind, table, realm, filter)}
    order by t.${sql.ref(table.key)}, t.id ${offset} ${limit}`,
  )
}

/** Every realm of the store, by name. One statement. */
export function selectEveryRealm(tx: Transaction): Promise<StoredObject[]> {
  return select(tx, 'realm', sql`order by t.name`)
}

async function select(tx: Transaction, kind: KindName, which: RawBuilder<unknown>): Promise<StoredObject[]> {
  const { rows } = await sql<StoredRow>`
    select t.id, t.version, ${keyOf(kind, 't')} as key, ${bodyOf(kind)} as body,
      ${parentOf(kind)} as parent,
      ${referencesOf(kind)} as "references",
      ${relationsOf(kind)} as relations
    from ${sql.table(tables[kind].name)} t ${which}`.execute(tx)
  return rows.map(({ parent, ...row }) => ({ ...row, ...(parent && { parent }) }))
}

/** What identifies objects, without what they say. One statement. */
export async function selectKeys(
  tx: Transaction,
  realm: number,
  kind: KindName,
  filter: ObjectFilter,
): Promise<{ id: string; version: number; key: Key }[]> {
  const table = tables[kind]
  const { rows } = await sql<{ id: string; version: number; key: Key }>`
    select t.id, t.version, ${keyOf(kind, 't')} as key
    from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and ${conditions(kind, table, realm, filter)}`.execute(tx)
  return rows
}

/** Writes new objects. One statement per chunk. */
export async function insertObjects(
  tx: Transaction,
  realm: number,
  kind: KindName,
  version: number,
  rows: readonly ObjectRow[],
): Promise<void> {
  for (const chunk of chunks(rows, CHUNK)) await insertion(realm, kind, version, recordset(kind, chunk)).execute(tx)
}

/** The statement that writes new objects, of the text of their rows. */
export function insertion(realm: number, kind: KindName, version: number, rows: string): RawBuilder<unknown> {
  const table = tables[kind]
  const columns = [table.parents, table.columns, table.folded, table.references].flatMap((some) => Object.values(some))
  return sql`
    insert into ${sql.table(table.name)} (realm, id, ${sql.ref(table.key)}, version, body${each(columns, (c) => sql`, ${sql.ref(c)}`)})
    select ${realm}::integer, x.id, x.name, ${version}::bigint, x.body${each(columns, (c) => sql`, x.${sql.ref(c)}`)}
    from jsonb_to_recordset(${rows}::jsonb)
      as x(id text, name text, body jsonb${each(columns, (c) => sql`, ${sql.ref(c)} text`)})`
}

/** Replaces natural key, body and references of objects that exist. One statement per chunk. */
export async function updateObjects(
  tx: Transaction,
  realm: number,
  kind: KindName,
  version: number,
  rows: readonly ObjectRow[],
): Promise<void> {
  const table = tables[kind]
  const columns = [table.columns, table.folded, table.references].flatMap((some) => Object.values(some))
  // Nobody numbers the changes of people: theirs are counted.
  const next = kinds[kind].people ? sql`t.version + 1` : sql`${version}::bigint`
  for (const chunk of chunks(rows, CHUNK)) {
    await sql`
      update ${sql.table(table.name)} t
      set ${sql.ref(table.key)} = x.name, version = ${next}, body = x.body${each(columns, (c) => sql`, ${sql.ref(c)} = x.${sql.ref(c)}`)}
      from jsonb_to_recordset(${recordset(kind, chunk)}::jsonb)
        as x(id text, name text, body jsonb${each(columns, (c) => sql`, ${sql.ref(c)} text`)})
      where t.${sql.ref(table.realm)} = ${realm} and t.id = x.id`.execute(tx)
  }
}

/** Deletes objects and, by cascade, what hangs on them. One statement. */
export async function deleteObjects(
  tx: Transaction,
  realm: number,
  kind: KindName,
  ids: readonly string[],
): Promise<void> {
  const table = tables[kind]
  await sql`delete from ${sql.table(table.name)} where ${sql.ref(table.realm)} = ${realm} and id = any(${ids})`.execute(
    tx,
  )
}

/** Gives objects a new version, where what changed stands in another table. One statement. */
export async function touchObjects(
  tx: Transaction,
  realm: number,
  kind: KindName,
  version: number,
  ids: readonly string[],
): Promise<void> {
  const table = tables[kind]
  const next = kinds[kind].people ? sql`version + 1` : sql`${version}::bigint`
  await sql`
    update ${sql.table(table.name)} set version = ${next}
    where ${sql.ref(table.realm)} = ${realm} and id = any(${ids})`.execute(tx)
}

type StoredRow = Omit<StoredObject, 'parent'> & { parent: StoredObject['parent'] | null }

/** Rows as the text that a statement takes. */
export function recordset(kind: KindName, rows: readonly ObjectRow[]): string {
  const table = tables[kind]
  return JSON.stringify(
    rows.map(({ id, name, body, parent, columns, references }) => ({
      id,
      name,
      body,
      ...(parent && { [table.parents[parent.kind]!]: parent.id }),
      ...Object.fromEntries(Object.entries(columns).map(([field, text]) => [table.columns[field]!, text])),
      ...folded(kind, name, { ...body, ...columns }),
      ...Object.fromEntries(Object.entries(references).map(([field, to]) => [table.references[field]!, to])),
    })),
  )
}

/** The texts that are looked for in any case, by column. */
function folded(kind: KindName, name: string, body: Representation): Record<string, string | null> {
  const texts = Object.entries(tables[kind].folded).map(([field, column]): [string, string | null] => {
    const text = field === kinds[kind].naturalKey ? name : (body[field] ?? null)
    return [column, text === null ? null : String(text).toLowerCase()]
  })
  return Object.fromEntries(texts)
}
