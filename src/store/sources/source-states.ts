// The states of sources: the status that the following server reports, and suspensions by administrators.
import { sql } from 'kysely'
import type { Lease } from '../database/leases.ts'
import { boolean, countRow, json, optional, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildWakeUp } from '../database/wake-up.ts'

/** The suspension of a source: since when, and by whom. */
export interface SourceSuspension {
  readonly by: string
  readonly at: string
  /** The new name of a renamed source. Its followers must use that name. */
  readonly renamedTo?: string
}

const sourceStateRow = row({
  name: text,
  status: json<object>(),
  suspended: optional(json<SourceSuspension>()),
  /** Names of the realms to which the source was applied. */
  realms: json<readonly string[]>(),
})

/** The state of a source. */
export type SourceStateRow = RowOf<typeof sourceStateRow>

/** Returns the states of all sources, or of the named ones, by name. One statement. */
export async function selectSourceStates(tx: Transaction, names?: readonly string[]): Promise<SourceStateRow[]> {
  const sources = await query(sourceStateRow)`
    select s.name, s.status, s.suspended, coalesce((
        select jsonb_agg(r.name order by r.name) from realm r join source_realm sr on sr.realm = r.number
        where sr.source = s.number
      ), '[]') as realms
    from source s ${names ? sql`where s.name = any(${names}::text[])` : sql``} order by s.name`.all(tx)
  // The row of a source remains when the source is forgotten.
  return sources.filter(({ status, suspended, realms }) => Object.keys(status).length || suspended || realms.length)
}

/** Inserts or updates the status of a source; does nothing if the caller does not have the lease. One statement. */
export async function upsertSourceStatus(
  tx: Transaction,
  source: string,
  { status, lease }: { readonly status: object; readonly lease: Lease },
): Promise<boolean> {
  const { rows } = await sql`
    with own_lease as materialized (
      select from lease where name = ${lease.name} and holder = ${lease.holder} and token = ${lease.token} for share
    ),
    written as (
      insert into source (name, status) select ${source}, ${JSON.stringify(status)}::jsonb from own_lease
      on conflict (name) do update set status = excluded.status returning number
    )
    select ${buildWakeUp({ topic: 'status', name: source })} from written`.execute(tx)
  return rows.length > 0
}

/** Suspends or resumes a source, and wakes up its followers. Resuming ends suspensions by a rollback, too. One statement. */
export async function suspendSource(
  tx: Transaction,
  source: string,
  suspended: SourceSuspension | undefined,
): Promise<void> {
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
    select ${buildWakeUp({ topic: 'source', name: source })} from changed`.execute(tx)
}

/**
 * Renames a source, with its inventory. Deletes a source of the new name if it was never applied. If a server follows the source, a
 * suspended source of the old name remains, so that the old name is not applied as a new source. Wakes up the followers of both names.
 * Returns false if the source is unknown. Three statements.
 */
export async function renameSource(
  tx: Transaction,
  source: string,
  { renamedTo: name, ...suspension }: Required<SourceSuspension>,
): Promise<boolean> {
  await sql`
    delete from source s where s.name = ${name} and not exists (
      select from realm r join source_realm sr on sr.realm = r.number where sr.source = s.number
    )`.execute(tx)
  const renamed = await query(row({ followed: boolean }))`
    update source set name = ${name} where name = ${source} returning status <> '{}' as followed`.first(tx)
  const suspended = renamed?.followed ? JSON.stringify({ ...suspension, renamedTo: name }) : null
  await sql`
    with old_name as (
      insert into source (name, suspended) select ${source}, ${suspended}::jsonb where ${suspended}::jsonb is not null returning name
    )
    select ${buildWakeUp({ topic: 'source', name: source })}, ${buildWakeUp({ topic: 'source', name })}`.execute(tx)
  return renamed !== undefined
}

/** Returns the number of sources that are not ready. One statement. */
export async function countNotReadySources(tx: Transaction): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from source s where s.status -> 'ready' ->> 'status' = 'False'`.firstOrThrow(tx)
  return count
}
