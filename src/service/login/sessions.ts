// User sessions: their lifespan, start, use and end.

import { randomUUID } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { readFlag } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { deleteClientSessions, deleteSessions, type EndedClientSession } from '../../store/login/session-ends.ts'
import type { SessionFilter, SessionLimits } from '../../store/login/session-filter.ts'
import {
  type ClientSession,
  findSession,
  findSessionToRefresh,
  insertSession,
  type SessionKey,
  type SessionToRefresh,
  touchSession,
  type UserSession,
  updateSession,
  upsertClientSession,
} from '../../store/login/sessions.ts'
import { createActionClaims, getActionUrl, listAdminUrls } from '../clients/admin-urls.ts'
import { announceAccessChange } from '../context/access-changes.ts'
import type { Context } from '../context/context.ts'
import { sendWrite } from '../context/send-write.ts'
import { type AdminNotification, type ApplicationNotification, enqueueMessages } from '../messages/outbox.ts'

/** The longest total and idle time of a session, in seconds; `Infinity` if unlimited. */
export interface SessionLifespan {
  readonly max: number
  readonly idle: number
}

/** Returns the lifespan of a session from the realm's settings. Keycloak: SessionExpirationUtils. */
export function getSessionLifespan(
  settings: Representation,
  { offline, rememberMe }: Pick<UserSession, 'offline' | 'rememberMe'>,
): SessionLifespan {
  const seconds = (...names: string[]) =>
    names.map((name) => Number(settings[name] ?? 0)).find((value) => value > 0) ?? Number.POSITIVE_INFINITY
  if (offline) {
    const isLimited = settings.offlineSessionMaxLifespanEnabled === true
    return {
      max: isLimited ? seconds('offlineSessionMaxLifespan') : Number.POSITIVE_INFINITY,
      idle: seconds('offlineSessionIdleTimeout'),
    }
  }
  if (rememberMe)
    return {
      max: seconds('ssoSessionMaxLifespanRememberMe', 'ssoSessionMaxLifespan'),
      idle: seconds('ssoSessionIdleTimeoutRememberMe', 'ssoSessionIdleTimeout'),
    }
  return { max: seconds('ssoSessionMaxLifespan'), idle: seconds('ssoSessionIdleTimeout') }
}

/** Returns the time at which a session ends if it is not used again. */
export function getSessionEnd(settings: Representation, session: UserSession): Date {
  const { max, idle } = getSessionLifespan(settings, session)
  return new Date(Math.min(addSeconds(session.startedAt, max), addSeconds(session.refreshedAt, idle)))
}

/** Returns the earliest start and last use that sessions of the realm may have to be active. */
export function getSessionLimits(settings: Representation, offline: boolean, now: Date): SessionLimits {
  const [regular, remembered] = [false, true].map((rememberMe) => getSessionLifespan(settings, { offline, rememberMe }))
  return {
    started: subtractSeconds(now, regular!.max),
    refreshed: subtractSeconds(now, regular!.idle),
    rememberedStarted: subtractSeconds(now, remembered!.max),
    rememberedRefreshed: subtractSeconds(now, remembered!.idle),
  }
}

/** The latest time that a Date can hold, in milliseconds; unlimited sessions end then. */
const LATEST_TIME = 8.64e15
const addSeconds = (time: Date, seconds: number): number => Math.min(time.getTime() + seconds * 1000, LATEST_TIME)
const subtractSeconds = (time: Date, seconds: number): Date => new Date(Math.max(time.getTime() - seconds * 1000, 0))

/** The values of a session that starts. */
export interface NewSession {
  readonly id?: string
  readonly offline?: boolean
  /** The id of the user. */
  readonly user: string
  readonly rememberMe?: boolean
  readonly address?: string | undefined
  /** `authTime` in seconds since 1970, `credential`: the id of the credential used, and `notes` for mappers. */
  readonly body: Representation
}

/** Starts a session. One statement. */
export async function startSession({ tx, realm, now }: Context, session: NewSession): Promise<UserSession> {
  const { id = randomUUID(), offline = false, rememberMe = false, address = null, user, body } = session
  const started = { id, offline, user, startedAt: now, refreshedAt: now, rememberMe, address, body }
  await insertSession(tx, realm.number, started)
  return started
}

/** The stored data of a client session, which is the part of a user session that belongs to one client. */
export interface ClientSessionBody {
  /** The `scope` parameter of the request. */
  readonly scope: string
  /** The base URL of the server as the client knows it; tokens name it in their issuer. */
  readonly base: string
  /** Keycloak: the level of authentication reached for the client; 0 if an earlier login was sufficient. */
  readonly level?: number
  /** The `claims` and `acr_values` parameters of the request. */
  readonly claims?: string
  readonly acrValues?: string
}

/** Creates or replaces the client session of a client, given by id. One statement. */
export async function addClientSession(
  { tx, realm, now }: Context,
  session: UserSession,
  { client, ...body }: ClientSessionBody & { readonly client: string },
): Promise<ClientSession> {
  const clientSession = { client, startedAt: now, refreshedAt: now, body: { ...body } }
  await upsertClientSession(tx, realm.number, { session, clientSession })
  return clientSession
}

