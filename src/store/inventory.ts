// What each source owns: a row per object with the last applied value of each stated field.
import { sql } from 'kysely'
import type { Json } from '../kinds/fields.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import type { Transaction } from './database.ts'

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

/** The inventory of all sources of a realm; `markedOnly`: of what others changed. One statement. */
export async function selectInventory(tx: Transaction, realm: number, markedOnly: boolean): Promise<InventoryRow[]> {
  const { rows } = await sql<InventoryRow>`
    select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.marked
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} ${markedOnly ? sql`and i.marked` : sql``}
    order by s.name, i.kind, i.key`.execute(tx)
  return rows
}

/** Marks the rows of objects that somebody changed, of every source but the one that did. One statement. */
export async function markInventory(
  tx: Transaction,
  realm: number,
  objects: readonly { kind: string; object: string }[],
  except: string | undefined,
): Promise<void> {
  await sql`
    update inventory i set marked = true
    from jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, object text)
    where i.realm = ${realm} and not i.marked and i.kind = x.kind and i.object = x.object
      and i.source is distinct from (select s.number from source s where s.name = ${except ?? null})`.execute(tx)
}

/** Writes rows of what a source owns. One statement per chunk. */
export async function upsertInventory(
  tx: Transaction,
  realm: number,
  source: number,
  rows: readonly Omit<InventoryRow, 'source'>[],
): Promise<void> {
  for (const chunk of chunks(rows, 5_000)) {
    await sql`
      insert into inventory as i (realm, source, kind, object, key, fields, file, line, marked)
      select ${realm}::integer, ${source}::integer, x.kind, x.object, x.key, x.fields, x.file, x.line, x.marked
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb)
        as x(kind text, object text, key jsonb, fields jsonb, file text, line integer, marked boolean)
      on conflict (realm, source, kind, object) do update
        set key = excluded.key, fields = excluded.fields, file = excluded.file, line = excluded.line, marked = excluded.marked
        where i.realm = ${realm}`.execute(tx)
  }
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

/** The number of the source of that name, made where it is new. */
export async function sourceNumber(tx: Transaction, name: string): Promise<number> {
  await sql`insert into source (name) values (${name}) on conflict do nothing`.execute(tx)
  const { rows } = await sql<{ number: number }>`select number from source where name = ${name}`.execute(tx)
  return rows[0]!.number
}

/** Keeps what a run applied to a realm: its digest and revision, and a line of history. Two statements. */
export async function recordApplied(
  tx: Transaction,
  realm: number,
  source: number,
  run: { digest: string; revision: string; at: Date; actor: unknown; plan: unknown },
): Promise<void> {
  await sql`
    insert into source_realm (realm, source, digest, revision, applied_at)
    values (${realm}, ${source}, ${run.digest}, ${run.revision}, ${run.at})
    on conflict (realm, source) do update
      set digest = excluded.digest, revision = excluded.revision, applied_at = excluded.applied_at
      where source_realm.realm = ${realm}`.execute(tx)
  await sql`
    insert into history (realm, source, revision, at, actor, plan)
    values (${realm}, ${source}, ${run.revision}, ${run.at}, ${JSON.stringify(run.actor)}::jsonb, ${JSON.stringify(run.plan)}::jsonb)`.execute(
    tx,
  )
}

/** How many rows are marked, in all realms. One statement. */
export async function countMarked(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from realm r join inventory i on i.realm = r.number where i.marked`.execute(tx)
  return rows[0]!.count
}
