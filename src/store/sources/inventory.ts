// The inventory: a row per source and managed object, with the last applied value of each declared field.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import { chunks } from '../../lib/chunks.ts'
import {
  absent,
  absentRow,
  boolean,
  CHUNK_SIZE,
  countRow,
  integer,
  json,
  optional,
  query,
  type RowOf,
  row,
  text,
  textOf,
} from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const managedColumns = {
  source: text,
  kind: textOf<KindName>(),
  object: text,
  key: json<Key>(),
  /** Last applied values by field path, normalized; digests of secrets. Values that are encrypted in their file are sealed. */
  fields: json<Readonly<Record<string, Json>>>(),
  file: text,
  line: integer,
  /** The line of each field's declaration, relative to `line`; null if only `line` is known. */
  lines: optional(json<Readonly<Record<string, number>>>()),
}

/** Describes a row of the inventory. */
const inventoryRow = row({
  ...managedColumns,
  /** Whether another actor has changed the object since the last apply. */
  marked: boolean,
  /**
   * The digest of the declaration; empty if the source no longer declares the object, null if the declaration must be compared again.
   */
  declaredDigest: optional(text),
  /** Live values of drift that the last run ignored, by path; the empty path for a deleted object. */
  drifted: optional(json<Readonly<Record<string, Json>>>()),
  /** Live values of drift that the last run accepted, by path. */
  accepted: optional(json<Readonly<Record<string, Json>>>()),
})

/** The values of a row that are encrypted in their file. */
interface EncryptedValues {
  /** Their paths, in order; absent if there are none, and in stored rows, where the values themselves are sealed. */
  readonly encrypted?: readonly string[]
}

/** A row of the inventory: what a source manages of an object. */
export type InventoryRow = RowOf<typeof inventoryRow> & EncryptedValues

/** Describes an inventory row of a changed object, with the settings of its source. */
const markedInventoryRow = row({ ...inventoryRow.columns, settings: json<SourceSettings>() })

/** An inventory row of an object that others have changed. */
export type MarkedInventoryRow = RowOf<typeof markedInventoryRow> & EncryptedValues

/** Describes an inventory row of an object that is being changed, with the settings of its source. */
export const protectedInventoryRow = row({ ...managedColumns, settings: json<SourceSettings>() })

/** An inventory row of an object that is being changed, of a source that warns of, or refuses, changes by others. */
export type ProtectedInventoryRow = RowOf<typeof protectedInventoryRow> & EncryptedValues

const existingRow = row({ ...inventoryRow.columns, isTenant: boolean, newDigest: absent(text) })

/** A digest that no row of the source has. All other columns are null. */
const newDigestRow = row({ ...absentRow(inventoryRow).columns, source: text, isTenant: boolean, newDigest: text })

const inventoryColumns = sql`s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.declared_digest as "declaredDigest", i.drifted,
  i.accepted, i.lines`

/** Returns the names of the realms with drift or possible drift, in order. One statement. */
export async function selectMarkedRealms(tx: Transaction): Promise<string[]> {
  const realms = await query(row({ name: text }))`
    select r.name from realm r
    where exists (select from inventory i where i.realm = r.number and (i.marked or i.drifted is not null))
    order by r.name`.all(tx)
  return realms.map(({ name }) => name)
}

/** Returns the names of the sources with authoritative lists in whose realm others have created objects since the last apply. One statement. */
export async function selectSourcesWithUndeclaredObjects(tx: Transaction, realm: number): Promise<string[]> {
  const sources = await query(row({ name: text }))`
    select s.name from source_realm sr join source s on s.number = sr.source
    where sr.realm = ${realm} and sr.objects_added`.all(tx)
  return sources.map(({ name }) => name)
}

/** Digests of the declarations of a source. */
export interface DeclaredDigests {
  readonly source: string
  readonly digests: readonly string[]
}

