// Sessions as administrators see them: lists and numbers.

import { countRow, integer, json, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { chosen, goingOn, type SessionFilter, type SessionLimits, sessionColumns } from './session-filter.ts'
import { userSessionRow } from './sessions.ts'

const listedSessionRow = row({
  ...userSessionRow.columns,
  username: text,
  clients: json<Readonly<Record<string, string>>>(),
})

/** A session as administrators see it: with its user's name and its clients, name by id. */
export type ListedSession = RowOf<typeof listedSessionRow>

/** Which sessions to list, and which page of them. */
export interface SessionSearch {
  readonly filter: SessionFilter
  readonly limits: SessionLimits
  readonly page?: { readonly first?: number | undefined; readonly max?: number | undefined } | undefined
}

/** The sessions that go on, the latest first. One statement. */
export async function selectSessions(
  tx: Transaction,
  realm: number,
  { filter, limits, page: { first = 0, max } = {} }: SessionSearch,
): Promise<ListedSession[]> {
  return rows(listedSessionRow)`
    select ${sessionColumns}, u.username,
      (select coalesce(jsonb_object_agg(k.id, k.client_id), '{}') from client_session c
        join client k on k.realm = c.realm and k.id = c.client
        where c.realm = s.realm and c.offline = s.offline and c.session = s.id) as clients
    from user_session s join user_account u on u.realm = s.realm and u.id = s.user_account
    where ${chosen(realm, filter)} and ${goingOn(limits)}
    order by s.started_at desc, s.id
    limit ${max ?? null}::integer offset ${first}`.all(tx)
}

/** How many sessions go on. One statement. */
export async function countSessions(
  tx: Transaction,
  realm: number,
  { filter, limits }: Omit<SessionSearch, 'page'>,
): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from user_session s
    where ${chosen(realm, filter)} and ${goingOn(limits)}`.one(tx)
  return count
}

/** How many sessions of each client go on, by name of the client. One statement. */
export async function countByClient(
  tx: Transaction,
  realm: number,
  { offline, limits }: { readonly offline: boolean; readonly limits: SessionLimits },
): Promise<{ id: string; clientId: string; count: number }[]> {
  return rows(row({ id: text, clientId: text, count: integer }))`
    select k.id, k.client_id as "clientId", count(*)::integer as count
    from user_session s
    join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id
    join client k on k.realm = c.realm and k.id = c.client
    where ${chosen(realm, { offline })} and ${goingOn(limits)}
    group by k.id, k.client_id order by k.client_id`.all(tx)
}
