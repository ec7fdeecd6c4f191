// User sessions and their client sessions, online and offline.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, json, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { sessionColumns } from './session-filter.ts'

/** Describes a stored user session. */
export const userSessionRow = row({
  id: text,
  offline: boolean,
  /** The user's id. */
  user: text,
  startedAt: timestamp,
  refreshedAt: timestamp,
  rememberMe: boolean,
  address: optional(text),
  body: json<Representation>(),
})

/** A stored user session. An offline session has the id of the online session from which it was created. */
export type UserSession = RowOf<typeof userSessionRow>

/** The primary key of a user session in its realm. */
export type SessionKey = Pick<UserSession, 'id' | 'offline'>

const sessionOfClientRow = row({
  ...userSessionRow.columns,
  /** Times in milliseconds since 1970. */
  clientSession: optional(
    json<{
      readonly client: string
      readonly startedAt: number
      readonly refreshedAt: number
      readonly body: Representation
    }>(),
  ),
})

/** The session of a client within a user session. */
export interface ClientSession {
  /** Internal id of the client. */
  readonly client: string
  readonly startedAt: Date
  readonly refreshedAt: Date
  readonly body: Representation
}

/** Inserts a user session, unless there is one with the key. One statement. */
export async function insertSession(tx: Transaction, realm: number, session: UserSession): Promise<void> {
  const { id, offline, user, startedAt, refreshedAt, rememberMe, address, body } = session
  await sql`
    insert into user_session (realm, offline, id, user_account, started_at, refreshed_at, remember_me, address, body)
    values (${realm}, ${offline}, ${id}, ${user}, ${startedAt}, ${refreshedAt}, ${rememberMe}, ${address},
      ${JSON.stringify(body)}::jsonb)
    on conflict do nothing`.execute(tx)
}

/** Inserts or updates a client session. One statement. */
export async function upsertClientSession(
  tx: Transaction,
  realm: number,
  {
    session: { id, offline },
    clientSession: { client, startedAt, refreshedAt, body },
  }: { readonly session: SessionKey; readonly clientSession: ClientSession },
): Promise<void> {
  await sql`
    insert into client_session (realm, offline, session, client, started_at, refreshed_at, body)
    values (${realm}, ${offline}, ${id}, ${client}, ${startedAt}, ${refreshedAt}, ${JSON.stringify(body)}::jsonb)
    on conflict (realm, offline, session, client)
      do update set refreshed_at = excluded.refreshed_at, body = excluded.body`.execute(tx)
}

/** Returns a user session and its session of the client. `lock` locks the user session until the end of the transaction. One statement. */
export async function findSession(
  tx: Transaction,
  realm: number,
  { id, offline, client, lock }: { id: string; offline: boolean; client?: string | undefined; lock?: true },
): Promise<(UserSession & { readonly clientSession?: ClientSession }) | undefined> {
  const row = await query(sessionOfClientRow)`
    select ${sessionColumns}, case when c.client is not null then jsonb_build_object('client', c.client, 'body', c.body,
      'startedAt', extract(epoch from c.started_at) * 1000, 'refreshedAt', extract(epoch from c.refreshed_at) * 1000) end as "clientSession"
    from user_session s
    left join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client ?? null}
    where s.realm = ${realm} and s.offline = ${offline} and s.id = ${id}
    ${lock ? sql`for update of s` : sql``}`.first(tx)
  if (!row) return undefined
  const { clientSession, ...session } = row
  return clientSession
    ? {
        ...session,
        clientSession: {
          ...clientSession,
          startedAt: new Date(clientSession.startedAt),
          refreshedAt: new Date(clientSession.refreshedAt),
        },
      }
    : session
}

/** Updates a user session after its use. One statement. */
export async function updateSession(
  tx: Transaction,
  realm: number,
  {
    session: { id, offline },
    now,
    body,
  }: { readonly session: SessionKey; readonly now: Date; readonly body: Representation },
): Promise<void> {
  await sql`
    update user_session set refreshed_at = ${now}, body = ${JSON.stringify(body)}::jsonb
    where realm = ${realm} and offline = ${offline} and id = ${id}`.execute(tx)
}

/** Sets the time at which a client session, and so its user session, was last used. One statement. */
export async function touchSession(
  tx: Transaction,
  realm: number,
  {
    session: { id, offline },
    client,
    now,
  }: { readonly session: SessionKey; readonly client: string; readonly now: Date },
): Promise<void> {
  await sql`
    with used as (
      update user_session set refreshed_at = ${now}
      where realm = ${realm} and offline = ${offline} and id = ${id}
    )
    update client_session set refreshed_at = ${now}
    where realm = ${realm} and offline = ${offline} and session = ${id} and client = ${client}`.execute(tx)
}
