// The realms to which sources were applied, and the history of their runs.
import { type RawBuilder, sql } from 'kysely'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import type { TenantPermissions } from '../../kinds/tenant-permissions.ts'
import {
  absent,
  absentRow,
  boolean,
  integer,
  json,
  nothing,
  optional,
  query,
  type RowOf,
  row,
  text,
  timestamp,
} from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildWakeUp } from '../database/wake-up.ts'
import { buildInventoryUpsert, type InventoryRow } from './inventory.ts'

const appliedSourceRow = row({
  source: text,
  realm: text,
  /** The realm's name in the source; null if the source does not declare the realm itself. */
  declaredName: optional(text),
  digest: text,
  revision: text,
  appliedAt: timestamp,
  marked: boolean,
  /** The settings of the source at that time. */
  settings: json<SourceSettings>(),
  /** Its permissions as a tenant of the realm at that time; null if it was none. */
  tenant: optional(json<readonly TenantPermissions[]>()),
  /** The git repository and folder of the files; without a repository, the path of the folder. As of that time; null if it has no files. */
  origin: optional(text),
  /** If suspended, the declarations are planned, but not applied. */
  suspended: optional(json<RollbackSuspension>()),
})

/** The last apply of a source to a realm: its digest, revision and settings. */
export type AppliedSource = RowOf<typeof appliedSourceRow>

/** The rollback that suspends a source: since when, and to which revision. */
export interface RollbackSuspension {
  readonly revision: number
  readonly by: string
  readonly at: string
}

function buildAppliedSources(sources: readonly string[]): RawBuilder<unknown> {
  return sql`select s.name as source, r.name as realm, sr.digest, sr.revision, sr.applied_at as "appliedAt", sr.suspended, sr.settings, sr.tenant, sr.origin,
      (select i.key ->> 0 from inventory i
        where i.realm = sr.realm and i.source = sr.source and i.kind = 'realm') as "declaredName",
      sr.objects_added or exists (select from inventory i where i.realm = sr.realm and i.source = sr.source and i.marked) as marked
    from source s join source_realm sr on sr.source = s.number join realm r on r.number = sr.realm
    where s.name = any(${sources}::text[])`
}

const pendingPlanRow = row({
  plan: text,
  /** The declared name of the realm. */
  realm: text,
})

/** A plan of sources that is pending approval. */
export type PendingPlan = RowOf<typeof pendingPlanRow>

const appliedRow = row({ ...appliedSourceRow.columns, plan: absent(text) })
const pendingRow = row({ ...absentRow(appliedSourceRow).columns, ...pendingPlanRow.columns, marked: boolean })

/** Returns the last applies of sources, and their pending plans: all that a run without changes reads. One statement. */
export async function selectAppliedAndPending(
  tx: Transaction,
  sources: readonly string[],
): Promise<{ applied: AppliedSource[]; pending: PendingPlan[] }> {
  const states = await query(appliedRow, pendingRow)`
    select a.*, null as plan from (${buildAppliedSources(sources)}) a
    union all
    select null, w.name, null, null, null, null, null, null, null, null, false, p.id
    from plan p join plan_realm w on w.plan = p.id
    where p.is_from_run and p.sealed_sources is not null and exists (
      select from jsonb_to_recordset(p.sources) as x(name text) where x.name = any(${sources}::text[])
    )
    order by realm, source`.all(tx)
  return {
    applied: states.flatMap((row) => (row.plan === null ? [row] : [])),
    pending: states.flatMap((row) => (row.plan === null ? [] : [{ plan: row.plan, realm: row.realm }])),
  }
}

/** An apply of a source to a realm. */
export interface SourceApplication {
  readonly source: string
  readonly digest: string
  readonly revision: string
  /** The settings of the source. */
  readonly settings: SourceSettings
  /** Its permissions as a tenant of the realm; undefined if it is none. */
  readonly tenant: readonly TenantPermissions[] | undefined
  /** The git repository and folder of the files; without a repository, the path of the folder. Undefined: it has no files. */
  readonly origin: string | undefined
  readonly at: Date
}

/** An entry of the history: the changes of a run to a realm. */
export interface HistoryEntry {
  readonly at: Date
  readonly actor: unknown
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  /** Number of the last journal entry after the run. */
  readonly version: number
  /** The plan as JSON text. */
  readonly plan: string
}

/** An apply of a source to record, with its inventory rows and its history entry. */
export interface ApplicationRecord {
  readonly application: SourceApplication
  readonly inventory: readonly Omit<InventoryRow, 'source'>[]
  readonly entry: HistoryEntry | undefined
}

/**
 * Records an apply of a source to a realm. Returns the number of the source, and how many of its rows were marked before, plus one if
 * undeclared objects were created. One statement.
 */
