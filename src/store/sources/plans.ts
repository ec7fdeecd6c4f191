// Plans that wait for somebody. A plan is of a run, and so of all realms that its sources state.
import { sql } from 'kysely'
import { boolean, json, optional, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Actor } from '../journal/journal.ts'

/** What a kept plan does in one realm. */
export interface PlanOfRealm {
  /** The name by which it is stated. */
  readonly name: string
  /** Of what the plan does there. */
  readonly digest: string
  /** Whether that is anything. */
  readonly hasChanges: boolean
  /** Why it waits for an approval. */
  readonly guards: readonly { readonly guard: string; readonly message: string; readonly objects: readonly string[] }[]
}

/** A plan to keep. */
export interface NewPlan {
  readonly id: string
  readonly digest: string
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  /** The text of an object: the plan as people see it. */
  readonly shown: string
  /** What the sources stated, sealed. */
  readonly kept: string
  /** A run of its sources would have applied it: once it is approved, that goes on. */
  readonly runs: boolean
  readonly madeAt: Date
  readonly madeBy: Actor
  readonly expires: Date
}

const keptPlanRow = row({
  id: text,
  digest: text,
  sources: json<NewPlan['sources']>(),
  runs: boolean,
  madeAt: timestamp,
  madeBy: json<Actor>(),
  expires: timestamp,
  realms: json<readonly (PlanOfRealm & { readonly appliedAt: string | null; readonly revision: number | null })[]>(),
  approvedAt: optional(timestamp),
  approvedBy: optional(text),
  /** People that it adopts get the credentials that are stated. */
  withCredentials: boolean,
})

/** A plan as it is kept, without what is long. */
export type KeptPlan = RowOf<typeof keptPlanRow>

const wholePlanRow = row({ ...keptPlanRow.columns, shown: json<unknown>(), kept: optional(text) })

const columns = sql`p.id, p.digest, p.sources, p.runs, p.made_at as "madeAt", p.made_by as "madeBy", p.expires,
  p.approved_at as "approvedAt", p.approved_by as "approvedBy", p.with_credentials as "withCredentials",
  (select jsonb_agg(jsonb_build_object('name', r.name, 'digest', r.digest, 'hasChanges', r.has_changes, 'guards', r.guards,
      'appliedAt', r.applied_at, 'revision', r.revision) order by r.name)
    from plan_realm r where r.plan = p.id) as realms`

/** Keeps a plan. One statement. */
export async function insertPlan(tx: Transaction, plan: NewPlan, realms: readonly PlanOfRealm[]): Promise<void> {
  await sql`
    with made as (
      insert into plan (id, digest, sources, shown, kept, runs, made_at, made_by, expires)
      values (${plan.id}, ${plan.digest}, ${JSON.stringify(plan.sources)}::jsonb, ${plan.shown}::jsonb, ${plan.kept},
        ${plan.runs}, ${plan.madeAt}::timestamptz, ${JSON.stringify(plan.madeBy)}::jsonb, ${plan.expires}::timestamptz)
      returning id
    )
    insert into plan_realm (plan, name, digest, has_changes, guards)
    select m.id, x.name, x.digest, x."hasChanges", x.guards
    from made m cross join jsonb_to_recordset(${JSON.stringify(realms)}::jsonb)
      as x(name text, digest text, "hasChanges" boolean, guards jsonb)`.execute(tx)
}

/** Keeps the plan of a run that wanted to apply the same already: what is stated now counts, and who wants it. Gives it, if there is one. One statement. */
export async function renewPlan(tx: Transaction, plan: NewPlan, now: Date): Promise<KeptPlan | undefined> {
  return rows(keptPlanRow)`
    update plan p set sources = ${JSON.stringify(plan.sources)}::jsonb, shown = ${plan.shown}::jsonb, kept = ${plan.kept},
      made_by = ${JSON.stringify(plan.madeBy)}::jsonb
    where p.runs and p.digest = ${plan.digest} and p.expires > ${now}::timestamptz and p.kept is not null
    returning ${columns}`.first(tx)
}

