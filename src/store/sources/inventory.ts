// What each source owns: a row per object with the last applied value of each stated field.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { chunks } from '../../lib/chunks.ts'
import {
  absent,
  absentRow,
  boolean,
  countRow,
  integer,
  json,
  optional,
  type RowOf,
  row,
  rows,
  text,
  textOf,
} from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { CHUNK } from '../objects.ts'

const ownedColumns = {
  source: text,
  kind: textOf<KindName>(),
  object: text,
  key: json<Key>(),
  /** Flat fields: last applied normalised values; digests of secrets. */
  fields: json<Readonly<Record<string, Json>>>(),
  file: text,
  line: integer,
  /** Of each field the line that states it, counted from that of the object; null where only that is kept. */
  lines: optional(json<Readonly<Record<string, number>>>()),
}

/** Describes what one source owns of one object. */
const inventoryRow = row({
  ...ownedColumns,
  /** Somebody else has changed the object since. */
  marked: boolean,
  /**
   * A digest of what the row says, less source and mark; null in rows that were written before there was one, empty where the source
   * states the object no more.
   */
  stated: optional(text),
  /** Live values that the last run found to be drift and left alone, by path; of an object that is gone, an empty path. */
  drifted: optional(json<Readonly<Record<string, Json>>>()),
  /** The same of those that count as if they were stated. */
  accepted: optional(json<Readonly<Record<string, Json>>>()),
})

/** What one source owns of one object. */
export type InventoryRow = RowOf<typeof inventoryRow>

/** Describes a row of what others changed, with what its source settles about itself. */
const markedRow = row({ ...inventoryRow.columns, settings: json<object>() })

/** A row of what others changed. */
export type MarkedRow = RowOf<typeof markedRow>

/** Describes a row of what is changed now, with what its source settles about itself. */
export const ownedRow = row({ ...ownedColumns, settings: json<object>() })

/** A row of what is changed now, of a source that does not simply allow that. */
export type OwnedRow = RowOf<typeof ownedRow>

const unchangedRow = row({ ...inventoryRow.columns, fresh: absent(text) })

/** A digest that no row of the source has: nothing else is there of such a row. */
const freshRow = row({ ...absentRow(inventoryRow).columns, source: text, fresh: text })

const columns = sql`s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
  i.accepted, i.lines`

/** Names of the realms that differ from what sources applied, or may, in order. One statement. */
export async function selectMarkedRealms(tx: Transaction): Promise<string[]> {
  const realms = await rows(row({ name: text }))`
    select r.name from realm r
    where exists (select from inventory i where i.realm = r.number and (i.marked or i.drifted is not null))
    order by r.name`.all(tx)
  return realms.map(({ name }) => name)
}

/** Names of the sources with lists that are whole and for which somebody made something since they were applied. One statement. */
export async function selectMarkedLists(tx: Transaction, realm: number): Promise<string[]> {
  const sources = await rows(row({ name: text }))`
    select s.name from source_realm sr join source s on s.number = sr.source
    where sr.realm = ${realm} and sr.added`.all(tx)
  return sources.map(({ name }) => name)
}

/** What a source states, as digests of rows of the inventory. */
export interface StatedDigests {
  readonly source: string
  readonly digests: readonly string[]
}

/** What a source states now. */
export interface StatedNow extends StatedDigests {
  /** It settles something else about itself than before: what it left alone is looked at again. */
  readonly resettled: boolean
  /** Now all of its lists count: all that it states is looked at again. */
  readonly whole: boolean
}

/** The inventory of a realm less what sources say as its rows do. */
export interface InventoryDifference {
  readonly rows: InventoryRow[]
  /** The digests that no row of the source has. */
  readonly fresh: StatedDigests[]
}

/**
 * The inventory of all sources of a realm, without those rows of some that have one of the digests of their source and no
 * mark: what a source states as it did before is not read. One statement.
 */
export async function selectInventory(
  tx: Transaction,
  realm: number,
  stated: readonly StatedNow[],
): Promise<InventoryDifference> {
  const digests = stated.flatMap(({ digests }) => digests)
  const sources = stated.flatMap(({ source, digests }) => digests.map(() => source))
  const resettled = stated.flatMap((one) => (one.resettled ? one.source : []))
  const whole = stated.flatMap((one) => (one.whole ? one.source : []))
  const selected = await rows(unchangedRow, freshRow)`
    with row as (
      select ${columns}
      from inventory i join source s on s.number = i.source
      where i.realm = ${realm}
    )
    select coalesce(r.source, d.source) as source, r.kind, r.object, r.key, r.fields, r.file, r.line, r.marked, r.stated, r.drifted, r.accepted, r.lines,
      case when r.object is null then d.digest end as fresh
    from (select * from row o where o.source = any(${stated.map(({ source }) => source)}::text[])) r
    full join unnest(${sources}::text[], ${digests}::text[]) as d(source, digest)
      on d.digest = r.stated and d.source = r.source
    where r.object is null or d.digest is null or r.marked
      or ((r.drifted is not null or r.accepted is not null) and r.source = any(${resettled}::text[]))
      or r.source = any(${whole}::text[])
    union all
    select o.*, null from row o where o.source <> all(${stated.map(({ source }) => source)}::text[])
    order by source, kind, key`.all(tx)
  const fresh = Map.groupBy(
    selected.filter((row) => row.fresh !== null),
    ({ source }) => source,
  )
  return {
    rows: selected.filter((row) => row.fresh === null).map(({ fresh: _, ...row }) => row),
    fresh: [...fresh].map(([source, own]) => ({ source, digests: own.map((row) => row.fresh) })),
  }
}

