// The statements that all kinds share, built from their tables. They take lists: one object is a list of one.
import { type RawBuilder, sql } from 'kysely'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/json.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import { buildEditorAssignment, type ClientEditor } from './client-editors.ts'
import {
  bigint,
  CHUNK_SIZE,
  equalsAny,
  ifSingle,
  json,
  optional,
  query,
  type RowOf,
  row,
  text,
  textOf,
} from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import type { ObjectFilter } from './object-filter.ts'
import {
  buildBody,
  buildFilter,
  buildKey,
  buildParent,
  buildReferences,
  buildRelations,
  concatenate,
} from './object-sql.ts'
import { tables } from './tables.ts'

/** The parent of an object. */
interface ParentObject {
  readonly kind: KindName
  readonly id: string
}

const keyRow = row({
  id: text,
  /** Number of the last journal entry about the object. */
  version: bigint,
  key: json<Key>(),
})

const objectRow = row({
  ...keyRow.columns,
  parent: optional(json<ParentObject>()),
  /** The representation without natural key, references and relations. Secrets are sealed. */
  body: json<Representation>(),
  /** References by field; `field.key` for a key of a map. */
  references: json<Readonly<Record<string, { readonly id: string; readonly key: Key }>>>(),
  /** Natural keys by relation; those of siblings are relative to their parent. */
  relations: json<Readonly<Record<string, readonly Key[]>>>(),
})

/** A stored object. */
export interface StoredObject extends Omit<RowOf<typeof objectRow>, 'parent'> {
  /** Absent if the object belongs to the realm directly. */
  readonly parent?: ParentObject
}

/** An object to write. */
export interface ObjectRow {
  readonly id: string
  readonly name: string
  readonly body: Representation
  readonly parent?: ParentObject
  /** Texts that are stored in columns, by field; absent and null are the same. */
  readonly columns: Readonly<Record<string, string | null>>
  /** Ids by field of the reference; absent and null are the same. */
  readonly references: Readonly<Record<string, string | null>>
}

/** Returns the objects of a kind in a realm that match a filter, ordered by natural key, such as the client ID. One statement. */
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
    sql`where t.${sql.ref(table.realm)} = ${realm} and ${buildFilter(kind, realm, filter)}
    order by t.${sql.ref(table.key)}, t.id ${offset} ${limit}`,
  )
}

/** Returns all realms, by name. One statement. */
export function selectAllRealms(tx: Transaction): Promise<StoredObject[]> {
  return select(tx, 'realm', sql`order by t.name`)
}

async function select(tx: Transaction, kind: KindName, clauses: RawBuilder<unknown>): Promise<StoredObject[]> {
  const objects = await query(objectRow)`${getSelection(tx, kind)} ${clauses}`.all(tx)
  return objects.map(({ parent, ...row }) => ({ ...row, ...(parent && { parent }) }))
}

const selections = new Map<KindName, RawBuilder<unknown>>()

/** Returns the beginning of statements that select objects of a kind. It has no parameters, so that its text is built only once. */
function getSelection(tx: Transaction, kind: KindName): RawBuilder<unknown> {
  const cached = selections.get(kind)
  if (cached) return cached
  const selection = sql`
    select t.id, t.version, ${buildKey(kind, 't')} as key, ${buildBody(kind)} as body,
      ${buildParent(kind)} as parent,
      ${buildReferences(kind)} as "references",
      ${buildRelations(kind)} as relations
    from ${sql.table(tables[kind].name)} t`
  const compiled = sql.raw(selection.compile(tx).sql)
  selections.set(kind, compiled)
  return compiled
}

/** Returns id, natural key and version of objects. One statement. */
export async function selectKeys(
  tx: Transaction,
  realm: number,
  { kind, filter }: { readonly kind: KindName; readonly filter: ObjectFilter },
): Promise<RowOf<typeof keyRow>[]> {
  const table = tables[kind]
  return query(keyRow)`
    select t.id, t.version, ${buildKey(kind, 't')} as key
    from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and ${buildFilter(kind, realm, filter)}`.all(tx)
}

const kindRow = row({ kind: textOf<KindName>() })

/** Returns the kinds of which the parents have children. One statement. */
export async function selectKindsOfChildren(
  tx: Transaction,
  realm: number,
  {
    children,
    parents,
  }: { readonly children: readonly KindName[]; readonly parents: NonNullable<ObjectFilter['parents']> },
): Promise<KindName[]> {
  const selects = children.map(
    (kind) => sql`
      select ${kind}::text as kind where exists (
        select from ${sql.table(tables[kind].name)} t where t.realm = ${realm} and ${buildFilter(kind, realm, { parents })})`,
  )
  return (await query(kindRow)`${sql.join(selects, sql` union all `)}`.all(tx)).map(({ kind }) => kind)
}

/** Objects of one kind to insert. `version` is the number of the journal entry. */
export interface NewObjects {
  readonly kind: KindName
  readonly version: number
  readonly rows: readonly ObjectRow[]
}

