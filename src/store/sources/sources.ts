// What sources have applied to which realms, and the lines of history that their runs leave.
import { type RawBuilder, sql } from 'kysely'
import {
  absent,
  absentRow,
  boolean,
  integer,
  json,
  nothing,
  optional,
  type RowOf,
  row,
  rows,
  text,
  timestamp,
} from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { waking } from '../database/wake.ts'
import { type InventoryRow, upsert } from './inventory.ts'

const appliedSourceRow = row({
  source: text,
  realm: text,
  /** The name by which the source states the realm; null where it states the name of none. */
  stated: optional(text),
  digest: text,
  revision: text,
  marked: boolean,
  /** What it settled about itself then. */
  settings: json<object>(),
  /** What it states is planned, and not applied. */
  suspended: optional(json<RollbackSuspension>()),
})

/** What a source has applied to a realm. */
export type AppliedSource = RowOf<typeof appliedSourceRow>

/** The rollback that suspends a source: since when, and to which revision. */
export interface RollbackSuspension {
  readonly revision: number
  readonly by: string
  readonly at: string
}

function appliedBy(sources: readonly string[]): RawBuilder<unknown> {
  return sql`select s.name as source, r.name as realm, sr.digest, sr.revision, sr.suspended, sr.settings,
      (select i.key ->> 0 from inventory i
        where i.realm = sr.realm and i.source = sr.source and i.kind = 'realm') as stated,
      sr.added or exists (select from inventory i where i.realm = sr.realm and i.source = sr.source and i.marked) as marked
    from source s join source_realm sr on sr.source = s.number join realm r on r.number = sr.realm
    where s.name = any(${sources}::text[])`
}

const waitingPlanRow = row({
  plan: text,
  /** The name by which the realm is stated. */
  realm: text,
})

/** A plan that a run of sources left to be approved. */
export type WaitingPlan = RowOf<typeof waitingPlanRow>

const appliedRow = row({ ...appliedSourceRow.columns, plan: absent(text) })
const waitingRow = row({ ...absentRow(appliedSourceRow).columns, ...waitingPlanRow.columns, marked: boolean })

/** The realms that sources have applied to, and their plans that wait. One statement, and all that a run needs that has nothing to do. */
export async function selectAppliedAndWaiting(
  tx: Transaction,
  sources: readonly string[],
): Promise<{ applied: AppliedSource[]; waiting: WaitingPlan[] }> {
  const states = await rows(appliedRow, waitingRow)`
    select a.*, null as plan from (${appliedBy(sources)}) a
    union all
    select null, w.name, null, null, null, null, null, false, p.id
    from plan p join plan_realm w on w.plan = p.id
    where p.runs and p.kept is not null and exists (
      select from jsonb_to_recordset(p.sources) as x(name text) where x.name = any(${sources}::text[])
    )
    order by realm, source`.all(tx)
  return {
    applied: states.flatMap((row) => (row.plan === null ? [row] : [])),
    waiting: states.flatMap((row) => (row.plan === null ? [] : [{ plan: row.plan, realm: row.realm }])),
  }
}

