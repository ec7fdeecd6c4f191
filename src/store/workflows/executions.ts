// Executions of workflows: for each user or client, the step to be executed next, and when.
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { WorkflowResourceType } from '../../kinds/workflow-steps.ts'
import { chunks } from '../../lib/chunks.ts'
import {
  boolean,
  CHUNK_SIZE,
  equalsAny,
  idRow,
  integer,
  optional,
  query,
  type RowOf,
  row,
  text,
  timestamp,
} from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildUserCondition, type UserCondition } from './conditions.ts'

const executionRow = row({
  id: text,
  /** Id of the workflow. */
  workflow: text,
  /** Id of the user or client. */
  resource: text,
  /** Position of the step to be executed next, from 0. */
  step: integer,
  due: timestamp,
  /** Whether the step was scheduled with a delay. */
  isResumed: boolean,
  /** Number of failed attempts to execute the step. */
  attempts: integer,
})

/** An execution of a workflow for a user or client. */
export type WorkflowExecution = RowOf<typeof executionRow>

/** The next step of executions. */
export interface NextStep {
  readonly step: number
  readonly due: Date
  readonly isResumed: boolean
}

/** The columns of executions and tables of objects, by type. */
const targets: Readonly<Record<WorkflowResourceType, { readonly column: string; readonly table: string }>> = {
  USERS: { column: 'user_account', table: 'user_account' },
  CLIENTS: { column: 'client', table: 'client' },
}

const columns = sql`e.id, e.workflow, coalesce(e.user_account, e.client) as resource, e.step, e.due, e.is_resumed as "isResumed", e.attempts`

/** Returns the executions for users or clients, the oldest first. One statement. */
export async function selectExecutions(
  tx: Transaction,
  realm: number,
  { type, resources }: { readonly type?: WorkflowResourceType; readonly resources: readonly string[] },
): Promise<WorkflowExecution[]> {
  const types = type ? [type] : (['USERS', 'CLIENTS'] as const)
  const conditions = types.map((target) => sql`${sql.ref(`e.${targets[target].column}`)} ${equalsAny(resources)}`)
  return query(executionRow)`
    select ${columns} from workflow_execution e
    where e.realm = ${realm} and (${sql.join(conditions, sql` or `)})
    order by e.started_at, e.id`.all(tx)
}

/** Executions of a workflow that begin, for users or clients that are not in progress. */
export interface NewExecutions extends NextStep {
  readonly workflow: string
  readonly type: WorkflowResourceType
  readonly startedAt: Date
  readonly resources: readonly string[]
}

/** Begins executions, except those in progress already. One statement per chunk. */
export async function insertExecutions(
  tx: Transaction,
  realm: number,
  { workflow, type, startedAt, resources, step, due, isResumed }: NewExecutions,
): Promise<void> {
  const column = sql.ref(targets[type].column)
  for (const chunk of chunks(resources, CHUNK_SIZE)) {
    const rows = chunk.map((resource) => ({ id: randomUUID(), resource }))
    await sql`
      insert into workflow_execution (realm, id, workflow, ${column}, step, due, is_resumed, started_at, attempts)
      select ${realm}::integer, x.id, ${workflow}, x.resource, ${step}::integer, ${due}::timestamptz,
        ${isResumed}::boolean, ${startedAt}::timestamptz, 0
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(id text, resource text)
      on conflict (realm, workflow, ${column}) do nothing`.execute(tx)
  }
}

/** Sets the next step of executions. One statement. */
export async function moveExecutions(
  tx: Transaction,
  realm: number,
  { ids, step, due, isResumed }: NextStep & { readonly ids: readonly string[] },
): Promise<void> {
  await sql`
    update workflow_execution
    set step = ${step}::integer, due = ${due}::timestamptz, is_resumed = ${isResumed}::boolean, attempts = 0, error = null
    where realm = ${realm} and id ${equalsAny(ids)}`.execute(tx)
}

