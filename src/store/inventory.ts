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
  /** A digest of what the row says, less source and mark; null in rows that were written before there was one. */
  readonly stated: string | null
  /** Of each field the line that states it, counted from that of the object; null where only that is kept. */
  readonly lines: Readonly<Record<string, number>> | null
  /** Live values that the last run found to be drift and left alone, by path; of an object that is gone, an empty path. */
  readonly drifted: Readonly<Record<string, Json>> | null
}

/** What a source has applied to a realm. */
export interface AppliedSource {
  readonly source: string
  readonly realm: string
  /** The name by which the source states the realm; null where it states the name of none. */
  readonly stated: string | null
  readonly digest: string
  readonly revision: string
  readonly marked: boolean
  /** What it states is planned, and not applied. */
  readonly held: Held | null
}

/** Since when a source is held, and why: the revision to which somebody went back. */
export interface Held {
  readonly revision: number
  readonly by: string
  readonly at: string
}

/** The realms that sources have applied to. One statement, and all that a run needs that has nothing to do. */
export async function selectApplied(tx: Transaction, sources: readonly string[]): Promise<AppliedSource[]> {
  const { rows } = await sql<AppliedSource>`
    select s.name as source, r.name as realm, sr.digest, sr.revision, sr.held,
      (select i.key ->> 0 from inventory i
        where i.realm = sr.realm and i.source = sr.source and i.kind = 'realm') as stated,
      exists (select from inventory i where i.realm = sr.realm and i.source = sr.source and i.marked) as marked
    from source s join source_realm sr on sr.source = s.number join realm r on r.number = sr.realm
    where s.name = any(${sources}::text[])
    order by r.name, s.name`.execute(tx)
  return rows
}

/** Names of the realms that differ from what sources applied, or may, in order. One statement. */
export async function selectMarkedRealms(tx: Transaction): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select r.name from realm r
    where exists (select from inventory i where i.realm = r.number and (i.marked or i.drifted is not null))
    order by r.name`.execute(tx)
  return rows.map(({ name }) => name)
}

/** What a source states, as digests of rows of the inventory. */
export interface StatedDigests {
  readonly source: string
  readonly digests: readonly string[]
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
  stated: readonly StatedDigests[],
): Promise<InventoryDifference> {
  const digests = stated.flatMap(({ digests }) => digests)
  const sources = stated.flatMap(({ source, digests }) => digests.map(() => source))
  const { rows } = await sql<InventoryRow & { fresh: string | null }>`
    with row as (
      select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.lines
      from inventory i join source s on s.number = i.source
      where i.realm = ${realm}
    )
    select coalesce(r.source, d.source) as source, r.kind, r.object, r.key, r.fields, r.file, r.line, r.marked, r.stated, r.drifted, r.lines,
      case when r.object is null then d.digest end as fresh
    from (select * from row o where o.source = any(${stated.map(({ source }) => source)}::text[])) r
    full join unnest(${sources}::text[], ${digests}::text[]) as d(source, digest)
      on d.digest = r.stated and d.source = r.source
    where r.object is null or d.digest is null or r.marked
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
        i.lines
    from inventory i join source s on s.number = i.source
    join jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, key jsonb)
      on x.kind = i.kind and x.key = i.key
    where i.realm = ${realm} and s.name = any(${sources}::text[])
    order by s.name, i.kind, i.key`.execute(tx)
  return rows
}

/** What sources own of one object. One statement. */
export async function selectInventoryOfObject(
  tx: Transaction,
  realm: number,
  kind: string,
  object: string,
): Promise<InventoryRow[]> {
  const { rows } = await sql<InventoryRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.lines
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.kind = ${kind} and i.object = ${object}
    order by s.name`.execute(tx)
  return rows
}