/** Returns an active session, with the client session of `client`; undefined if it has ended. One statement. */
export async function findActiveSession(
  context: Context,
  settings: Representation,
  search: { readonly id: string; readonly offline: boolean; readonly client?: string; readonly lock?: true },
): Promise<(UserSession & { readonly clientSession?: ClientSession }) | undefined> {
  const session = await findSession(context.tx, context.realm.number, search)
  return session && context.now < getSessionEnd(settings, session) ? session : undefined
}

/**
 * Returns an active session with its session of a client, and what decides whether it continues; undefined if it has ended. Locks it. One
 * statement.
 */
export async function findActiveSessionToRefresh(
  context: Context,
  settings: Representation,
  key: SessionKey & { readonly client: string },
): Promise<SessionToRefresh | undefined> {
  const stored = await findSessionToRefresh(context.tx, context.realm.number, key)
  return stored && context.now < getSessionEnd(settings, stored.session) ? stored : undefined
}

/** Records that a client uses a session. One statement, whose response is not awaited. */
export async function refreshSession(context: Context, session: UserSession, { client }: ClientSession): Promise<void> {
  await sendWrite(context, touchSession(context.tx, context.realm.number, { session, client, now: context.now }))
}

/** Records that a login continues a session, and replaces the session's data. Two statements. */
export async function renewSession(context: Context, session: UserSession, body: Representation): Promise<UserSession> {
  const { tx, realm, now } = context
  await updateSession(tx, realm.number, { session, now, body })
  await announceAccessChange(context, session.id)
  return { ...session, refreshedAt: now, body }
}

/**
 * Ends sessions and queues a notification for each client that has a URL for it. Returns the client sessions that
 * ended. Two statements, and one per chunk of notifications.
 */
export async function endSessions(context: Context, filter: SessionFilter): Promise<EndedClientSession[]> {
  const ended = await deleteSessions(context.tx, context.realm.number, filter)
  await announceAccessChange(context, filter.id ?? filter.user)
  const isOfUser = filter.id !== undefined || filter.user !== undefined
  const notifications = ended.flatMap((clientSession) => createLogoutNotifications(context, clientSession, isOfUser))
  if (notifications.length) await enqueueMessages(context, ...notifications)
  return ended
}

/** The time after which a logout notification is not delivered any more, in seconds. */
const NOTIFICATION_LIFESPAN = 120

/** Returns the notifications of a client: at its back-channel logout URL or, as in Keycloak, else at its admin URLs. */
function createLogoutNotifications(
  context: Pick<Context, 'now' | 'realm'>,
  ended: EndedClientSession,
  isOfUser: boolean,
): (ApplicationNotification | AdminNotification)[] {
  const url = ended.attributes?.['backchannel.logout.url']
  if (url) return [createLogoutNotification(context.now, url, ended)]
  // Who ends all sessions of a realm notifies each client once.
  if (!isOfUser) return []
  const { now, realm } = context
  const claims = { now, notBefore: realm.notBefore, sessions: [ended.session] }
  return listAdminUrls(ended).map((adminUrl) => ({
    kind: 'admin',
    url: getActionUrl(adminUrl, 'LOGOUT'),
    claims: createActionClaims('LOGOUT', ended.clientId, claims),
    until: toEpochSeconds(now) + NOTIFICATION_LIFESPAN,
  }))
}

/** Returns the logout token and the URL that it is posted to. OpenID Connect Back-Channel Logout 1.0, section 2.4. */
function createLogoutNotification(
  now: Date,
  url: string,
  { session, user, clientId, attributes, body }: EndedClientSession,
): ApplicationNotification {
  const iat = toEpochSeconds(now)
  const until = iat + NOTIFICATION_LIFESPAN
  const claims = {
    iat,
    exp: until,
    jti: randomUUID(),
    typ: 'Logout',
    aud: clientId,
    sub: user,
    ...(readFlag(attributes?.['backchannel.logout.session.required'], true) && { sid: session }),
    events: {
      'http://schemas.openid.net/event/backchannel-logout': {},
      // Keycloak: the recipient ends its offline sessions, too.
      ...(readFlag(attributes?.['backchannel.logout.revoke.offline.tokens']) && { revoke_offline_access: true }),
    },
  }
  const algorithm = attributes?.['id.token.signed.response.alg']
  const token = {
    name: 'logout_token',
    type: 'logout+jwt',
    base: String(body.base),
    claims,
    ...(algorithm && { algorithm }),
  }
  return { kind: 'notice', url, form: {}, token, until }
}

/** Ends the client sessions of a client, and user sessions that have none left. Returns their number. Two statements. */
export async function endClientSessions(context: Context, client: string, filter: SessionFilter): Promise<number> {
  const ended = await deleteClientSessions(context.tx, context.realm.number, { client, filter })
  await announceAccessChange(context, filter.id ?? filter.user)
  return ended
}