/** Ends executions. One statement. */
export async function deleteExecutions(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from workflow_execution where realm = ${realm} and id ${equalsAny(ids)}`.execute(tx)
}

/** Ends the execution of a workflow for a user or client. One statement. */
export async function deleteExecutionOf(
  tx: Transaction,
  realm: number,
  { workflow, resource }: { readonly workflow: string; readonly resource: string },
): Promise<void> {
  await sql`
    delete from workflow_execution
    where realm = ${realm} and workflow = ${workflow} and (user_account = ${resource} or client = ${resource})`.execute(
    tx,
  )
}

/** Postpones executions after a failed attempt. One statement. */
export async function postponeExecutions(
  tx: Transaction,
  realm: number,
  { ids, due, error }: { readonly ids: readonly string[]; readonly due: Date; readonly error: string },
): Promise<void> {
  await sql`
    update workflow_execution set due = ${due}::timestamptz, attempts = attempts + 1, error = ${error}
    where realm = ${realm} and id ${equalsAny(ids)}`.execute(tx)
}

const dueStepRow = row({
  realm: text,
  /** Id of the workflow. */
  workflow: text,
  /** Name of the workflow. */
  name: text,
  step: integer,
})

/** A step of a workflow that is due for users or clients; `realm` is the name. */
export type DueStep = RowOf<typeof dueStepRow>

/** Returns the step that has been due longest, of any realm. Steps of disabled workflows are not due. One statement. */
export async function findDueStep(tx: Transaction, now: Date): Promise<DueStep | undefined> {
  return query(dueStepRow)`
    select r.name as realm, e.workflow, w.name, e.step
    from realm r join workflow_execution e on e.realm = r.number and e.due <= ${now}::timestamptz
      join workflow w on w.realm = e.realm and w.id = e.workflow
    where coalesce((w.body ->> 'enabled')::boolean, true)
    order by e.due limit 1`.first(tx)
}

/** The executions to claim: those of a due step, at most so many; `ids`: only these. */
export interface DueExecutions {
  readonly workflow: string
  readonly step: number
  readonly now: Date
  readonly limit: number
  readonly ids?: readonly string[] | undefined
}

/** Returns the executions whose step is due, and locks them until the end of the transaction. One statement. */
export async function lockDueExecutions(
  tx: Transaction,
  realm: number,
  { workflow, step, now, limit, ids }: DueExecutions,
): Promise<WorkflowExecution[]> {
  return query(executionRow)`
    select ${columns} from workflow_execution e
    where e.realm = ${realm} and e.workflow = ${workflow} and e.step = ${step}::integer and e.due <= ${now}::timestamptz
      ${ids ? sql`and e.id ${equalsAny(ids)}` : sql``}
    order by e.due, e.id limit ${limit}::integer for update`.all(tx)
}

/** Returns the executions whose next step has the position in a workflow, and locks them. One statement. */
export async function lockExecutionsAt(
  tx: Transaction,
  realm: number,
  { workflow, step }: { readonly workflow: string; readonly step: number },
): Promise<WorkflowExecution[]> {
  return query(executionRow)`
    select ${columns} from workflow_execution e
    where e.realm = ${realm} and e.workflow = ${workflow} and e.step = ${step}::integer
    order by e.started_at, e.id for update`.all(tx)
}

const stateRow = row({
  /** Id of the workflow. */
  workflow: text,
  /** The errors of failed steps; null if none failed. */
  error: optional(text),
})

/** Returns the workflows with executions in progress, and the reasons why steps failed, each once. One statement. */
export async function selectExecutionStates(
  tx: Transaction,
  realm: number,
  workflows: readonly string[],
): Promise<RowOf<typeof stateRow>[]> {
  return query(stateRow)`
    select distinct e.workflow, e.error from workflow_execution e
    where e.realm = ${realm} and e.workflow ${equalsAny(workflows)}
    order by 1, 2`.all(tx)
}

const resourceRow = row({
  id: text,
  /** Whether the condition is met; null if that is unknown, since it names an object that does not exist. */
  isMet: optional(boolean),
})

/** A user, and whether a condition is met. */
export type ConditionResult = RowOf<typeof resourceRow>

/** Evaluates the condition for users that exist. One statement. */
export async function evaluateForUsers(
  tx: Transaction,
  realm: number,
  { users, condition }: { readonly users: readonly string[]; readonly condition: UserCondition },
): Promise<ConditionResult[]> {
  return query(resourceRow)`
    select u.id, ${buildUserCondition(realm, condition)} as "isMet"
    from user_account u where u.realm = ${realm} and u.id ${equalsAny(users)}`.all(tx)
}

/** A search for users or clients for which a workflow is not in progress. */
export interface EligibleSearch {
  readonly workflow: string
  readonly type: WorkflowResourceType
  readonly condition: UserCondition | undefined
  readonly limit: number
}

/** Returns the ids of users or clients that meet a condition and for which a workflow is not in progress, by id. One statement. */
export async function selectEligible(
  tx: Transaction,
  realm: number,
  { workflow, type, condition, limit }: EligibleSearch,
): Promise<string[]> {
  const { table, column } = targets[type]
  const isMet: RawBuilder<unknown> = condition ? buildUserCondition(realm, condition) : sql`true`
  const rows = await query(idRow)`
    select u.id from ${sql.table(table)} u
    where u.realm = ${realm} and not exists (
        select from workflow_execution e
        where e.realm = ${realm} and e.workflow = ${workflow} and ${sql.ref(`e.${column}`)} = u.id
      ) and ${isMet}
    order by u.id limit ${limit}::integer`.all(tx)
  return rows.map(({ id }) => id)
}