/** What sources own in a realm and others changed since, as far as it was not put back. One statement. */
export async function selectMarkedInventory(tx: Transaction, realm: number): Promise<InventoryRow[]> {
  const { rows } = await sql<InventoryRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated, i.drifted,
        i.lines
    from inventory i join source s on s.number = i.source
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

/** What one source has applied to a realm. */
export interface AppliedPart {
  readonly source: string
  readonly digest: string
  readonly revision: string
  readonly at: Date
}

/** A line of history: what a run did to a realm. */
export interface HistoryLine {
  readonly at: Date
  readonly actor: unknown
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  /** Number of the last journal entry then. */
  readonly version: number
  /** The text of an object. */
  readonly plan: string
}

/**
 * Keeps what a source applied to a realm: its digest and revision, rows of what it owns, and a line of history where there is
 * one. Gives the source's number, and how many of its rows were marked before. One statement.
 */
export async function recordApplied(
  tx: Transaction,
  realm: number,
  part: AppliedPart,
  rows: readonly Omit<InventoryRow, 'source'>[],
  line: HistoryLine | undefined,
): Promise<{ source: number; marked: number }> {
  const { rows: found } = await sql<{ source: number; marked: number }>`
    with made as (
      insert into source (name) values (${part.source}) on conflict do nothing returning number
    ),
    owner as (
      select number from made union all select number from source where name = ${part.source}
    ),
    applied as (
      insert into source_realm (realm, source, digest, revision, applied_at)
      select ${realm}::integer, o.number, ${part.digest}, ${part.revision}, ${part.at}::timestamptz from owner o
      on conflict (realm, source) do update
        set digest = excluded.digest, revision = excluded.revision, applied_at = excluded.applied_at, held = null
        where source_realm.realm = ${realm}
    ),
    ${line ? sql`line as (${historyLine(realm, line)}),` : sql``}
    owned as (
      ${upsert(realm, sql`o.number`, rows, sql`cross join owner o`)}
    )
    select o.number as source, (
        select count(*)::integer from inventory i where i.realm = ${realm} and i.source = o.number and i.marked
      ) as marked
    from owner o`.execute(tx)
  return found[0]!
}

/** What a source states nothing of any more, it has not applied to. One statement. */
export async function deleteApplied(tx: Transaction, realm: number, source: number): Promise<void> {
  await sql`delete from source_realm where realm = ${realm} and source = ${source}`.execute(tx)
}

/** Writes a further line of history of a run, whose plan is too long for one. One statement. */
export async function insertHistory(tx: Transaction, realm: number, line: HistoryLine): Promise<void> {
  await historyLine(realm, line).execute(tx)
}

function historyLine(realm: number, { sources, at, actor, plan, version }: HistoryLine): RawBuilder<unknown> {
  return sql`insert into history (realm, version, sources, at, actor, plan)
      values (${realm}::integer, ${version}::bigint, ${JSON.stringify(sources)}::jsonb, ${at}::timestamptz,
        ${JSON.stringify(actor)}::jsonb, ${plan}::jsonb)`
}

function upsert(
  realm: number,
  source: RawBuilder<unknown>,
  rows: readonly Omit<InventoryRow, 'source'>[],
  from: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  return sql`insert into inventory as i (realm, source, kind, object, key, fields, file, line, marked, stated, drifted, lines)
      select ${realm}::integer, ${source}, x.kind, x.object, x.key, x.fields, x.file, x.line, x.marked, x.stated,
        x.drifted, x.lines
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as x(kind text, object text, key jsonb, fields jsonb, file text, line integer, marked boolean, stated text,
          drifted jsonb, lines jsonb) ${from}
      on conflict (realm, source, kind, object) do update
        set key = excluded.key, fields = excluded.fields, file = excluded.file, line = excluded.line, marked = excluded.marked,
          stated = excluded.stated, drifted = excluded.drifted, lines = excluded.lines
        where i.realm = ${realm}`
}

/** A source that has applied to a realm. */
export interface SourceOfRealm {
  readonly realm: string
  readonly source: string
  readonly revision: string
  readonly appliedAt: Date
  readonly held: Held | null
  /** How many objects it owns, and how many of them are not as it applied them, or may not be. */
  readonly objects: number
  readonly changed: number
}

/** The sources that have applied to a realm, or to any, by name. One statement. */
export async function selectSources(tx: Transaction, realm?: number): Promise<SourceOfRealm[]> {
  const { rows } = await sql<SourceOfRealm>`
    select r.name as realm, s.name as source, sr.revision, sr.applied_at as "appliedAt", sr.held,
      count(i.*)::integer as objects,
      (count(*) filter (where i.marked or i.drifted is not null))::integer as changed
    from realm r join source_realm sr on sr.realm = r.number join source s on s.number = sr.source
    left join inventory i on i.realm = sr.realm and i.source = sr.source
    ${realm === undefined ? sql`` : sql`where r.number = ${realm}`}
    group by r.name, s.name, sr.revision, sr.applied_at, sr.held
    order by s.name, r.name`.execute(tx)
  return rows
}

/** Holds all sources of a realm. One statement. */
export async function holdSources(tx: Transaction, realm: number, held: Held): Promise<void> {
  await sql`update source_realm set held = ${JSON.stringify(held)}::jsonb where realm = ${realm}`.execute(tx)
}

/** Lets a source of a realm go on. Gives whether it has applied to the realm at all. One statement. */
export async function resumeSource(tx: Transaction, realm: number, source: string): Promise<boolean> {
  const { rows } = await sql`
    update source_realm sr set held = null from source s
    where sr.realm = ${realm} and s.number = sr.source and s.name = ${source} returning sr.source`.execute(tx)
  return rows.length > 0
}

/** Lets go of all that a source owns in a realm, which stays as it is. Gives whether it has applied to the realm at all. Two statements. */
export async function forgetSource(tx: Transaction, realm: number, source: string): Promise<boolean> {
  await sql`
    delete from inventory i using source s
    where i.realm = ${realm} and s.number = i.source and s.name = ${source}`.execute(tx)
  const { rows } = await sql`
    delete from source_realm sr using source s
    where sr.realm = ${realm} and s.number = sr.source and s.name = ${source} returning sr.source`.execute(tx)
  return rows.length > 0
}

/** How many rows are not as they were applied, or may not be, in all realms. One statement. */
export async function countMarked(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from realm r join inventory i on i.realm = r.number
    where i.marked or i.drifted is not null`.execute(tx)
  return rows[0]!.count
}
