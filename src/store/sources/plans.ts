// Saved plans. A plan is that of a run, and so of all realms that its sources declare.
import { sql } from 'kysely'
import { boolean, countRow, json, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildWakeUp } from '../database/wake-up.ts'
import type { Actor } from '../journal/journal.ts'

/** The part of a saved plan for one realm. */
export interface SavedRealmPlan {
  /** The declared name. */
  readonly name: string
  /** The digest of the changes. */
  readonly digest: string
  readonly hasChanges: boolean
  /** The guards that require an approval. */
  readonly guards: readonly { readonly guard: string; readonly message: string; readonly objects: readonly string[] }[]
}

/** A user who made a change. */
export interface PlanAuthor {
  /** Username and email address, as far as they are known. */
  readonly names: readonly string[]
  /** Id of a user of Regent. */
  readonly userId?: string | undefined
}

/** A plan to save. */
export interface NewSavedPlan {
  readonly id: string
  readonly digest: string
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  /** The outcome of the run as JSON text. */
  readonly outcome: string
  /** The sources with their documents, sealed. */
  readonly sealedSources: string
  /** Whether an apply saved the plan, which continues once it is approved. */
  readonly isFromRun: boolean
  readonly createdAt: Date
  readonly createdBy: Actor
  /** The users who made its changes; null if they are unknown. */
  readonly authors: readonly PlanAuthor[] | null
  readonly expires: Date
}

const savedPlanRow = row({
  id: text,
  digest: text,
  sources: json<NewSavedPlan['sources']>(),
  isFromRun: boolean,
  createdAt: timestamp,
  createdBy: json<Actor>(),
  expires: timestamp,
  realms: json<readonly (SavedRealmPlan & { readonly appliedAt: string | null; readonly revision: number | null })[]>(),
  approvedAt: optional(timestamp),
  approvedBy: optional(text),
  /** Whether adopted users get their declared credentials. */
  withCredentials: boolean,
  authors: optional(json<readonly PlanAuthor[]>()),
  /** The user of a cluster who set the annotation that approves it. */
  annotatedBy: optional(text),
  /** Whether a realm that it changes was changed since the plan was saved. */
  isOutdated: boolean,
})

/** A saved plan without its outcome and sources. */
export type SavedPlan = RowOf<typeof savedPlanRow>

const completePlanRow = row({ ...savedPlanRow.columns, outcome: json<unknown>(), sealedSources: optional(text) })

const columns = sql`p.id, p.digest, p.sources, p.is_from_run as "isFromRun", p.created_at as "createdAt", p.created_by as "createdBy", p.expires,
  p.approved_at as "approvedAt", p.approved_by as "approvedBy", p.with_credentials as "withCredentials", p.authors, p.annotated_by as "annotatedBy",
  (select jsonb_agg(jsonb_build_object('name', r.name, 'digest', r.digest, 'hasChanges', r.has_changes, 'guards', r.guards,
      'appliedAt', r.applied_at, 'revision', r.revision) order by r.name)
    from plan_realm r where r.plan = p.id) as realms,
  exists (
    select from plan_realm c join realm m on m.name = c.name
    where c.plan = p.id and c.has_changes and greatest(
      (select j.at from journal j where j.realm = m.number order by j.number desc limit 1),
      (select u.at from user_journal u where u.realm = m.number order by u.number desc limit 1)
    ) > p.created_at
  ) as "isOutdated"`

/** Saves a plan. One statement. */
export async function insertPlan(
  tx: Transaction,
  plan: NewSavedPlan,
  realms: readonly SavedRealmPlan[],
): Promise<void> {
  await sql`
    with created as (
      insert into plan (id, digest, sources, outcome, sealed_sources, is_from_run, created_at, created_by, authors, expires)
      values (${plan.id}, ${plan.digest}, ${JSON.stringify(plan.sources)}::jsonb, ${plan.outcome}::jsonb, ${plan.sealedSources},
        ${plan.isFromRun}, ${plan.createdAt}::timestamptz, ${JSON.stringify(plan.createdBy)}::jsonb,
        ${toAuthorText(plan)}::jsonb, ${plan.expires}::timestamptz)
      returning id
    ),
    realms as (
      insert into plan_realm (plan, name, digest, has_changes, guards)
      select c.id, x.name, x.digest, x."hasChanges", x.guards
      from created c cross join jsonb_to_recordset(${JSON.stringify(realms)}::jsonb)
        as x(name text, digest text, "hasChanges" boolean, guards jsonb)
    )
    select ${planWakeUp} from created`.execute(tx)
}

/** Announces that saved plans were created, approved, applied or deleted. */
const planWakeUp = buildWakeUp({ topic: 'plan' })

/** Updates the saved plan of an earlier run with the same digest, and returns it; undefined if there is none. Authors are added. One statement. */
export async function renewPlan(tx: Transaction, plan: NewSavedPlan, now: Date): Promise<SavedPlan | undefined> {
  return query(savedPlanRow)`
    update plan p set sources = ${JSON.stringify(plan.sources)}::jsonb, outcome = ${plan.outcome}::jsonb, sealed_sources = ${plan.sealedSources},
      created_by = ${JSON.stringify(plan.createdBy)}::jsonb,
      authors = case when p.authors @> ${toAuthorText(plan)}::jsonb then p.authors
        else coalesce(p.authors || ${toAuthorText(plan)}::jsonb, p.authors, ${toAuthorText(plan)}::jsonb) end
    where p.is_from_run and p.digest = ${plan.digest} and p.expires > ${now}::timestamptz and p.sealed_sources is not null
    returning ${columns}`.first(tx)
}

