// What each source owns: a row per object with the last applied value of each stated field.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../kinds/fields.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import type { Transaction } from './database.ts'
import { CHUNK } from './objects.ts'

/** What one source owns of one object. */
export interface InventoryRow {
  readonly source: string
  readonly kind: KindName
  readonly object: string
  readonly key: Key
  /** Flat fields: last applied normalised values; digests of secrets. */
  readonly fields: Readonly<Record<string, Json>>
  readonly file: string
  readonly line: number
  /** Somebody else has changed the object since. */
  readonly marked: boolean
  /**
   * A digest of what the row says, less source and mark; null in rows that were written before there was one, empty where the source
   * states the object no more.
   */
  readonly stated: string | null
  /** Of each field the line that states it, counted from that of the object; null where only that is kept. */
  readonly lines: Readonly<Record<string, number>> | null
  /** Live values that the last run found to be drift and left alone, by path; of an object that is gone, an empty path. */
  readonly drifted: Readonly<Record<string, Json>> | null
  /** The same of those that count as if they were stated. */
  readonly adopted: Readonly<Record<string, Json>> | null
}

/** A row of what others changed. */
export interface MarkedRow extends InventoryRow {
  /** What its source settles about itself. */
  readonly settings: object
}

/** A row of what is changed now, of a source that does not simply allow that. */
export interface OwnedRow
  extends Pick<InventoryRow, 'source' | 'kind' | 'object' | 'key' | 'fields' | 'file' | 'line' | 'lines'> {
  readonly settings: object
}

/** Names of the realms that differ from what sources applied, or may, in order. One statement. */
export async function selectMarkedRealms(tx: Transaction): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select r.name from realm r
    where exists (select from inventory i where i.realm = r.number and (i.marked or i.drifted is not null))
    order by r.name`.execute(tx)
  return rows.map(({ name }) => name)
}

/** Names of the sources with lists that are whole and for which somebody made something since they were applied. One statement. */
export async function selectMarkedLists(tx: Transaction, realm: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select s.name from source_realm sr join source s on s.number = sr.source
    where sr.realm = ${realm} and sr.added`.execute(tx)
  return rows.map(({ name }) => name)
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
  const { rows } = await sql<InventoryRow & { fresh: string | null }>`
    with row as (
      select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.adopted, i.lines
      from inventory i join source s on s.number = i.source
      where i.realm = ${realm}
    )
    select coalesce(r.source, d.source) as source, r.kind, r.object, r.key, r.fields, r.file, r.line, r.marked, r.stated, r.drifted, r.adopted, r.lines,
      case when r.object is null then d.digest end as fresh
    from (select * from row o where o.source = any(${stated.map(({ source }) => source)}::text[])) r
    full join unnest(${sources}::text[], ${digests}::text[]) as d(source, digest)
      on d.digest = r.stated and d.source = r.source
    where r.object is null or d.digest is null or r.marked
      or ((r.drifted is not null or r.adopted is not null) and r.source = any(${resettled}::text[]))
      or r.source = any(${whole}::text[])
    union all
    select o.*, null from row o where o.source <> all(${stated.map(({ source }) => source)}::text[])
    order by source, kind, key`.execute(tx)
  const fresh = Map.groupBy(
    rows.filter((row) => row.fresh !== null),
    ({ source }) => source,
  )
  return {
    rows: rows.filter((row) => row.fresh === null).map(({ fresh: _, ...row }) => row),
    fresh: [...fresh].map(([source, own]) => ({ source, digests: own.map((row) => row.fresh!) })),
  }
}