/** The plans that are kept, the latest first. One statement. */
export async function selectPlans(tx: Transaction): Promise<KeptPlan[]> {
  return rows(keptPlanRow)`select ${columns} from plan p order by p.made_at desc, p.id`.all(tx)
}

/** A plan by its id, with all of it. One statement. */
export async function findPlan(tx: Transaction, id: string): Promise<RowOf<typeof wholePlanRow> | undefined> {
  return rows(wholePlanRow)`
    select ${columns}, p.shown, p.kept from plan p where p.id = ${id}`.first(tx)
}

/** Lets a plan be applied; gives whether it still could be. One statement. */
export async function approvePlan(
  tx: Transaction,
  id: string,
  { at, by, withCredentials }: { readonly at: Date; readonly by: string; readonly withCredentials: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    update plan p set approved_at = ${at}::timestamptz, approved_by = ${by}, with_credentials = ${withCredentials}
    where p.id = ${id} and p.expires > ${at}::timestamptz and p.kept is not null returning p.id`.execute(tx)
  return rows.length > 0
}

/** Takes an approval back: what was approved is not what would be done. One statement. */
export async function voidApproval(tx: Transaction, id: string): Promise<void> {
  await sql`update plan set approved_at = null, approved_by = null, with_credentials = false where id = ${id}`.execute(
    tx,
  )
}

const approvalRow = row({
  plan: text,
  by: text,
  at: timestamp,
  withCredentials: boolean,
  /** The plan as it was shown to whoever approved it. */
  shown: json<unknown>(),
})

/** An approval of what a plan does in a realm. */
export type Approval = RowOf<typeof approvalRow>

/** What is to be approved: the content of a plan in a realm. `plan`: by this plan only. */
export interface ApprovalSearch {
  readonly name: string
  readonly digest: string
  readonly now: Date
  readonly plan?: string | undefined
}

/** The approval of exactly that, if there is one: of any plan that does it, or of this one only. One statement. */
export async function selectApproval(
  tx: Transaction,
  { name, digest, now, plan }: ApprovalSearch,
): Promise<Approval | undefined> {
  return rows(approvalRow)`
    select p.id as plan, p.approved_by as by, p.approved_at as at, p.with_credentials as "withCredentials", p.shown
    from plan_realm r join plan p on p.id = r.plan
    where r.name = ${name} and r.digest = ${digest} and r.applied_at is null
      and p.id = coalesce(${plan ?? null}::text, p.id)
      and p.approved_at is not null and p.expires > ${now}::timestamptz
    order by p.approved_at, p.id limit 1`.first(tx)
}

/**
 * Notes that what a plan does in a realm is done, and drops what its sources stated once all of it is. Gives whether it could
 * still be done: nobody was faster, and its time is not over. Two statements.
 */
export async function takePlan(
  tx: Transaction,
  id: string,
  { name, at, revision }: { readonly name: string; readonly at: Date; readonly revision: number },
): Promise<boolean> {
  const { rows } = await sql`
    update plan_realm r set applied_at = ${at}::timestamptz, revision = ${revision}::bigint
    from plan p
    where p.id = ${id} and r.plan = p.id and r.name = ${name} and r.applied_at is null and p.expires > ${at}::timestamptz
    returning r.plan`.execute(tx)
  await sql`
    update plan p set kept = null
    where p.id = ${id} and not exists (
      select from plan_realm r where r.plan = p.id and r.has_changes and r.applied_at is null
    )`.execute(tx)
  return rows.length > 0
}

/** Forgets plans that nobody has applied. One statement. */
export async function deletePlans(tx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`delete from plan p where p.id = any(${ids}::text[]) and p.kept is not null`.execute(tx)
}

/** Deletes plans whose time is over without anybody having applied them, at most so many; gives how many. One statement. */
export async function deleteExpiredPlans(tx: Transaction, now: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from plan p using (
      select old.id from plan old where old.kept is not null and old.expires <= ${now}::timestamptz
      limit ${limit} for update of old skip locked
    ) gone
    where p.id = gone.id`.execute(tx)
  return Number(numAffectedRows)
}