/** What one source has applied to a realm. */
export interface AppliedPart {
  readonly source: string
  readonly digest: string
  readonly revision: string
  /** What the source settles about itself. */
  readonly settings: object
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

/** What a run applied for one source, with the rows of what it owns and its line of history. */
export interface AppliedRecord {
  readonly part: AppliedPart
  readonly inventory: readonly Omit<InventoryRow, 'source'>[]
  readonly line: HistoryLine | undefined
}

/**
 * Keeps what a source applied to a realm: its digest and revision, rows of what it owns, and a line of history where there is
 * one. Gives the source's number, and how many of its rows were marked before, one more where somebody made something. One statement.
 */
export async function recordApplied(
  tx: Transaction,
  realm: number,
  { part, inventory, line }: AppliedRecord,
): Promise<{ source: number; marked: number }> {
  const { source, marked } = await rows(row({ source: integer, marked: integer, woken: optional(nothing) }))`
    with made as (
      insert into source (name) values (${part.source}) on conflict do nothing returning number
    ),
    owner as (
      select number from made union all select number from source where name = ${part.source}
    ),
    applied as (
      insert into source_realm (realm, source, digest, revision, settings, applied_at)
      select ${realm}::integer, o.number, ${part.digest}, ${part.revision}, ${JSON.stringify(part.settings)}::jsonb,
        ${part.at}::timestamptz
      from owner o
      on conflict (realm, source) do update
        set digest = excluded.digest, revision = excluded.revision, settings = excluded.settings,
          applied_at = excluded.applied_at, suspended = null, added = false
        where source_realm.realm = ${realm}
    ),
    ${line ? sql`line as (${historyLine(realm, line)}),` : sql``}
    owned as (
      ${upsert(realm, { source: sql`o.number`, rows: inventory, from: sql`cross join owner o` })}
    )
    select o.number as source, (
        select count(*)::integer from inventory i where i.realm = ${realm} and i.source = o.number and i.marked
      ) + (
        select count(*)::integer from source_realm sr where sr.realm = ${realm} and sr.source = o.number and sr.added
      ) as marked, (${wakingWhereDrifted(realm, sql`o.number`)}) as woken
    from owner o`.one(tx)
  return { source, marked }
}

/** Rows that may have drifted were settled by what the statement does. */
function wakingWhereDrifted(realm: number, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select ${waking({ topic: 'drift', realm })} where exists (
        select from inventory i
        where i.realm = ${realm} and i.source = ${source} and (i.marked or i.drifted is not null))`
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

const sourceOfRealmRow = row({
  realm: text,
  source: text,
  revision: text,
  appliedAt: timestamp,
  suspended: optional(json<RollbackSuspension>()),
  /** How many objects it owns, and how many of them are not as it applied them, or may not be. */
  objects: integer,
  changed: integer,
})

/** A source that has applied to a realm. */
export type SourceOfRealm = RowOf<typeof sourceOfRealmRow>

/** The sources that have applied to a realm, or to any, by name. One statement. */
export async function selectSources(tx: Transaction, realm?: number): Promise<SourceOfRealm[]> {
  return rows(sourceOfRealmRow)`
    select r.name as realm, s.name as source, sr.revision, sr.applied_at as "appliedAt", sr.suspended,
      count(i.*)::integer as objects,
      (count(*) filter (where i.marked or i.drifted is not null))::integer as changed
    from realm r join source_realm sr on sr.realm = r.number join source s on s.number = sr.source
    left join inventory i on i.realm = sr.realm and i.source = sr.source
    ${realm === undefined ? sql`` : sql`where r.number = ${realm}`}
    group by r.name, s.name, sr.revision, sr.applied_at, sr.suspended
    order by s.name, r.name`.all(tx)
}

/** Holds all sources of a realm. One statement. */
export async function suspendSources(tx: Transaction, realm: number, suspended: RollbackSuspension): Promise<void> {
  await sql`update source_realm set suspended = ${JSON.stringify(suspended)}::jsonb where realm = ${realm}`.execute(tx)
}

/** Lets a source of a realm go on. Gives whether it has applied to the realm at all. One statement. */
export async function resumeSource(tx: Transaction, realm: number, source: string): Promise<boolean> {
  const { rows } = await sql`
    update source_realm sr set suspended = null from source s
    where sr.realm = ${realm} and s.number = sr.source and s.name = ${source} returning sr.source`.execute(tx)
  return rows.length > 0
}

/** Lets go of all that a source owns in a realm, which stays as it is. Gives whether it has applied to the realm at all. Two statements. */
export async function forgetSource(tx: Transaction, realm: number, source: string): Promise<boolean> {
  await sql`
    delete from inventory i using source s
    where i.realm = ${realm} and s.number = i.source and s.name = ${source}`.execute(tx)
  const { rows } = await sql`
    with gone as (
      delete from source_realm sr using source s
      where sr.realm = ${realm} and s.number = sr.source and s.name = ${source} returning sr.source
    ),
    added as (
      update source_realm sr set added = true from source s
      where sr.realm = ${realm} and s.number = sr.source and s.name <> ${source} and sr.settings ->> 'prune' = 'all'
    )
    select ${waking({ topic: 'drift', realm })} from gone`.execute(tx)
  return rows.length > 0
}