/** Inserts objects. One statement per chunk. */
export async function insertObjects(
  tx: Transaction,
  realm: number,
  { kind, version, rows }: NewObjects,
): Promise<void> {
  for (const chunk of chunks(rows, CHUNK_SIZE))
    await buildInsert(realm, { kind, version, rows: toRecordset(kind, chunk) }).execute(tx)
}

/** Returns the statement that inserts objects. `rows` is a text of `toRecordset`. */
export function buildInsert(
  realm: number,
  { kind, version, rows }: { readonly kind: KindName; readonly version: number; readonly rows: string },
): RawBuilder<unknown> {
  const table = tables[kind]
  const columns = [table.parents, table.columns, table.folded, table.references].flatMap((fields) =>
    Object.values(fields),
  )
  const computed = Object.entries(table.computed)
  return sql`
    insert into ${sql.table(table.name)} (realm, id, ${sql.ref(table.key)}, version, body${concatenate(
      [...columns, ...computed.map(([column]) => column)],
      (c) => sql`, ${sql.ref(c)}`,
    )})
    select ${realm}::integer, x.id, x.name, ${version}::bigint, x.body${concatenate(columns, (c) => sql`, x.${sql.ref(c)}`)}${concatenate(
      computed,
      ([, value]) => sql`, ${value(realm)}`,
    )}
    from jsonb_to_recordset(${rows}::jsonb)
      as x(id text, name text, body jsonb${concatenate(columns, (c) => sql`, ${sql.ref(c)} text`)})`
}

/** Objects of one kind to update. */
export interface ObjectUpdates extends NewObjects {
  /** The editor to record; for clients only. */
  readonly editor?: ClientEditor | undefined
}

/** Replaces natural key, body and references of objects, and records the editor of clients. One statement per chunk. */
export async function updateObjects(
  tx: Transaction,
  realm: number,
  { kind, version, rows, editor }: ObjectUpdates,
): Promise<void> {
  const table = tables[kind]
  const columns = [table.columns, table.folded, table.references].flatMap((fields) => Object.values(fields))
  // Changes of user data have no number of the configuration journal, so the version counts them.
  const next = kinds[kind].isUserData ? sql`t.version + 1` : sql`${version}::bigint`
  for (const chunk of chunks(rows, CHUNK_SIZE)) {
    await sql`
      update ${sql.table(table.name)} t
      set ${sql.ref(table.key)} = x.name, version = ${next}, body = x.body${concatenate(columns, (c) => sql`, ${sql.ref(c)} = x.${sql.ref(c)}`)}${editor ? buildEditorAssignment(editor) : sql``}
      from jsonb_to_recordset(${toRecordset(kind, chunk)}::jsonb)
        as x(id text, name text, body jsonb${concatenate(columns, (c) => sql`, ${sql.ref(c)} text`)})
      where t.${sql.ref(table.realm)} = ${realm} and t.id = x.id${ifSingle(chunk, sql`t.id`, ({ id }) => id)}`.execute(
      tx,
    )
  }
}

/** Deletes objects and, by cascade, their dependents. One statement. */
export async function deleteObjects(
  tx: Transaction,
  realm: number,
  { kind, ids }: { readonly kind: KindName; readonly ids: readonly string[] },
): Promise<void> {
  const table = tables[kind]
  await sql`delete from ${sql.table(table.name)} where ${sql.ref(table.realm)} = ${realm} and id ${equalsAny(ids)}`.execute(
    tx,
  )
}

/** Sets the version of objects whose change is stored in another table. One statement. */
export async function updateVersions(
  tx: Transaction,
  realm: number,
  { kind, version, ids }: { readonly kind: KindName; readonly version: number; readonly ids: readonly string[] },
): Promise<void> {
  const table = tables[kind]
  const next = kinds[kind].isUserData ? sql`version + 1` : sql`${version}::bigint`
  await sql`
    update ${sql.table(table.name)} set version = ${next}
    where ${sql.ref(table.realm)} = ${realm} and id ${equalsAny(ids)}`.execute(tx)
}

/** Returns objects to write as the JSON text that the statements take. */
export function toRecordset(kind: KindName, rows: readonly ObjectRow[]): string {
  const table = tables[kind]
  return JSON.stringify(
    rows.map(({ id, name, body, parent, columns, references }) => ({
      id,
      name,
      body,
      ...(parent && { [table.parents[parent.kind]!]: parent.id }),
      ...Object.fromEntries(Object.entries(columns).map(([field, text]) => [table.columns[field]!, text])),
      ...toFoldedColumns(kind, name, { ...body, ...columns }),
      ...Object.fromEntries(Object.entries(references).map(([field, target]) => [table.references[field]!, target])),
    })),
  )
}

/** Returns the texts that are searched ignoring case, in lower case, by column. */
function toFoldedColumns(kind: KindName, name: string, body: Representation): Record<string, string | null> {
  const texts = Object.entries(tables[kind].folded).map(([field, column]): [string, string | null] => {
    const text = field === kinds[kind].naturalKey ? name : (body[field] ?? null)
    return [column, text === null ? null : String(text).toLowerCase()]
  })
  return Object.fromEntries(texts)
}
