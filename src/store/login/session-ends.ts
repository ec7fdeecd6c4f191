// The end of sessions: by log-out, and because their time is over.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, countRow, json, optional, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteOver } from '../delete-over.ts'
import { chosen, type SessionFilter } from './session-filter.ts'

const endedPartRow = row({
  session: text,
  user: text,
  offline: boolean,
  /** The client's id, name and attributes. */
  client: text,
  clientId: text,
  attributes: optional(json<Readonly<Record<string, string>>>()),
  /** Whether the client wants to be told through the browser. */
  frontchannel: boolean,
  body: json<Representation>(),
})

/** What ended with a session at a client. */
export type EndedPart = RowOf<typeof endedPartRow>

/** Ends sessions, and tells what the clients had of them. One statement. */
export async function deleteSessions(tx: Transaction, realm: number, filter: SessionFilter): Promise<EndedPart[]> {
  return rows(endedPartRow)`
    with parts as (
      select s.id as session, s.user_account as "user", s.offline, k.id as client, k.client_id as "clientId",
        k.body -> 'attributes' as attributes, c.body,
        coalesce((k.body ->> 'frontchannelLogout')::boolean, false) as frontchannel
      from user_session s
      join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id
      join client k on k.realm = c.realm and k.id = c.client
      where ${chosen(realm, filter)}
    ), ended as (
      delete from user_session s where ${chosen(realm, filter)}
    )
    select * from parts`.all(tx)
}

/** Ends a client's parts of sessions, and the sessions whose last part that was. One statement. */
export async function deleteParts(
  tx: Transaction,
  realm: number,
  { client, which }: { readonly client: string; readonly which: Omit<SessionFilter, 'client'> },
): Promise<number> {
  const { count } = await rows(countRow)`
    with ended as (
      delete from client_session c using user_session s
      where c.realm = ${realm} and s.realm = c.realm and s.offline = c.offline and s.id = c.session
        and c.client = ${client} and ${chosen(realm, which)}
      returning c.offline, c.session
    ), emptied as (
      delete from user_session s using ended e
      where s.realm = ${realm} and s.offline = e.offline and s.id = e.session and not exists (
        select from client_session c where c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client <> ${client})
    )
    select count(*)::integer as count from ended`.one(tx)
  return count
}

/** A number of seconds among the settings of realm `r`; null where it says that there is no limit. */
const seconds = (name: string) => sql`nullif((r.body ->> ${sql.lit(name)})::double precision, 0)`

/**
 * Forgets sessions that are over by the settings of their realm, at most so many; gives how many: the rule of `lifespanOf` in
 * service/login/sessions.ts, for all realms in one statement.
 */
export function deleteOverSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const ofSso = (name: string) =>
    sql`coalesce(case when old.remember_me then ${seconds(`${name}RememberMe`)} end, ${seconds(name)})`
  const when = sql`(
    old.refreshed_at < ${now}::timestamptz - make_interval(secs =>
      case when old.offline then ${seconds('offlineSessionIdleTimeout')} else ${ofSso('ssoSessionIdleTimeout')} end)
    or old.started_at < ${now}::timestamptz - make_interval(secs =>
      case when not old.offline then ${ofSso('ssoSessionMaxLifespan')}
        when (r.body ->> 'offlineSessionMaxLifespanEnabled')::boolean then ${seconds('offlineSessionMaxLifespan')} end))`
  return deleteOver(tx, { table: 'user_session', key: ['offline', 'id'], when }, limit)
}
