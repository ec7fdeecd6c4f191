// The statements that every kind shares, written from its table. Each takes a list: one object is a list of one.
import { type RawBuilder, sql } from 'kysely'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/json.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'

import { type EditorRecord, settingEditor } from './client-editors.ts'
import { bigint, json, optional, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import type { ObjectFilter } from './object-filter.ts'
import { bodyOf, conditions, each, keyOf, parentOf, referencesOf, relationsOf } from './object-sql.ts'
import { tables } from './tables.ts'

/** The object to which another one belongs. */
interface ParentObject {
  readonly kind: KindName
  readonly id: string
}

const keyRow = row({
  id: text,
  /** Number of the journal entry that last changed it. */
  version: bigint,
  key: json<Key>(),
})

const objectRow = row({
  ...keyRow.columns,
  parent: optional(json<ParentObject>()),
  /** The representation less natural key, references and relations. Secrets are sealed. */
  body: json<Representation>(),
  /** References: field, or `field.key` of a map → id and natural key. */
  references: json<Readonly<Record<string, { readonly id: string; readonly key: Key }>>>(),
  /** Relations: field → natural keys; those of siblings are relative to their parent. */
  relations: json<Readonly<Record<string, readonly Key[]>>>(),
})

/** An object as it is kept. */
export interface StoredObject extends Omit<RowOf<typeof objectRow>, 'parent'> {
  /** Absent when it belongs to the realm itself. */
  readonly parent?: ParentObject
}

/** A row to write. */
export interface ObjectRow {
  readonly id: string
  readonly name: string
  readonly body: Representation
  readonly parent?: ParentObject
  /** Texts with columns of their own, by field; absent and null are the same. */
  readonly columns: Readonly<Record<string, string | null>>
  /** Ids by the reference's field; absent and null are the same. */
  readonly references: Readonly<Record<string, string | null>>
}

/** Rows per statement of a bulk write. */
export const CHUNK = 5_000

/** The objects of a kind, ordered by natural key. One statement. */
export async function selectObjects(
  tx: Transaction,
  realm: number,
  { kind, filter }: { readonly kind: KindName; readonly filter: ObjectFilter },
): Promise<StoredObject[]> {
  const table = tables[kind]
  const offset = filter.first ? sql`offset ${filter.first}` : sql``
  const limit = filter.max === undefined ? sql`` : sql`limit ${filter.max}`
  return select(
    tx,
    kind,
    sql`where t.${sql.ref(table.realm)} = ${realm} and ${conditions(kind, realm, filter)}
    order by t.${sql.ref(table.key)}, t.id ${offset} ${limit}`,
  )
}

/** Every realm of the store, by name. One statement. */
export function selectEveryRealm(tx: Transaction): Promise<StoredObject[]> {
  return select(tx, 'realm', sql`order by t.name`)
}

async function select(tx: Transaction, kind: KindName, which: RawBuilder<unknown>): Promise<StoredObject[]> {
  const objects = await rows(objectRow)`
    select t.id, t.version, ${keyOf(kind, 't')} as key, ${bodyOf(kind)} as body,
      ${parentOf(kind)} as parent,
      ${referencesOf(kind)} as "references",
      ${relationsOf(kind)} as relations
    from ${sql.table(tables[kind].name)} t ${which}`.all(tx)
  return objects.map(({ parent, ...row }) => ({ ...row, ...(parent && { parent }) }))
}

/** What identifies objects, without what they say. One statement. */
export async function selectKeys(
  tx: Transaction,
  realm: number,
  { kind, filter }: { readonly kind: KindName; readonly filter: ObjectFilter },
): Promise<RowOf<typeof keyRow>[]> {
  const table = tables[kind]
  return rows(keyRow)`
    select t.id, t.version, ${keyOf(kind, 't')} as key
    from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and ${conditions(kind, realm, filter)}`.all(tx)
}

/** Rows of one kind to write; `version`: number of the journal entry that does. */
export interface NewObjects {
  readonly kind: KindName
  readonly version: number
  readonly rows: readonly ObjectRow[]
}

/** Writes new objects. One statement per chunk. */
export async function insertObjects(
  tx: Transaction,
  realm: number,
  { kind, version, rows }: NewObjects,
): Promise<void> {
  for (const chunk of chunks(rows, CHUNK))
    await insertion(realm, { kind, version, rows: recordset(kind, chunk) }).execute(tx)
}

/** The statement that writes new objects, of the text of their rows. */
export function insertion(
  realm: number,
  { kind, version, rows }: { readonly kind: KindName; readonly version: number; readonly rows: string },
): RawBuilder<unknown> {
  const table = tables[kind]
  const columns = [table.parents, table.columns, table.folded, table.references].flatMap((some) => Object.values(some))
  const computed = Object.entries(table.computed)
  return sql`
    insert into ${sql.table(table.name)} (realm, id, ${sql.ref(table.key)}, version, body${each(
      [...columns, ...computed.map(([column]) => column)],
      (c) => sql`, ${sql.ref(c)}`,
    )})
    select ${realm}::integer, x.id, x.name, ${version}::bigint, x.body${each(columns, (c) => sql`, x.${sql.ref(c)}`)}${each(
      computed,
      ([, value]) => sql`, ${value(realm)}`,
    )}
    from jsonb_to_recordset(${rows}::jsonb)
      as x(id text, name text, body jsonb${each(columns, (c) => sql`, ${sql.ref(c)} text`)})`
}

/** Rows that replace those that exist. */
export interface ObjectUpdates extends NewObjects {
  /** Of clients. */
  readonly editor?: EditorRecord | undefined
}

/** Replaces natural key, body and references of objects that exist, and records who edited clients. One statement per chunk. */
export async function updateObjects(
  tx: Transaction,
  realm: number,
  { kind, version, rows, editor }: ObjectUpdates,
): Promise<void> {
  const table = tables[kind]
  const columns = [table.columns, table.folded, table.references].flatMap((some) => Object.values(some))
  // Nobody numbers the changes of people: theirs are counted.
  const next = kinds[kind].people ? sql`t.version + 1` : sql`${version}::bigint`
  for (const chunk of chunks(rows, CHUNK)) {
    await sql`
      update ${sql.table(table.name)} t
      set ${sql.ref(table.key)} = x.name, version = ${next}, body = x.body${each(columns, (c) => sql`, ${sql.ref(c)} = x.${sql.ref(c)}`)}${editor ? settingEditor(editor) : sql``}
      from jsonb_to_recordset(${recordset(kind, chunk)}::jsonb)
        as x(id text, name text, body jsonb${each(columns, (c) => sql`, ${sql.ref(c)} text`)})
      where t.${sql.ref(table.realm)} = ${realm} and t.id = x.id`.execute(tx)
  }
}

/** Deletes objects and, by cascade, what hangs on them. One statement. */
export async function deleteObjects(
  tx: Transaction,
  realm: number,
  { kind, ids }: { readonly kind: KindName; readonly ids: readonly string[] },
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
  { kind, version, ids }: { readonly kind: KindName; readonly version: number; readonly ids: readonly string[] },
): Promise<void> {
  const table = tables[kind]
  const next = kinds[kind].people ? sql`version + 1` : sql`${version}::bigint`
  await sql`
    update ${sql.table(table.name)} set version = ${next}
    where ${sql.ref(table.realm)} = ${realm} and id = any(${ids})`.execute(tx)
}

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
