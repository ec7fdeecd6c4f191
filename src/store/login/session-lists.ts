// Lists and counts of active sessions.
import { countRow, integer, json, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import {
  buildActiveFilter,
  buildSessionFilter,
  type SessionFilter,
  type SessionLimits,
  sessionColumns,
} from './session-filter.ts'
import { userSessionRow } from './sessions.ts'

const listedSessionRow = row({
  ...userSessionRow.columns,
  username: text,
  clients: json<Readonly<Record<string, string>>>(),
})

/** A session with its user's name and its clients: client id by internal id. */
export type ListedSession = RowOf<typeof listedSessionRow>

/** A search for active sessions. */
export interface SessionSearch {
  readonly filter: SessionFilter
  readonly limits: SessionLimits
  readonly page?: { readonly first?: number | undefined; readonly max?: number | undefined } | undefined
}

/** Returns a page of active sessions, latest first. One statement. */
export async function selectSessions(
  tx: Transaction,
  realm: number,
  { filter, limits, page: { first = 0, max } = {} }: SessionSearch,
): Promise<ListedSession[]> {
  return query(listedSessionRow)`
    select ${sessionColumns}, u.username,
      (select coalesce(jsonb_object_agg(k.id, k.client_id), '{}') from client_session c
        join client k on k.realm = c.realm and k.id = c.client
        where c.realm = s.realm and c.offline = s.offline and c.session = s.id) as clients
    from user_session s join user_account u on u.realm = s.realm and u.id = s.user_account
    where ${buildSessionFilter(realm, filter)} and ${buildActiveFilter(limits)}
    order by s.started_at desc, s.id
    limit ${max ?? null}::integer offset ${first}`.all(tx)
}

/** Returns the number of active sessions. One statement. */
export async function countSessions(
  tx: Transaction,
  realm: number,
  { filter, limits }: Omit<SessionSearch, 'page'>,
): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from user_session s
    where ${buildSessionFilter(realm, filter)} and ${buildActiveFilter(limits)}`.firstOrThrow(tx)
  return count
}

/** Returns the number of active sessions of each client, by client id. One statement. */
export async function countSessionsByClient(
  tx: Transaction,
  realm: number,
  { offline, limits }: { readonly offline: boolean; readonly limits: SessionLimits },
): Promise<{ id: string; clientId: string; count: number }[]> {
  return query(row({ id: text, clientId: text, count: integer }))`
    select k.id, k.client_id as "clientId", count(*)::integer as count
    from user_session s
    join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id
    join client k on k.realm = c.realm and k.id = c.client
    where ${buildSessionFilter(realm, { offline })} and ${buildActiveFilter(limits)}
    group by k.id, k.client_id order by k.client_id`.all(tx)
}
