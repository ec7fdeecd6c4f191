// Ends sessions: by logout and by expiry.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, countRow, json, optional, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteExpired } from '../delete-expired.ts'
import { buildSessionFilter, type SessionFilter } from './session-filter.ts'

const endedClientSessionRow = row({
  session: text,
  user: text,
  offline: boolean,
  /** Internal id of the client. */
  client: text,
  clientId: text,
  attributes: optional(json<Readonly<Record<string, string>>>()),
  /** The settings that give the admin URLs of the client. */
  adminUrl: optional(text),
  rootUrl: optional(text),
  registeredNodes: optional(json<Readonly<Record<string, number>>>()),
  /** Whether the client uses front-channel logout. */
  frontchannel: boolean,
  body: json<Representation>(),
})

/** The session of a client that ended with a user session. */
export type EndedClientSession = RowOf<typeof endedClientSessionRow>

/** Deletes user sessions, and returns their client sessions. One statement. */
export async function deleteSessions(
  tx: Transaction,
  realm: number,
  filter: SessionFilter,
): Promise<EndedClientSession[]> {
  return query(endedClientSessionRow)`
    with parts as (
      select s.id as session, s.user_account as "user", s.offline, k.id as client, k.client_id as "clientId",
        k.body -> 'attributes' as attributes, c.body, k.body ->> 'adminUrl' as "adminUrl", k.body ->> 'rootUrl' as "rootUrl",
        nullif(k.body -> 'registeredNodes', 'null') as "registeredNodes",
        coalesce((k.body ->> 'frontchannelLogout')::boolean, false) as frontchannel
      from user_session s
      join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id
      join client k on k.realm = c.realm and k.id = c.client
      where ${buildSessionFilter(realm, filter)}
    ), ended as (
      delete from user_session s where ${buildSessionFilter(realm, filter)}
    )
    select * from parts`.all(tx)
}

/** Deletes client sessions, and the user sessions without any client session then. Returns the number of client sessions. One statement. */
export async function deleteClientSessions(
  tx: Transaction,
  realm: number,
  { client, filter }: { readonly client: string; readonly filter: Omit<SessionFilter, 'client'> },
): Promise<number> {
  const { count } = await query(countRow)`
    with ended as (
      delete from client_session c using user_session s
      where c.realm = ${realm} and s.realm = c.realm and s.offline = c.offline and s.id = c.session
        and c.client = ${client} and ${buildSessionFilter(realm, filter)}
      returning c.offline, c.session
    ), emptied as (
      delete from user_session s using ended e
      where s.realm = ${realm} and s.offline = e.offline and s.id = e.session and not exists (
        select from client_session c where c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client <> ${client})
    )
    select count(*)::integer as count from ended`.firstOrThrow(tx)
  return count
}

/** Returns a setting of realm `r` in seconds; null if it is 0, which means no limit. */
const buildSeconds = (name: string) => sql`nullif((r.body ->> ${sql.lit(name)})::double precision, 0)`

/**
 * Deletes at most `limit` sessions that are expired by the settings of their realm, and returns their number. The rule is that of the
 * lifespans in service/login/sessions.ts, for all realms. One statement.
 */
export function deleteExpiredSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const idleSeconds = sql`coalesce(case when old.remember_me then ${buildSeconds('ssoSessionIdleTimeoutRememberMe')} end,
    ${buildSeconds('ssoSessionIdleTimeout')})`
  const maxSeconds = sql`coalesce(case when old.remember_me then ${buildSeconds('ssoSessionMaxLifespanRememberMe')} end,
    ${buildSeconds('ssoSessionMaxLifespan')})`
  const when = sql`(
    old.refreshed_at < ${now}::timestamptz - make_interval(secs =>
      case when old.offline then ${buildSeconds('offlineSessionIdleTimeout')} else ${idleSeconds} end)
    or old.started_at < ${now}::timestamptz - make_interval(secs =>
      case when not old.offline then ${maxSeconds}
        when (r.body ->> 'offlineSessionMaxLifespanEnabled')::boolean then ${buildSeconds('offlineSessionMaxLifespan')} end))`
  return deleteExpired(tx, { table: 'user_session', key: ['offline', 'id'], when }, limit)
}