const toAuthorText = ({ authors }: Pick<NewSavedPlan, 'authors'>): string | null => authors && JSON.stringify(authors)

/** Returns all saved plans, latest first. One statement. */
export async function selectPlans(tx: Transaction): Promise<SavedPlan[]> {
  return query(savedPlanRow)`select ${columns} from plan p order by p.created_at desc, p.id`.all(tx)
}

/** Returns a complete plan by id. One statement. */
export async function findPlan(tx: Transaction, id: string): Promise<RowOf<typeof completePlanRow> | undefined> {
  return query(completePlanRow)`
    select ${columns}, p.outcome, p.sealed_sources as "sealedSources" from plan p where p.id = ${id}`.first(tx)
}

/** Returns the number of plans of runs that are pending approval. One statement. */
export async function countPendingPlans(tx: Transaction, now: Date): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from plan p
    where p.is_from_run and p.approved_at is null and p.expires > ${now}::timestamptz and exists (
      select from plan_realm r where r.plan = p.id and r.applied_at is null and jsonb_array_length(r.guards) > 0
    )`.firstOrThrow(tx)
  return count
}

/** Approves a plan. Returns false if it is applied or expired. One statement. */
export async function approvePlan(
  tx: Transaction,
  id: string,
  { at, by, withCredentials }: { readonly at: Date; readonly by: string; readonly withCredentials: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    with approved as (
      update plan p set approved_at = ${at}::timestamptz, approved_by = ${by}, with_credentials = ${withCredentials}
      where p.id = ${id} and p.expires > ${at}::timestamptz and p.sealed_sources is not null returning p.id
    )
    select ${planWakeUp} from approved`.execute(tx)
  return rows.length > 0
}

/** Records who set the annotation that approves a plan. One statement. */
export async function updateAnnotator(tx: Transaction, id: string, annotatedBy: string): Promise<void> {
  await sql`update plan p set annotated_by = ${annotatedBy} where p.id = ${id}`.execute(tx)
}

/** Withdraws the approval of a plan. One statement. */
export async function withdrawApproval(tx: Transaction, id: string): Promise<void> {
  await sql`update plan set approved_at = null, approved_by = null, with_credentials = false where id = ${id}`.execute(
    tx,
  )
}

const planApprovalRow = row({
  plan: text,
  by: text,
  at: timestamp,
  withCredentials: boolean,
  /** The outcome of the run, as it was when the plan was approved. */
  outcome: json<unknown>(),
})

/** An approval of a plan. */
export type PlanApproval = RowOf<typeof planApprovalRow>

/** A search for an approval of the changes of a realm, given by name and digest. `plan` restricts it to one plan. */
export interface PlanApprovalSearch {
  readonly name: string
  readonly digest: string
  readonly now: Date
  readonly plan?: string | undefined
}

/** Returns the first approval of the changes; undefined if there is none. One statement. */
export async function findPlanApproval(
  tx: Transaction,
  { name, digest, now, plan }: PlanApprovalSearch,
): Promise<PlanApproval | undefined> {
  return query(planApprovalRow)`
    select p.id as plan, p.approved_by as by, p.approved_at as at, p.with_credentials as "withCredentials", p.outcome
    from plan_realm r join plan p on p.id = r.plan
    where r.name = ${name} and r.digest = ${digest} and r.applied_at is null
      and p.id = coalesce(${plan ?? null}::text, p.id)
      and p.approved_at is not null and p.expires > ${now}::timestamptz
    order by p.approved_at, p.id limit 1`.first(tx)
}

/**
 * Records that a plan was applied in a realm, and deletes its sources if all its realms are applied. Returns false if the realm was applied
 * already, or the plan is expired. Two statements.
 */
export async function recordPlanApplied(
  tx: Transaction,
  id: string,
  { name, at, revision }: { readonly name: string; readonly at: Date; readonly revision: number },
): Promise<boolean> {
  const { rows } = await sql`
    with applied as (
      update plan_realm r set applied_at = ${at}::timestamptz, revision = ${revision}::bigint
      from plan p
      where p.id = ${id} and r.plan = p.id and r.name = ${name} and r.applied_at is null and p.expires > ${at}::timestamptz
      returning r.plan
    )
    select ${planWakeUp} from applied`.execute(tx)
  await sql`
    update plan p set sealed_sources = null
    where p.id = ${id} and not exists (
      select from plan_realm r where r.plan = p.id and r.has_changes and r.applied_at is null
    )`.execute(tx)
  return rows.length > 0
}

/** Deletes plans that are not applied. One statement. */
export async function deletePlans(tx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`
    with deleted as (
      delete from plan p where p.id = any(${ids}::text[]) and p.sealed_sources is not null returning p.id
    )
    select ${planWakeUp} from deleted`.execute(tx)
}

/** Deletes at most `limit` expired plans that are not applied, and returns their number. One statement. */
export async function deleteExpiredPlans(tx: Transaction, now: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from plan p using (
      select old.id from plan old where old.sealed_sources is not null and old.expires <= ${now}::timestamptz
      limit ${limit} for update of old skip locked
    ) expired
    where p.id = expired.id`.execute(tx)
  return Number(numAffectedRows)
}
