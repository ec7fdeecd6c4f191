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
}

/** What a source has applied to a realm. */
export interface AppliedSource {
  readonly realm: string
  /** The name by which the source states the realm; null where it states the name of none. */
  readonly stated: string | null
  readonly digest: string
  readonly revision: string
  readonly marked: boolean
}

/** The realms that a source has applied to. One statement, and all that a run needs that has nothing to do. */
export async function selectApplied(tx: Transaction, source: string): Promise<AppliedSource[]> {
  const { rows } = await sql<AppliedSource>`
    select r.name as realm, sr.digest, sr.revision,
      (select i.key ->> 0 from inventory i
        where i.realm = sr.realm and i.source = sr.source and i.kind = 'realm') as stated,
      exists (select from inventory i where i.realm = sr.realm and i.source = sr.source and i.marked) as marked
    from source s join source_realm sr on sr.source = s.number join realm r on r.number = sr.realm
    where s.name = ${source}
    order by r.name`.execute(tx)
  return rows
}

/** Names of the realms in which somebody changed what a source owns, in order. One statement. */
export async function selectMarkedRealms(tx: Transaction): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select r.name from realm r
    where exists (select from inventory i where i.realm = r.number and i.marked)
    order by r.name`.execute(tx)
  return rows.map(({ name }) => name)
}

/** The inventory of a realm less what a source says as its row does. */
export interface InventoryDifference {
  readonly rows: InventoryRow[]
  /** The digests that no row has. */
  readonly fresh: string[]
}

/**
 * The inventory of all sources of a realm, without those rows of the one source that have one of the digests and no mark:
 * what a source states as it did before is not read. One statement.
 */
export async function selectInventory(
  tx: Transaction,
  realm: number,
  source: string,
  digests: readonly string[],
): Promise<InventoryDifference> {
  const { rows } = await sql<InventoryRow & { fresh: string | null }>`
    with row as (
      select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated
      from inventory i join source s on s.number = i.source
      where i.realm = ${realm}
    )
    select r.*, case when r.object is null then d.digest end as fresh
    from (select * from row o where o.source = ${source}) r
    full join unnest(${digests}::text[]) as d(digest) on d.digest = r.stated
    where r.object is null or d.digest is null or r.marked
    union all
    select o.*, null from row o where o.source <> ${source}
    order by source, kind, key`.execute(tx)
  return {
    rows: rows.filter(({ fresh }) => fresh === null).map(({ fresh: _, ...row }) => row),
    fresh: rows.flatMap(({ fresh }) => fresh ?? []),
  }
}

/** What sources own in a realm and others changed since. One statement. */
export async function selectMarkedInventory(tx: Transaction, realm: number): Promise<InventoryRow[]> {
  const { rows } = await sql<InventoryRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked, i.stated
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and i.marked
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

/** What a run did to a realm. */
export interface AppliedRun {
  readonly source: string
  readonly digest: string
  readonly revision: string
  readonly at: Date
  readonly actor: unknown
  /** The text of an object. */
  readonly plan: string
}

/**
 * Keeps what a run applied to a realm: its digest and revision, a line of history, rows of what the source owns. Gives the
 * source's number, and how many of its rows were marked before. One statement.
 */
export async function recordApplied(
  tx: Transaction,
  realm: number,
  run: AppliedRun,
  rows: readonly Omit<InventoryRow, 'source'>[],
): Promise<{ source: number; marked: number }> {
  const { rows: found } = await sql<{ source: number; marked: number }>`
    with made as (
      insert into source (name) values (${run.source}) on conflict do nothing returning number
    ),
    owner as (
      select number from made union all select number from source where name = ${run.source}
    ),
    applied as (
      insert into source_realm (realm, source, digest, revision, applied_at)
      select ${realm}::integer, o.number, ${run.digest}, ${run.revision}, ${run.at}::timestamptz from owner o
      on conflict (realm, source) do update
        set digest = excluded.digest, revision = excluded.revision, applied_at = excluded.applied_at
        where source_realm.realm = ${realm}
    ),
    line as (
      insert into history (realm, source, revision, at, actor, plan)
      select ${realm}::integer, o.number, ${run.revision}, ${run.at}::timestamptz,
        ${JSON.stringify(run.actor)}::jsonb, ${run.plan}::jsonb
      from owner o
    ),
    owned as (
      ${upsert(realm, sql`o.number`, rows, sql`cross join owner o`)}
    )
    select o.number as source, (
        select count(*)::integer from inventory i where i.realm = ${realm} and i.source = o.number and i.marked
      ) as marked
    from owner o`.execute(tx)
  return found[0]!
}

/** Writes a further line of history of a run, whose plan is too long for one. One statement. */
export async function insertHistory(
  tx: Transaction,
  realm: number,
  source: number,
  { revision, at, actor, plan }: AppliedRun,
): Promise<void> {
  await sql`
    insert into history (realm, source, revision, at, actor, plan)
    select ${realm}::integer, ${source}::integer, ${revision}, ${at}::timestamptz,
      ${JSON.stringify(actor)}::jsonb, ${plan}::jsonb`.execute(tx)
}

function upsert(
  realm: number,
  source: RawBuilder<unknown>,
  rows: readonly Omit<InventoryRow, 'source'>[],
  from: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  return sql`insert into inventory as i (realm, source, kind, object, key, fields, file, line, marked, stated)
      select ${realm}::integer, ${source}, x.kind, x.object, x.key, x.fields, x.file, x.line, x.marked, x.stated
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as x(kind text, object text, key jsonb, fields jsonb, file text, line integer, marked boolean, stated text) ${from}
      on conflict (realm, source, kind, object) do update
        set key = excluded.key, fields = excluded.fields, file = excluded.file, line = excluded.line, marked = excluded.marked,
          stated = excluded.stated
        where i.realm = ${realm}`
}

/** How many rows are marked, in all realms. One statement. */
export async function countMarked(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from realm r join inventory i on i.realm = r.number where i.marked`.execute(tx)
  return rows[0]!.count
}
