// Sessions: who is logged in since when, and with which clients. Offline sessions are the same, with a life of their own.
import { sql } from 'kysely'
import type { Representation } from '../kinds/kind.ts'
import type { Transaction } from './database.ts'

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

/** When sessions that still go on must have begun and been used last; those that are remembered, and the others. */
export interface SessionLimits {
  readonly started: Date
  readonly refreshed: Date
  readonly rememberedStarted: Date
  readonly rememberedRefreshed: Date
}

const userColumns = sql`
  s.id, s.offline, s.user_account as "user", s.started_at as "startedAt", s.refreshed_at as "refreshedAt",
  s.remember_me as "rememberMe", s.address, s.body`

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
    select ${userColumns}, case when c.client is not null then jsonb_build_object('client', c.client, 'body', c.body,
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

/** Which sessions are meant: those of an id, a user, a client, or all of the realm. */
export interface SessionFilter {
  readonly id?: string
  readonly user?: string
  readonly client?: string
  readonly offline?: boolean
}

function chosen(realm: number, { id, user, client, offline }: SessionFilter) {
  return sql`s.realm = ${realm}
    ${id === undefined ? sql`` : sql`and s.id = ${id}`}
    ${user === undefined ? sql`` : sql`and s.user_account = ${user}`}
    ${offline === undefined ? sql`` : sql`and s.offline = ${offline}`}
    ${
      client === undefined
        ? sql``
        : sql`and exists (select from client_session c
            where c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client})`
    }`
}

function goingOn({ started, refreshed, rememberedStarted, rememberedRefreshed }: SessionLimits) {
  return sql`case when s.remember_me
    then s.started_at > ${rememberedStarted} and s.refreshed_at > ${rememberedRefreshed}
    else s.started_at > ${started} and s.refreshed_at > ${refreshed} end`
}

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
    select ${userColumns}, u.username,
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

/** What ended with a session at a client. */
export interface EndedPart {
  readonly session: string
  readonly user: string
  readonly offline: boolean
  /** The client's id, name and attributes. */
  readonly client: string
  readonly clientId: string
  readonly attributes: Readonly<Record<string, string>> | null
  /** Whether the client wants to be told through the browser. */
  readonly frontchannel: boolean
  readonly body: Representation
}

/** Ends sessions, and tells what the clients had of them. One statement. */
export async function deleteSessions(tx: Transaction, realm: number, filter: SessionFilter): Promise<EndedPart[]> {
  const { rows } = await sql<EndedPart>`
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
    select * from parts`.execute(tx)
  return rows
}

/** Ends what a client has of sessions; a session that no client has any more ends as well. One statement. */
export async function deleteParts(
  tx: Transaction,
  realm: number,
  client: string,
  { id, user, offline }: SessionFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with ended as (
      delete from client_session c using user_session s
      where c.realm = ${realm} and s.realm = c.realm and s.offline = c.offline and s.id = c.session
        and c.client = ${client} and ${chosen(realm, { ...(id && { id }), ...(user && { user }), ...(offline !== undefined && { offline }) })}
      returning c.offline, c.session
    ), emptied as (
      delete from user_session s using ended e
      where s.realm = ${realm} and s.offline = e.offline and s.id = e.session and not exists (
        select from client_session c where c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client <> ${client})
    )
    select count(*)::integer as count from ended`.execute(tx)
  return rows[0]!.count
}

/** A number of seconds among the settings of realm `r`; null where it says that there is no limit. */
const seconds = (name: string) => sql`nullif((r.body ->> ${sql.lit(name)})::double precision, 0)`

/** Forgets sessions that are over by the settings of their realm, at most so many; gives how many. One statement. */
export async function deleteOverSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const ofSso = (name: string) =>
    sql`coalesce(case when old.remember_me then ${seconds(`${name}RememberMe`)} end, ${seconds(name)})`
  const { numAffectedRows } = await sql`
    delete from user_session s using (
      select old.realm, old.offline, old.id
      from realm r join user_session old on old.realm = r.number and (
        old.refreshed_at < ${now}::timestamptz - make_interval(secs =>
          case when old.offline then ${seconds('offlineSessionIdleTimeout')} else ${ofSso('ssoSessionIdleTimeout')} end)
        or old.started_at < ${now}::timestamptz - make_interval(secs =>
          case when not old.offline then ${ofSso('ssoSessionMaxLifespan')}
            when (r.body ->> 'offlineSessionMaxLifespanEnabled')::boolean then ${seconds('offlineSessionMaxLifespan')} end))
      limit ${limit} for update of old skip locked
    ) gone
    where s.realm = gone.realm and s.offline = gone.offline and s.id = gone.id`.execute(tx)
  return Number(numAffectedRows)
}
