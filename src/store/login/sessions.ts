// Sessions: who is logged in since when, and with which clients. Offline sessions are the same, with a life of their own.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, json, optional, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { sessionColumns } from './session-filter.ts'

/** Describes a session as it is kept. */
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

/** A session of a user as it is kept. An offline session has the id of the session that it came from. */
export type UserSession = RowOf<typeof userSessionRow>

/** The primary key of a session in its realm. */
export type SessionKey = Pick<UserSession, 'id' | 'offline'>

const sessionWithPartRow = row({
  ...userSessionRow.columns,
  /** Times in milliseconds since 1970. */
  part: optional(
    json<{
      readonly client: string
      readonly startedAt: number
      readonly refreshedAt: number
      readonly body: Representation
    }>(),
  ),
})

/** What a client has of a session. */
export interface ClientSession {
  /** The client's id. */
  readonly client: string
  readonly startedAt: Date
  readonly refreshedAt: Date
  readonly body: Representation
}

/** Keeps a session; what is kept already under its id is left as it is. One statement. */
export async function insertSession(tx: Transaction, realm: number, session: UserSession): Promise<void> {
  const { id, offline, user, startedAt, refreshedAt, rememberMe, address, body } = session
  await sql`
    insert into user_session (realm, offline, id, user_account, started_at, refreshed_at, remember_me, address, body)
    values (${realm}, ${offline}, ${id}, ${user}, ${startedAt}, ${refreshedAt}, ${rememberMe}, ${address},
      ${JSON.stringify(body)}::jsonb)
    on conflict do nothing`.execute(tx)
}

/** Keeps what a client has of a session, in the place of what it had. One statement. */
export async function putClientSession(
  tx: Transaction,
  realm: number,
  {
    session: { id, offline },
    part: { client, startedAt, refreshedAt, body },
  }: { readonly session: SessionKey; readonly part: ClientSession },
): Promise<void> {
  await sql`
    insert into client_session (realm, offline, session, client, started_at, refreshed_at, body)
    values (${realm}, ${offline}, ${id}, ${client}, ${startedAt}, ${refreshedAt}, ${JSON.stringify(body)}::jsonb)
    on conflict (realm, offline, session, client)
      do update set refreshed_at = excluded.refreshed_at, body = excluded.body`.execute(tx)
}

/** A session with what the client has of it, both locked until the end of the transaction where they will be changed. One statement. */
export async function findSession(
  tx: Transaction,
  realm: number,
  { id, offline, client, lock }: { id: string; offline: boolean; client?: string | undefined; lock?: true },
): Promise<(UserSession & { readonly part?: ClientSession }) | undefined> {
  const found = await rows(sessionWithPartRow)`
    select ${sessionColumns}, case when c.client is not null then jsonb_build_object('client', c.client, 'body', c.body,
      'startedAt', extract(epoch from c.started_at) * 1000, 'refreshedAt', extract(epoch from c.refreshed_at) * 1000) end as part
    from user_session s
    left join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client ?? null}
    where s.realm = ${realm} and s.offline = ${offline} and s.id = ${id}
    ${lock ? sql`for update of s` : sql``}`.first(tx)
  if (!found) return undefined
  const { part, ...session } = found
  return part
    ? { ...session, part: { ...part, startedAt: new Date(part.startedAt), refreshedAt: new Date(part.refreshedAt) } }
    : session
}

/** Notes that a session was used, and what is known of it then. One statement. */
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

/** Notes that a client used its part of a session. One statement. */
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
