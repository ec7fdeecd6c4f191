// How sources are doing: what the server that follows them keeps of it, and what people want of them.
import { sql } from 'kysely'
import type { Lease } from '../database/leases.ts'
import { boolean, countRow, json, optional, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { waking } from '../database/wake.ts'

/** Since when a source is not read, and by whom that is wanted. */
export interface Suspended {
  readonly by: string
  readonly at: string
  /** It is called so now: whoever follows it by its former name is to name it so. */
  readonly renamedTo?: string
}

const sourceRow = row({
  name: text,
  status: json<object>(),
  suspended: optional(json<Suspended>()),
  /** The realms that it has applied to. */
  realms: json<readonly string[]>(),
})

/** What is kept of a source. */
export type SourceRow = RowOf<typeof sourceRow>

/** The sources that are known, by name, or these of them. One statement. */
export async function selectSourceStates(tx: Transaction, names?: readonly string[]): Promise<SourceRow[]> {
  const sources = await rows(sourceRow)`
    select s.name, s.status, s.suspended, coalesce((
        select jsonb_agg(r.name order by r.name) from realm r join source_realm sr on sr.realm = r.number
        where sr.source = s.number
      ), '[]') as realms
    from source s ${names ? sql`where s.name = any(${names}::text[])` : sql``} order by s.name`.all(tx)
  // A name stays when what it stood for was forgotten.
  return sources.filter(({ status, suspended, realms }) => Object.keys(status).length || suspended || realms.length)
}

/** Keeps how a source is doing, while the lease is the caller's. One statement. */
export async function upsertStatus(
  tx: Transaction,
  source: string,
  { status, lease }: { readonly status: object; readonly lease: Lease },
): Promise<void> {
  await sql`
    with mine as materialized (
      select from lease where name = ${lease.name} and holder = ${lease.holder} and token = ${lease.token} for share
    )
    insert into source (name, status) select ${source}, ${JSON.stringify(status)}::jsonb from mine
    on conflict (name) do update set status = excluded.status`.execute(tx)
}

/** Suspends a source, or lets it go on, also where a rollback holds it, and wakes who follows it. One statement. */
export async function suspendSource(tx: Transaction, source: string, suspended: Suspended | undefined): Promise<void> {
  const value = suspended ? JSON.stringify(suspended) : null
  await sql`
    with changed as (
      insert into source (name, suspended) values (${source}, ${value}::jsonb)
      on conflict (name) do update set suspended = excluded.suspended returning number
    ),
    resumed as (
      update source_realm sr set suspended = null from changed c, realm r
      where ${!suspended}::boolean and r.number = sr.realm and sr.source = c.number and sr.suspended is not null
    )
    select ${waking({ topic: 'source', name: source })} from changed`.execute(tx)
}

/**
 * Calls a source otherwise, with all that it owns; one of that name that has applied nothing makes room. Where a server followed it,
 * the former name is left as one that rests, so that it is not applied as a source of its own. Wakes who follows either. Gives
 * whether it is known. Three statements.
 */
export async function renameSource(
  tx: Transaction,
  source: string,
  { renamedTo: name, ...who }: Required<Suspended>,
): Promise<boolean> {
  await sql`
    delete from source s where s.name = ${name} and not exists (
      select from realm r join source_realm sr on sr.realm = r.number where sr.source = s.number
    )`.execute(tx)
  const renamed = await rows(row({ followed: boolean }))`
    update source set name = ${name} where name = ${source} returning status <> '{}' as followed`.first(tx)
  const rests = renamed?.followed ? JSON.stringify({ ...who, renamedTo: name }) : null
  await sql`
    with resting as (
      insert into source (name, suspended) select ${source}, ${rests}::jsonb where ${rests}::jsonb is not null returning name
    )
    select ${waking({ topic: 'source', name: source })}, ${waking({ topic: 'source', name })}`.execute(tx)
  return renamed !== undefined
}

/** How many sources are not ready. One statement. */
export async function countNotReady(tx: Transaction): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from source s where s.status -> 'ready' ->> 'status' = 'False'`.one(tx)
  return count
}
