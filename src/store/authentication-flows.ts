// The executions of authentication flows: an ordered list per flow, whose elements keep their ids.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { json, optional, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'

const storedExecutionRow = row({
  id: text,
  flow: text,
  authenticator: optional(text),
  subFlow: optional(json<{ readonly id: string; readonly alias: string }>()),
  config: optional(json<{ readonly id: string; readonly alias: string }>()),
  body: json<Representation>(),
})

/** An execution as it is kept; sub-flow and settings by id, with their aliases. */
export type StoredExecution = RowOf<typeof storedExecutionRow>

/** A row to write; `place` orders the executions of a flow. */
export interface ExecutionRow {
  readonly id: string
  readonly flow: string
  readonly place: number
  readonly authenticator: string | null
  readonly sub_flow: string | null
  readonly config: string | null
  readonly body: Representation
}

/** The executions of the flows, in order. One statement. */
export async function selectExecutions(
  tx: Transaction,
  realm: number,
  flows: readonly string[],
): Promise<StoredExecution[]> {
  return rows(storedExecutionRow)`
    select e.id, e.flow, e.authenticator, e.body,
      (select jsonb_build_object('id', f.id, 'alias', f.alias) from authentication_flow f
        where f.realm = e.realm and f.id = e.sub_flow) as "subFlow",
      (select jsonb_build_object('id', c.id, 'alias', c.alias) from authenticator_config c
        where c.realm = e.realm and c.id = e.config) as config
    from authentication_execution e
    where e.realm = ${realm} and e.flow = any(${flows})
    order by e.flow, e.place, e.id`.all(tx)
}

/** Ids of the flows with executions that name one of the sub-flows or settings. One statement. */
export async function selectFlowsNaming(
  tx: Transaction,
  realm: number,
  { column, targets }: { readonly column: 'sub_flow' | 'config'; readonly targets: readonly string[] },
): Promise<string[]> {
  const referrers = await rows(row({ flow: text }))`
    select distinct e.flow from authentication_execution e
    where e.realm = ${realm} and e.${sql.ref(column)} = any(${targets})`.all(tx)
  return referrers.map(({ flow }) => flow)
}

/** Writes executions, new ones and those that exist. One statement. */
export async function upsertExecutions(tx: Transaction, realm: number, rows: readonly ExecutionRow[]): Promise<void> {
  await executionUpsert(realm, JSON.stringify(rows)).execute(tx)
}

/** The statement that writes executions, of the text of their rows. */
export function executionUpsert(realm: number, rows: string): RawBuilder<unknown> {
  return sql`
    insert into authentication_execution (realm, id, flow, place, authenticator, sub_flow, config, body)
    select ${realm}::integer, x.id, x.flow, x.place, x.authenticator, x.sub_flow, x.config, x.body
    from jsonb_to_recordset(${rows}::jsonb)
      as x(id text, flow text, place integer, authenticator text, sub_flow text, config text, body jsonb)
    on conflict (realm, id) do update set place = excluded.place, authenticator = excluded.authenticator,
      sub_flow = excluded.sub_flow, config = excluded.config, body = excluded.body
    where authentication_execution.realm = ${realm}`
}

/** Deletes executions. One statement. */
export async function deleteExecutions(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from authentication_execution where realm = ${realm} and id = any(${ids})`.execute(tx)
}

/** The alias of a flow that is a part of itself, among these and what they consist of. One statement. */
export async function findCycle(tx: Transaction, realm: number, flows: readonly string[]): Promise<string | undefined> {
  const cycle = await rows(row({ alias: text }))`
    with recursive part (flow, of) as (
      select e.sub_flow, e.flow from authentication_execution e
      where e.realm = ${realm} and e.sub_flow = any(${flows})
      union
      select e.sub_flow, p.of from part p join authentication_execution e on e.realm = ${realm} and e.flow = p.flow
      where e.sub_flow is not null
    )
    select f.alias from part p join authentication_flow f on f.realm = ${realm} and f.id = p.of
    where p.flow = p.of order by f.alias limit 1`.first(tx)
  return cycle?.alias
}
