// Executions of authentication flows: an ordered list per flow. An execution keeps its id when the flow is edited.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { equalsAny, json, optional, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'

const storedExecutionRow = row({
  id: text,
  flow: text,
  authenticator: optional(text),
  subFlow: optional(json<{ readonly id: string; readonly alias: string }>()),
  config: optional(json<{ readonly id: string; readonly alias: string }>()),
  body: json<Representation>(),
})

/** A stored execution, with id and alias of its sub-flow and configuration. */
export type StoredExecution = RowOf<typeof storedExecutionRow>

/** An execution to write. `position` orders the executions of a flow. */
export interface ExecutionRow {
  readonly id: string
  readonly flow: string
  readonly position: number
  readonly authenticator: string | null
  readonly sub_flow: string | null
  readonly config: string | null
  readonly body: Representation
}

/** Returns the executions of flows, in order. One statement. */
export async function selectExecutions(
  tx: Transaction,
  realm: number,
  flows: readonly string[],
): Promise<StoredExecution[]> {
  return query(storedExecutionRow)`
    select e.id, e.flow, e.authenticator, e.body,
      (select jsonb_build_object('id', f.id, 'alias', f.alias) from authentication_flow f
        where f.realm = e.realm and f.id = e.sub_flow) as "subFlow",
      (select jsonb_build_object('id', c.id, 'alias', c.alias) from authenticator_config c
        where c.realm = e.realm and c.id = e.config) as config
    from authentication_execution e
    where e.realm = ${realm} and e.flow ${equalsAny(flows)}
    order by e.flow, e.position, e.id`.all(tx)
}

/** Returns the ids of flows with executions that refer to one of the sub-flows or configurations. One statement. */
export async function selectReferringFlows(
  tx: Transaction,
  realm: number,
  { column, targets }: { readonly column: 'sub_flow' | 'config'; readonly targets: readonly string[] },
): Promise<string[]> {
  const referrers = await query(row({ flow: text }))`
    select distinct e.flow from authentication_execution e
    where e.realm = ${realm} and e.${sql.ref(column)} ${equalsAny(targets)}`.all(tx)
  return referrers.map(({ flow }) => flow)
}

/** Inserts or updates executions. One statement. */
export async function upsertExecutions(tx: Transaction, realm: number, rows: readonly ExecutionRow[]): Promise<void> {
  await buildExecutionUpsert(realm, JSON.stringify(rows)).execute(tx)
}

/** Returns the statement that inserts or updates executions. `rows` is the JSON of a list of ExecutionRow. */
export function buildExecutionUpsert(realm: number, rows: string): RawBuilder<unknown> {
  return sql`
    insert into authentication_execution (realm, id, flow, position, authenticator, sub_flow, config, body)
    select ${realm}::integer, x.id, x.flow, x.position, x.authenticator, x.sub_flow, x.config, x.body
    from jsonb_to_recordset(${rows}::jsonb)
      as x(id text, flow text, position integer, authenticator text, sub_flow text, config text, body jsonb)
    on conflict (realm, id) do update set position = excluded.position, authenticator = excluded.authenticator,
      sub_flow = excluded.sub_flow, config = excluded.config, body = excluded.body
    where authentication_execution.realm = ${realm}`
}

/** Deletes executions. One statement. */
export async function deleteExecutions(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from authentication_execution where realm = ${realm} and id ${equalsAny(ids)}`.execute(tx)
}

/** Returns the alias of a flow that contains itself, among the flows and their sub-flows; undefined if there is none. One statement. */
export async function findFlowCycle(
  tx: Transaction,
  realm: number,
  flows: readonly string[],
): Promise<string | undefined> {
  const cycle = await query(row({ alias: text }))`
    with recursive part (flow, of) as (
      select e.sub_flow, e.flow from authentication_execution e
      where e.realm = ${realm} and e.sub_flow ${equalsAny(flows)}
      union
      select e.sub_flow, p.of from part p join authentication_execution e on e.realm = ${realm} and e.flow = p.flow
      where e.sub_flow is not null
    )
    select f.alias from part p join authentication_flow f on f.realm = ${realm} and f.id = p.of
    where p.flow = p.of order by f.alias limit 1`.first(tx)
  return cycle?.alias
}