/** The current declarations of a source, as digests. */
export interface SourceDeclaration extends DeclaredDigests {
  /** Whether the source has other settings than at the last apply, so that ignored and accepted drift is compared again. */
  readonly hasNewSettings: boolean
  /** Whether the lists of the source have become authoritative since the last apply. */
  readonly hasNewAuthoritativeLists: boolean
}

/** The inventory of a realm without unchanged declarations. */
export interface InventoryDifference {
  readonly rows: InventoryRow[]
  /** The digests that no row of the source has. */
  readonly newDigests: DeclaredDigests[]
  /** The sources in the rows that are tenants. */
  readonly tenants: ReadonlySet<string>
}

/**
 * Returns the inventory of a realm, but of the given sources only the rows that need a comparison: those that are marked, or whose
 * declaration is new, changed or removed. One statement.
 */
export async function selectInventory(
  tx: Transaction,
  realm: number,
  declarations: readonly SourceDeclaration[],
): Promise<InventoryDifference> {
  const sources = declarations.map(({ source }) => source)
  // One text for each source, since an array of all digests would need another one with the source of each.
  const lists = declarations.map(({ digests }) => digests.join(' '))
  const settingsChanged = declarations.flatMap(({ source, hasNewSettings }) => (hasNewSettings ? source : []))
  const listsChanged = declarations.flatMap(({ source, hasNewAuthoritativeLists }) =>
    hasNewAuthoritativeLists ? source : [],
  )
  // Compares without the wide columns, since nearly all rows are unchanged.
  const selected = await query(existingRow, newDigestRow)`
    with row as not materialized (
      select s.name as source, i.source as number, i.kind, i.object, i.declared_digest, i.marked,
        i.drifted is not null or i.accepted is not null as has_drift, sr.tenant is not null as is_tenant
      from inventory i join source s on s.number = i.source
      join source_realm sr on sr.realm = i.realm and sr.source = i.source
      where i.realm = ${realm}
    ), different as (
      select coalesce(r.source, d.source) as source, r.number, r.kind, r.object, r.is_tenant,
        case when r.object is null then d.digest end as new_digest
      from (select * from row o where o.source = any(${sources}::text[])) r
      full join (
        select l.source, d.digest
        from unnest(${sources}::text[], ${lists}::text[]) as l(source, list), string_to_table(l.list, ' ') as d(digest)
      ) d
        on d.digest = r.declared_digest and d.source = r.source
      where r.object is null or d.digest is null or r.marked
        or (r.has_drift and r.source = any(${settingsChanged}::text[]))
        or r.source = any(${listsChanged}::text[])
      union all
      select o.source, o.number, o.kind, o.object, o.is_tenant, null
      from row o where o.source <> all(${sources}::text[])
    )
    select d.source, d.kind, d.object, i.key, i.fields, i.file, i.line, i.marked, i.declared_digest as "declaredDigest", i.drifted, i.accepted, i.lines,
      coalesce(d.is_tenant, false) as "isTenant", d.new_digest as "newDigest"
    from different d
    left join inventory i on i.realm = ${realm} and i.source = d.number and i.kind = d.kind and i.object = d.object
    order by source, kind, key`.all(tx)
  const newDigests = Map.groupBy(
    selected.filter((row) => row.newDigest !== null),
    ({ source }) => source,
  )
  return {
    rows: selected.filter((row) => row.newDigest === null).map(({ newDigest: _, isTenant: __, ...row }) => row),
    tenants: new Set(selected.flatMap(({ isTenant, source }) => (isTenant ? source : []))),
    newDigests: [...newDigests].map(([source, rows]) => ({ source, digests: rows.map((row) => row.newDigest) })),
  }
}

/** Returns the inventory rows of sources by natural key. One statement. */
export async function selectInventoryByKeys(
  tx: Transaction,
  realm: number,
  {
    sources,
    objects,
  }: { readonly sources: readonly string[]; readonly objects: readonly { kind: string; key: Key }[] },
): Promise<InventoryRow[]> {
  return query(inventoryRow)`
    select ${inventoryColumns}
    from inventory i join source s on s.number = i.source
    join jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, key jsonb)
      on x.kind = i.kind and x.key = i.key
    where i.realm = ${realm} and s.name = any(${sources}::text[])
    order by s.name, i.kind, i.key`.all(tx)
}

