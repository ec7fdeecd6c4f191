// User sessions and their client sessions, online and offline.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { bigint, boolean, json, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildRevision } from '../journal/journal.ts'
import type { StoredUser } from '../users/users.ts'
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

/** The session of a client as statements return it. Times are in milliseconds since 1970. */
interface StoredClientSession {
  readonly client: string
  readonly startedAt: number
  readonly refreshedAt: number
  readonly body: Representation
}

const sessionOfClientRow = row({ ...userSessionRow.columns, clientSession: optional(json<StoredClientSession>()) })

const clientSessionColumn = sql`case when c.client is not null then jsonb_build_object('client', c.client, 'body', c.body,
      'startedAt', extract(epoch from c.started_at) * 1000, 'refreshedAt', extract(epoch from c.refreshed_at) * 1000) end as "clientSession"`
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
    select ${sessionColumns}, ${clientSessionColumn}
    from user_session s
    left join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client ?? null}
    where s.realm = ${realm} and s.offline = ${offline} and s.id = ${id}
    ${lock ? sql`for update of s` : sql``}`.first(tx)
  if (!row) return undefined
  const { clientSession, ...session } = row
  return clientSession ? { ...session, clientSession: toClientSession(clientSession) } : session
}

function toClientSession(stored: StoredClientSession): ClientSession {
  return { ...stored, startedAt: new Date(stored.startedAt), refreshedAt: new Date(stored.refreshedAt) }
}

const sessionToRefreshRow = row({
  ...sessionOfClientRow.columns,
  /** Null if the user is deleted. */
  account: optional(json<StoredUser>()),
  /** Whether the user still has the credential that the session was started with. */
  hasCredential: boolean,
  /** Number of the last entry of the realm's configuration journal. */
  revision: bigint,
})

/** A user session, its session of a client, and what decides whether it continues. */
export interface SessionToRefresh {
  readonly session: UserSession
  readonly clientSession: ClientSession
  readonly account: StoredUser | null
  readonly hasCredential: boolean
  readonly revision: number
}

/** Returns a user session and its session of the client, and locks the user session until the end of the transaction. One statement. */
export async function findSessionToRefresh(
  tx: Transaction,
  realm: number,
  { id, offline, client }: SessionKey & { readonly client: string },
): Promise<SessionToRefresh | undefined> {
  const row = await query(sessionToRefreshRow)`
    select ${sessionColumns}, ${clientSessionColumn}, ${buildRevision(sql`${realm}`)} as revision,
      (select jsonb_build_object('id', u.id, 'username', u.username, 'email', u.email,
          'serviceAccountClient', u.service_account_client, 'body', u.body)
        from user_account u where u.realm = ${realm} and u.id = s.user_account) as account,
      s.body ->> 'credential' is null or exists (
        select from credential k where k.realm = ${realm} and k.user_account = s.user_account and k.id = s.body ->> 'credential'
      ) as "hasCredential"
    from user_session s
    left join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client}
    where s.realm = ${realm} and s.offline = ${offline} and s.id = ${id}
    for update of s`.first(tx)
  if (!row?.clientSession) return undefined
  const { clientSession, account, hasCredential, revision, ...session } = row
  return { session, clientSession: toClientSession(clientSession), account, hasCredential, revision }
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