export async function recordApplied(
  tx: Transaction,
  realm: number,
  { application, inventory, entry }: ApplicationRecord,
): Promise<{ source: number; marked: number }> {
  const { source, marked } = await query(row({ source: integer, marked: integer, notified: optional(nothing) }))`
    with created as (
      insert into source (name) values (${application.source}) on conflict do nothing returning number
    ),
    owner as (
      select number from created union all select number from source where name = ${application.source}
    ),
    applied as (
      insert into source_realm (realm, source, digest, revision, settings, tenant, origin, applied_at)
      select ${realm}::integer, o.number, ${application.digest}, ${application.revision}, ${JSON.stringify(application.settings)}::jsonb,
        ${application.tenant ? JSON.stringify(application.tenant) : null}::jsonb, ${application.origin ?? null}::text, ${application.at}::timestamptz
      from owner o
      on conflict (realm, source) do update
        set digest = excluded.digest, revision = excluded.revision, settings = excluded.settings, tenant = excluded.tenant,
          origin = coalesce(excluded.origin, source_realm.origin), applied_at = excluded.applied_at, suspended = null, objects_added = false
        where source_realm.realm = ${realm}
    ),
    ${entry ? sql`history_entry as (${buildHistoryInsert(realm, entry)}),` : sql``}
    owned as (
      ${buildInventoryUpsert(realm, { source: sql`o.number`, rows: inventory, from: sql`cross join owner o` })}
    )
    select o.number as source, (
        select count(*)::integer from inventory i where i.realm = ${realm} and i.source = o.number and i.marked
      ) + (
        select count(*)::integer from source_realm sr where sr.realm = ${realm} and sr.source = o.number and sr.objects_added
      ) as marked, (${buildDriftWakeUp(realm, sql`o.number`)}) as notified
    from owner o`.firstOrThrow(tx)
  return { source, marked }
}

/** Returns the SQL that sends a wake-up if the source has drift in the realm, which the statement may correct. */
function buildDriftWakeUp(realm: number, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select ${buildWakeUp({ topic: 'drift', realm })} where exists (
        select from inventory i
        where i.realm = ${realm} and i.source = ${source} and (i.marked or i.drifted is not null))`
}

/** Deletes the record that a source was applied to a realm. One statement. */
export async function deleteApplied(tx: Transaction, realm: number, source: number): Promise<void> {
  await sql`delete from source_realm where realm = ${realm} and source = ${source}`.execute(tx)
}

/** Inserts a further history entry of a run whose plan is too long for one. One statement. */
export async function insertHistory(tx: Transaction, realm: number, line: HistoryEntry): Promise<void> {
  await buildHistoryInsert(realm, line).execute(tx)
}

function buildHistoryInsert(realm: number, { sources, at, actor, plan, version }: HistoryEntry): RawBuilder<unknown> {
  return sql`insert into history (realm, version, sources, at, actor, plan)
      values (${realm}::integer, ${version}::bigint, ${JSON.stringify(sources)}::jsonb, ${at}::timestamptz,
        ${JSON.stringify(actor)}::jsonb, ${plan}::jsonb)`
}

const realmSourceRow = row({
  realm: text,
  source: text,
  revision: text,
  appliedAt: timestamp,
  suspended: optional(json<RollbackSuspension>()),
  /** The settings with which the source was last applied. */
  settings: json<SourceSettings>(),
  /** Number of managed objects. */
  objects: integer,
  /** Number of managed objects with drift or possible drift. */
  changed: integer,
})

/** A source that was applied to a realm. */
export type RealmSourceRow = RowOf<typeof realmSourceRow>

/** Returns the sources that were applied to the realm, or to any realm, by name. One statement. */
export async function selectRealmSources(tx: Transaction, realm?: number): Promise<RealmSourceRow[]> {
  return query(realmSourceRow)`
    select r.name as realm, s.name as source, sr.revision, sr.applied_at as "appliedAt", sr.suspended, sr.settings,
      count(i.*)::integer as objects,
      (count(*) filter (where i.marked or i.drifted is not null))::integer as changed
    from realm r join source_realm sr on sr.realm = r.number join source s on s.number = sr.source
    left join inventory i on i.realm = sr.realm and i.source = sr.source
    ${realm === undefined ? sql`` : sql`where r.number = ${realm}`}
    group by r.name, s.name, sr.revision, sr.applied_at, sr.suspended, sr.settings
    order by s.name, r.name`.all(tx)
}

/** Returns the names of the realms with sources that a rollback suspends. One statement. */
export async function selectRolledBackRealms(tx: Transaction): Promise<string[]> {
  const realms = await query(row({ name: text }))`
    select distinct r.name from realm r join source_realm sr on sr.realm = r.number where sr.suspended is not null`.all(
    tx,
  )
  return realms.map(({ name }) => name)
}

/** Suspends all sources of a realm because of a rollback. One statement. */
export async function suspendSources(tx: Transaction, realm: number, suspended: RollbackSuspension): Promise<void> {
  await sql`update source_realm set suspended = ${JSON.stringify(suspended)}::jsonb where realm = ${realm}`.execute(tx)
}

/** Resumes a source of a realm. Returns false if the source was never applied to the realm. One statement. */
export async function resumeSource(tx: Transaction, realm: number, source: string): Promise<boolean> {
  const { rows } = await sql`
    update source_realm sr set suspended = null from source s
    where sr.realm = ${realm} and s.number = sr.source and s.name = ${source} returning sr.source`.execute(tx)
  return rows.length > 0
}

/** Deletes the inventory of a source in a realm; the objects remain, unmanaged. Returns false if it was never applied to the realm. Two statements. */
export async function forgetSource(tx: Transaction, realm: number, source: string): Promise<boolean> {
  await sql`
    delete from inventory i using source s
    where i.realm = ${realm} and s.number = i.source and s.name = ${source}`.execute(tx)
  const { rows } = await sql`
    with forgotten as (
      delete from source_realm sr using source s
      where sr.realm = ${realm} and s.number = sr.source and s.name = ${source} returning sr.source
    ),
    added as (
      update source_realm sr set objects_added = true from source s
      where sr.realm = ${realm} and s.number = sr.source and s.name <> ${source} and sr.settings ->> 'prune' = 'all'
    )
    select ${buildWakeUp({ topic: 'drift', realm })} from forgotten`.execute(tx)
  return rows.length > 0
}
