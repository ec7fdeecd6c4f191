// Scheduled tasks: periodic work on objects of realms. Of all processes over the store, one claims a task when it is due.
import { sql } from 'kysely'
import { bigint, equalsAny, integer, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'

/** Periodic work on an object of a realm. */
export interface ScheduledTask {
  readonly type: string
  /** Id of the object. */
  readonly subject: string
  readonly intervalSeconds: number
}

const claimedTaskRow = row({
  realm: integer,
  realmName: text,
  type: text,
  subject: text,
  intervalSeconds: integer,
  /** Number of this claim. */
  claims: bigint,
})

/** A task that one process has claimed to run it. */
export type ClaimedTask = RowOf<typeof claimedTaskRow>

/**
 * Schedules tasks. The first run is an interval after `now`. Where the task exists with another interval, the next run follows the last one
 * after the new interval. One statement.
 */
export async function insertTasks(
  tx: Transaction,
  realm: number,
  { now, tasks }: { readonly now: Date; readonly tasks: readonly ScheduledTask[] },
): Promise<void> {
  await sql`
    insert into scheduled_task as t (realm, type, subject, interval_seconds, due, claims)
    select ${realm}::integer, x.type, x.subject, x."intervalSeconds",
      ${now}::timestamptz + x."intervalSeconds" * interval '1 second', 0
    from jsonb_to_recordset(${JSON.stringify(tasks)}::jsonb) as x(type text, subject text, "intervalSeconds" integer)
    on conflict (realm, type, subject) do update set
      due = t.due + (excluded.interval_seconds - t.interval_seconds) * interval '1 second',
      interval_seconds = excluded.interval_seconds`.execute(tx)
}

/** Ends the tasks of objects. One statement. */
export async function deleteTasks(
  tx: Transaction,
  realm: number,
  { type, subjects }: { readonly type: string; readonly subjects: readonly string[] },
): Promise<void> {
  await sql`
    delete from scheduled_task where realm = ${realm} and type = ${type} and subject ${equalsAny(subjects)}`.execute(tx)
}

/**
 * Claims the task of these types that has been due longest, of any realm. No other process can claim it until `claimEnd`, and it is claimed
 * again then if this process dies. One statement.
 */
export async function claimTask(
  tx: Transaction,
  types: readonly string[],
  { now, claimEnd }: { readonly now: Date; readonly claimEnd: Date },
): Promise<ClaimedTask | undefined> {
  return query(claimedTaskRow)`
    with due as materialized (
      select x.realm, x.type, x.subject, r.name
      from scheduled_task x join realm r on r.number = x.realm
      where x.due <= ${now}::timestamptz and coalesce(x.claimed_until <= ${now}::timestamptz, true)
        and x.type ${equalsAny(types)}
      order by x.due limit 1 for update of x skip locked
    )
    update scheduled_task t set claimed_until = ${claimEnd}::timestamptz, claims = t.claims + 1
    from due
    where t.realm = due.realm and t.type = due.type and t.subject = due.subject
    returning t.realm, due.name as "realmName", t.type, t.subject, t.interval_seconds as "intervalSeconds", t.claims`.first(
    tx,
  )
}

/** Extends a claim, unless the task was claimed again meanwhile. One statement. */
export async function extendClaim(tx: Transaction, task: ClaimedTask, claimEnd: Date): Promise<void> {
  const { realm, type, subject, claims } = task
  await sql`
    update scheduled_task set claimed_until = ${claimEnd}::timestamptz
    where realm = ${realm} and type = ${type} and subject = ${subject} and claims = ${claims}
      and claimed_until is not null`.execute(tx)
}

/**
 * Ends a claim: the task is due again an interval after `now`. Returns false if the claim has ended already, or if the task was claimed again or
 * deleted meanwhile. One statement.
 */
export async function completeTask(tx: Transaction, task: ClaimedTask, now: Date): Promise<boolean> {
  const { realm, type, subject, claims } = task
  const { numAffectedRows } = await sql`
    update scheduled_task set due = ${now}::timestamptz + interval_seconds * interval '1 second', claimed_until = null
    where realm = ${realm} and type = ${type} and subject = ${subject} and claims = ${claims}
      and claimed_until is not null`.execute(tx)
  return Number(numAffectedRows) === 1
}

/** Ends a claim, and makes the task due at another time, unless it was claimed again meanwhile. One statement. */
export async function postponeTask(tx: Transaction, task: ClaimedTask, due: Date): Promise<void> {
  const { realm, type, subject, claims } = task
  await sql`
    update scheduled_task set due = ${due}::timestamptz, claimed_until = null
    where realm = ${realm} and type = ${type} and subject = ${subject} and claims = ${claims}
      and claimed_until is not null`.execute(tx)
}