/** What sources own of the objects that they state under these keys. One statement. */
export async function selectOwned(
  tx: Transaction,
  realm: number,
  {
    sources,
    objects,
  }: { readonly sources: readonly string[]; readonly objects: readonly { kind: string; key: Key }[] },
): Promise<InventoryRow[]> {
  return rows(inventoryRow)`
    select ${columns}
    from inventory i join source s on s.number = i.source
    join jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, key jsonb)
      on x.kind = i.kind and x.key = i.key
    where i.realm = ${realm} and s.name = any(${sources}::text[])
    order by s.name, i.kind, i.key`.all(tx)
}

/** What sources state of one object. One statement. */
export async function selectInventoryOfObject(
  tx: Transaction,
  realm: number,
  { kind, object }: { readonly kind: string; readonly object: string },
): Promise<InventoryRow[]> {
  return rows(inventoryRow)`
    select ${columns}
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.kind = ${kind} and i.object = ${object} and i.stated is distinct from ''
    order by s.name`.all(tx)
}

/** The objects of some kinds that sources own in a realm. One statement. */
export async function selectOwnedObjects(
  tx: Transaction,
  realm: number,
  kinds: readonly KindName[],
): Promise<{ kind: KindName; object: string }[]> {
  return rows(row({ kind: textOf<KindName>(), object: text }))`
    select distinct kind, object from inventory where realm = ${realm} and kind = any(${kinds}::text[])`.all(tx)
}

/** Those of the ids that belong to objects of other sources, be these deleted by now. One statement. */
export async function selectAppliedIds(
  tx: Transaction,
  realm: number,
  {
    kind,
    ids,
    except,
  }: { readonly kind: KindName; readonly ids: readonly string[]; readonly except: readonly string[] },
): Promise<string[]> {
  const applied = await rows(row({ object: text }))`
    select i.object from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.kind = ${kind} and i.object = any(${ids}::text[]) and s.name <> all(${except}::text[])`.all(
    tx,
  )
  return applied.map(({ object }) => object)
}

/** How many people of a realm no source owns; accounts of clients do not count. One statement. */
export async function countPeopleOfNobody(tx: Transaction, realm: number): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from user_account u
    where u.realm = ${realm} and u.service_account_client is null and not exists (
      select from inventory i where i.realm = ${realm} and i.kind = 'user' and i.object = u.id
    )`.one(tx)
  return count
}

/** What sources own in a realm and others changed since, as far as it was not put back, with what each source settles. One statement. */
export async function selectMarkedInventory(tx: Transaction, realm: number): Promise<MarkedRow[]> {
  return rows(markedRow)`
    select ${columns}, sr.settings
    from inventory i join source s on s.number = i.source
    join source_realm sr on sr.realm = i.realm and sr.source = i.source
    where i.realm = ${realm} and (i.marked or i.drifted is not null)
    order by s.name, i.kind, i.key`.all(tx)
}

/** Writes rows of what a source owns. One statement per chunk. */
export async function upsertInventory(
  tx: Transaction,
  realm: number,
  { source, rows }: { readonly source: number; readonly rows: readonly Omit<InventoryRow, 'source'>[] },
): Promise<void> {
  for (const chunk of chunks(rows, CHUNK))
    await upsert(realm, { source: sql`${source}::integer`, rows: chunk }).execute(tx)
}

/** Drops rows of what a source owns no more. One statement. */
export async function deleteInventory(
  tx: Transaction,
  realm: number,
  { source, objects }: { readonly source: number; readonly objects: readonly { kind: string; object: string }[] },
): Promise<void> {
  await sql`
    delete from inventory i using jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, object text)
    where i.realm = ${realm} and i.source = ${source} and i.kind = x.kind and i.object = x.object`.execute(tx)
}

/** Rows to write, with the expression of the number of their source and what it reads from. */
export interface InventoryRows {
  readonly source: RawBuilder<unknown>
  readonly rows: readonly Omit<InventoryRow, 'source'>[]
  readonly from?: RawBuilder<unknown>
}

/** The statement that writes rows of what a source owns; `from`: what else it reads from. */
export function upsert(realm: number, { source, rows, from = sql`` }: InventoryRows): RawBuilder<unknown> {
  return sql`insert into inventory as i (realm, source, kind, object, key, fields, file, line, marked, stated, drifted, accepted, lines)
      select ${realm}::integer, ${source}, x.kind, x.object, x.key, x.fields, x.file, x.line, x.marked, x.stated,
        x.drifted, x.accepted, x.lines
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as x(kind text, object text, key jsonb, fields jsonb, file text, line integer, marked boolean, stated text,
          drifted jsonb, accepted jsonb, lines jsonb) ${from}
      on conflict (realm, source, kind, object) do update
        set key = excluded.key, fields = excluded.fields, file = excluded.file, line = excluded.line, marked = excluded.marked,
          stated = excluded.stated, drifted = excluded.drifted, accepted = excluded.accepted,
          lines = excluded.lines
        where i.realm = ${realm}`
}

/** How many rows are not as they were applied, or may not be, in all realms. One statement. */
export async function countMarked(tx: Transaction): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from realm r join inventory i on i.realm = r.number
    where i.marked or i.drifted is not null`.one(tx)
  return count
}
