// Sessions: who is logged in since when, and with which clients. Offline sessions are the same, with a life of their own.
import { sql } from 'kysely'
import type { Representation } from '../kinds/kind.ts'
import type { Transaction } from './database.ts'
import { sessionColumns } from './session-filter.ts'

/** A session of a user as it is kept. An offline session has the id of the session that it came from. */
export interface UserSession {
  readonly id: string
  readonly offline: boolean
  /** The user's id. */
  readonly user: string
  readonly startedAt: Date
  readonly refreshedAt: Date
  readonly rememberMe: boolean
  readonly address: string | null
  readonly body: Representation
}

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
  { id, offline }: Pick<UserSession, 'id' | 'offline'>,
  { client, startedAt, refreshedAt, body }: ClientSession,
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
  const { rows } = await sql<UserSession & { part: ClientSession | null }>`
    select ${sessionColumns}, case when c.client is not null then jsonb_build_object('client', c.client, 'body', c.body,
      'startedAt', extract(epoch from c.started_at) * 1000, 'refreshedAt', extract(epoch from c.refreshed_at) * 1000) end as part
    from user_session s
    left join client_session c on c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client ?? null}
    where s.realm = ${realm} and s.offline = ${offline} and s.id = ${id}
    ${lock ? sql`for update of s` : sql``}`.execute(tx)
  const [found] = rows
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
  { id, offline }: Pick<UserSession, 'id' | 'offline'>,
  now: Date,
  body: Representation,
): Promise<void> {
  await sql`
    update user_session set refreshed_at = ${now}, body = ${JSON.stringify(body)}::jsonb
    where realm = ${realm} and offline = ${offline} and id = ${id}`.execute(tx)
}

/** Notes that a client used its part of a session. One statement. */
export async function touchSession(
  tx: Transaction,
  realm: number,
  { id, offline }: Pick<UserSession, 'id' | 'offline'>,
  client: string,
  now: Date,
): Promise<void> {
  await sql`
    with used as (
      update user_session set refreshed_at = ${now}
      where realm = ${realm} and offline = ${offline} and id = ${id}
    )
    update client_session set refreshed_at = ${now}
    where realm = ${realm} and offline = ${offline} and session = ${id} and client = ${client}`.execute(tx)
}
