// Sessions as administrators see them: lists and numbers.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'
import { chosen, goingOn, type SessionFilter, type SessionLimits, sessionColumns } from './session-filter.ts'
import type { UserSession } from './sessions.ts'

/** A session as administrators see it: with its user's name and its clients, name by id. */
export interface ListedSession extends UserSession {
  readonly username: string
  readonly clients: Readonly<Record<string, string>>
}

/** The sessions that go on, the latest first. One statement. */
export async function selectSessions(
  tx: Transaction,
  realm: number,
  filter: SessionFilter,
  limits: SessionLimits,
  { first = 0, max }: { readonly first?: number | undefined; readonly max?: number | undefined } = {},
): Promise<ListedSession[]> {
  const { rows } = await sql<ListedSession>`
    select ${sessionColumns}, u.username,
      (select coalesce(jsonb_object_agg(k.id, k.client_id), '{}') from client_session c
        join client k on k.realm = c.realm and k.id = c.client
        where c.realm = s.realm and c.offline = s.offline and c.session = s.id) as clients
    from user_session s join user_account u on u.realm = s.realm and u.id = s.user_account
    where ${chosen(realm, filter)} and ${goingOn(limits)}
    order by s.started_at desc, s.id
    limit ${max ?? null}::integer offset ${first}`.execute(tx)
  return rows
}

/** How many sessions go on. One statement. */
export async function countSessions(
  tx: Transaction,
  realm: number,
  filter: SessionFilter,
  limits: SessionLimits,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from user_session s
    where ${chosen(realm, filter)} and ${goingOn(limits)}`.execute(tx)
  return rows[0]!.count
}

/** How many sessions of each client go on, by name of the client. One statement. */
export async function countByClient(
  tx: Transaction,
  realm: number,
  offline: boolean,
  limits: SessionLimits,
): Promise<{ id: string; clientId: string; count: number }[]> {
  const { rows } = await sql<{ id: string; clientId: string; count: number }>`
    select k.id, k.client_id as "clientId", count(*)::integer as count
    from user_session s
    join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id
    join client k on k.realm = c.realm and k.id = c.client
    where ${chosen(realm, { offline })} and ${goingOn(limits)}
    group by k.id, k.client_id order by k.client_id`.execute(tx)
  return rows
}