/** What sources own of the objects that they state under these keys. One statement. */
export async function selectOwned(
  tx: Transaction,
  realm: number,
  sources: readonly string[],
  objects: readonly { kind: string; key: Key }[],
): Promise<InventoryRow[]> {
  const { rows } = await sql<InventoryRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.adopted, i.lines
    from inventory i join source s on s.number = i.source
    join jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, key jsonb)
      on x.kind = i.kind and x.key = i.key
    where i.realm = ${realm} and s.name = any(${sources}::text[])
    order by s.name, i.kind, i.key`.execute(tx)
  return rows
}

/** What sources state of one object. One statement. */
export async function selectInventoryOfObject(
  tx: Transaction,
  realm: number,
  kind: string,
  object: string,
): Promise<InventoryRow[]> {
  const { rows } = await sql<InventoryRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.adopted, i.lines
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.kind = ${kind} and i.object = ${object} and i.stated is distinct from ''
    order by s.name`.execute(tx)
  return rows
}

/** The objects of some kinds that sources own in a realm. One statement. */
export async function selectOwnedObjects(
  tx: Transaction,
  realm: number,
  kinds: readonly KindName[],
): Promise<{ kind: KindName; object: string }[]> {
  const { rows } = await sql<{ kind: KindName; object: string }>`
    select distinct kind, object from inventory where realm = ${realm} and kind = any(${kinds}::text[])`.execute(tx)
  return rows
}

/** How many people of a realm no source owns; accounts of clients do not count. One statement. */
export async function countPeopleOfNobody(tx: Transaction, realm: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from user_account u
    where u.realm = ${realm} and u.service_account_client is null and not exists (
      select from inventory i where i.realm = ${realm} and i.kind = 'user' and i.object = u.id
    )`.execute(tx)
  return rows[0]!.count
}

/** What sources own in a realm and others changed since, as far as it was not put back, with what each source settles. One statement. */
export async function selectMarkedInventory(tx: Transaction, realm: number): Promise<MarkedRow[]> {
  const { rows } = await sql<MarkedRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.adopted, i.lines, sr.settings
    from inventory i join source s on s.number = i.source
    join source_realm sr on sr.realm = i.realm and sr.source = i.source
    where i.realm = ${realm} and (i.marked or i.drifted is not null)
    order by s.name, i.kind, i.key`.execute(tx)
  return rows
}

/** Writes rows of what a source owns. One statement per chunk. */
export async function upsertInventory(
  tx: Transaction,
  realm: number,
  source: number,
  rows: readonly Omit<InventoryRow, 'source'>[],
): Promise<void> {
  for (const chunk of chunks(rows, CHUNK)) await upsert(realm, sql`${source}::integer`, chunk).execute(tx)
}

/** Drops rows of what a source owns no more. One statement. */
export async function deleteInventory(
  tx: Transaction,
  realm: number,
  source: number,
  objects: readonly { kind: string; object: string }[],
): Promise<void> {
  await sql`
    delete from inventory i using jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, object text)
    where i.realm = ${realm} and i.source = ${source} and i.kind = x.kind and i.object = x.object`.execute(tx)
}

/** The statement that writes rows of what a source owns; `from`: what else it reads from. */
export function upsert(
  realm: number,
  source: RawBuilder<unknown>,
  rows: readonly Omit<InventoryRow, 'source'>[],
  from: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  return sql`insert into inventory as i (realm, source, kind, object, key, fields, file, line, marked, stated, drifted, adopted, lines)
      select ${realm}::integer, ${source}, x.kind, x.object, x.key, x.fields, x.file, x.line, x.marked, x.stated,
        x.drifted, x.adopted, x.lines
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as x(kind text, object text, key jsonb, fields jsonb, file text, line integer, marked boolean, stated text,
          drifted jsonb, adopted jsonb, lines jsonb) ${from}
      on conflict (realm, source, kind, object) do update
        set key = excluded.key, fields = excluded.fields, file = excluded.file, line = excluded.line, marked = excluded.marked,
          stated = excluded.stated, drifted = excluded.drifted, adopted = excluded.adopted,
          lines = excluded.lines
        where i.realm = ${realm}`
}

/** How many rows are not as they were applied, or may not be, in all realms. One statement. */
export async function countMarked(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from realm r join inventory i on i.realm = r.number
    where i.marked or i.drifted is not null`.execute(tx)
  return rows[0]!.count
}