/** Returns the inventory rows of an object: one for each source that declares it. One statement. */
export async function selectInventoryOfObject(
  tx: Transaction,
  realm: number,
  { kind, object }: { readonly kind: string; readonly object: string },
): Promise<InventoryRow[]> {
  return query(inventoryRow)`
    select ${inventoryColumns}
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.kind = ${kind} and i.object = ${object} and i.declared_digest is distinct from ''
    order by s.name`.all(tx)
}

/** Describes a source that manages an object, and the file that declares it there. */
const managerRow = row({
  kind: textOf<KindName>(),
  object: text,
  source: text,
  file: text,
  /** Whether the source has released the object, and does not manage it any more. */
  isReleased: boolean,
})

/** A source that manages or has released an object, and the file that declares it there. */
export type ManagerRow = RowOf<typeof managerRow>

/** Returns the sources that manage objects with these ids, or have released them. One statement. */
export async function selectManagers(
  tx: Transaction,
  realm: number,
  objects: readonly { readonly kind: KindName; readonly id: string }[],
): Promise<ManagerRow[]> {
  return query(managerRow)`
    with listed as (select * from jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, id text))
    select i.kind, i.object, s.name as source, i.file, false as "isReleased"
    from inventory i join source s on s.number = i.source join listed l on l.kind = i.kind and l.id = i.object
    where i.realm = ${realm}
    union all
    select r.kind, r.object, s.name, '', true
    from released_object r join source s on s.number = r.source join listed l on l.kind = r.kind and l.id = r.object
    where r.realm = ${realm}
    order by source`.all(tx)
}

/** Returns the managed objects of some kinds. One statement. */
export async function selectManagedObjects(
  tx: Transaction,
  realm: number,
  kinds: readonly KindName[],
): Promise<{ kind: KindName; object: string }[]> {
  return query(row({ kind: textOf<KindName>(), object: text }))`
    select distinct kind, object from inventory where realm = ${realm} and kind = any(${kinds}::text[])`.all(tx)
}

/** A field of a managed object. */
export interface ManagedField {
  readonly kind: KindName
  readonly object: string
  readonly path: string
}

/** Returns the fields with a last applied value that begins with the prefix. One statement. */
export function selectFieldsByPrefix(tx: Transaction, realm: number, prefix: string): Promise<ManagedField[]> {
  return query(row({ kind: textOf<KindName>(), object: text, path: text }))`
    select distinct i.kind, i.object, f.key as path
    from inventory i cross join lateral jsonb_each_text(i.fields) f
    where i.realm = ${realm} and starts_with(f.value, ${prefix})`.all(tx)
}

/** Returns those of the ids that are in the inventory of other sources, even if the object is deleted. One statement. */
export async function selectIdsOfOtherSources(
  tx: Transaction,
  realm: number,
  {
    kind,
    ids,
    except,
  }: { readonly kind: KindName; readonly ids: readonly string[]; readonly except: readonly string[] },
): Promise<string[]> {
  const rows = await query(row({ object: text }))`
    select i.object from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.kind = ${kind} and i.object = any(${ids}::text[]) and s.name <> all(${except}::text[])`.all(
    tx,
  )
  return rows.map(({ object }) => object)
}

/** Returns the number of unmanaged users of a realm; service accounts do not count. One statement. */
export async function countUnmanagedUsers(tx: Transaction, realm: number): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from user_account u
    where u.realm = ${realm} and u.service_account_client is null and not exists (
      select from inventory i where i.realm = ${realm} and i.kind = 'user' and i.object = u.id
    )`.firstOrThrow(tx)
  return count
}

/** Returns the inventory rows of a realm with drift or possible drift, with the settings of their sources. One statement. */
export async function selectMarkedInventory(tx: Transaction, realm: number): Promise<MarkedInventoryRow[]> {
  return query(markedInventoryRow)`
    select ${inventoryColumns}, sr.settings
    from inventory i join source s on s.number = i.source
    join source_realm sr on sr.realm = i.realm and sr.source = i.source
    where i.realm = ${realm} and (i.marked or i.drifted is not null)
    order by s.name, i.kind, i.key`.all(tx)
}

/** Inserts or updates inventory rows of a source. One statement per chunk. */
export async function upsertInventory(
  tx: Transaction,
  realm: number,
  { source, rows }: { readonly source: number; readonly rows: readonly Omit<InventoryRow, 'source'>[] },
): Promise<void> {
  for (const chunk of chunks(rows, CHUNK_SIZE))
    await buildInventoryUpsert(realm, { source: sql`${source}::integer`, rows: chunk }).execute(tx)
}

/** Deletes inventory rows of a source. One statement. */
export async function deleteInventory(
  tx: Transaction,
  realm: number,
  { source, objects }: { readonly source: number; readonly objects: readonly { kind: string; object: string }[] },
): Promise<void> {
  await sql`
    delete from inventory i using jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, object text)
    where i.realm = ${realm} and i.source = ${source} and i.kind = x.kind and i.object = x.object`.execute(tx)
}

/** Records that a source releases objects, all that it manages by default: it may manage them again. One statement. */
export async function recordReleased(
  tx: Transaction,
  realm: number,
  { source, objects }: { readonly source: string; readonly objects?: readonly { kind: string; object: string }[] },
): Promise<void> {
  const isListed = objects
    ? sql`(i.kind, i.object) in (select kind, object from jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, object text))`
    : sql`true`
  await sql`
    insert into released_object (realm, source, kind, object)
    select i.realm, i.source, i.kind, i.object from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and s.name = ${source} and ${isListed}
    on conflict do nothing`.execute(tx)
}

/** Returns the sources that have released a realm itself. One statement. */
export async function selectReleasedRealms(tx: Transaction): Promise<{ realm: string; source: string }[]> {
  return query(row({ realm: text, source: text }))`
    select m.name as realm, s.name as source
    from released_object r join realm m on m.number = r.realm join source s on s.number = r.source
    where r.kind = 'realm' order by m.name, s.name`.all(tx)
}

/** Inventory rows to write, the SQL of their source's number, and the join that it needs. */
export interface InventoryUpsert {
  readonly source: RawBuilder<unknown>
  readonly rows: readonly Omit<InventoryRow, 'source'>[]
  readonly from?: RawBuilder<unknown>
}

/** Returns the statement that inserts or updates inventory rows. */
export function buildInventoryUpsert(
  realm: number,
  { source, rows, from = sql`` }: InventoryUpsert,
): RawBuilder<unknown> {
  return sql`insert into inventory as i (realm, source, kind, object, key, fields, file, line, marked, declared_digest, drifted, accepted, lines)
      select ${realm}::integer, ${source}, x.kind, x.object, x.key, x.fields, x.file, x.line, x.marked, x."declaredDigest",
        x.drifted, x.accepted, x.lines
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as x(kind text, object text, key jsonb, fields jsonb, file text, line integer, marked boolean, "declaredDigest" text,
          drifted jsonb, accepted jsonb, lines jsonb) ${from}
      on conflict (realm, source, kind, object) do update
        set key = excluded.key, fields = excluded.fields, file = excluded.file, line = excluded.line, marked = excluded.marked,
          declared_digest = excluded.declared_digest, drifted = excluded.drifted, accepted = excluded.accepted,
          lines = excluded.lines
        where i.realm = ${realm}`
}

/** Returns the number of inventory rows, in all realms, that have drift or whose object was changed since the last apply. One statement. */
export async function countMarkedInventory(tx: Transaction): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from realm r join inventory i on i.realm = r.number
    where i.marked or i.drifted is not null`.firstOrThrow(tx)
  return count
}
