// Sessions: how long they go on, and how they begin, go on and end.
import { randomUUID } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { secondsOf } from '../../lib/seconds.ts'
import { deleteParts, deleteSessions, type EndedPart } from '../../store/login/session-ends.ts'
import type { SessionFilter, SessionLimits } from '../../store/login/session-filter.ts'
import {
  type ClientSession,
  findSession,
  insertSession,
  putClientSession,
  touchSession,
  type UserSession,
  updateSession,
} from '../../store/login/sessions.ts'
import type { Context } from '../context/context.ts'
import { type Notice, send } from '../messages/outbox.ts'

/** How long something goes on at most, and how long without being used; in seconds, `Infinity` where there is no end. */
export interface Lifespan {
  readonly max: number
  readonly idle: number
}

/** What realms say of the life of sessions. Keycloak: SessionExpirationUtils. */
export function lifespanOf(
  settings: Representation,
  { offline, rememberMe }: Pick<UserSession, 'offline' | 'rememberMe'>,
): Lifespan {
  const seconds = (...names: string[]) =>
    names.map((name) => Number(settings[name] ?? 0)).find((value) => value > 0) ?? Number.POSITIVE_INFINITY
  if (offline) {
    const limited = settings.offlineSessionMaxLifespanEnabled === true
    return {
      max: limited ? seconds('offlineSessionMaxLifespan') : Number.POSITIVE_INFINITY,
      idle: seconds('offlineSessionIdleTimeout'),
    }
  }
  const of = (name: string) => (rememberMe ? seconds(`${name}RememberMe`, name) : seconds(name))
  return { max: of('ssoSessionMaxLifespan'), idle: of('ssoSessionIdleTimeout') }
}

/** When a session ends, unless it is used meanwhile. */
export function endOf(settings: Representation, session: UserSession): Date {
  const { max, idle } = lifespanOf(settings, session)
  return new Date(Math.min(after(session.startedAt, max), after(session.refreshedAt, idle)))
}

/** The limits that sessions of the realm must keep to go on. */
export function limitsOf(settings: Representation, offline: boolean, now: Date): SessionLimits {
  const [plain, remembered] = [false, true].map((rememberMe) => lifespanOf(settings, { offline, rememberMe }))
  return {
    started: before(now, plain!.max),
    refreshed: before(now, plain!.idle),
    rememberedStarted: before(now, remembered!.max),
    rememberedRefreshed: before(now, remembered!.idle),
  }
}

/** The latest time that a Date can hold: what has no end ends then. */
const NEVER = 8.64e15
const after = (time: Date, seconds: number): number => Math.min(time.getTime() + seconds * 1000, NEVER)
const before = (time: Date, seconds: number): Date => new Date(Math.max(time.getTime() - seconds * 1000, 0))

/** What a new session begins with. */
export interface NewSession {
  readonly id?: string
  readonly offline?: boolean
  readonly user: string
  readonly rememberMe?: boolean
  readonly address?: string | undefined
  /** `authTime` in seconds since 1970, `credential` the id of what the user logged in with, `notes` for mappers. */
  readonly body: Representation
}

/** Begins a session. One statement. */
export async function startSession({ tx, realm, now }: Context, session: NewSession): Promise<UserSession> {
  const { id = randomUUID(), offline = false, rememberMe = false, address = null, user, body } = session
  const started = { id, offline, user, startedAt: now, refreshedAt: now, rememberMe, address, body }
  await insertSession(tx, realm.number, started)
  return started
}

/** What is kept of a client's part of a session. */
export interface PartBody {
  /** The scope that was asked for. */
  readonly scope: string
  /** The server's own address, as the client knows it: its tokens name it as their issuer. */
  readonly base: string
  /** Keycloak: the level of authentication that was reached for the client; 0 where an earlier log-in was enough. */
  readonly level?: number
  /** The `claims` and `acr_values` parameters of the request. */
  readonly claims?: string
  readonly acrValues?: string
}

/** Gives a client its part of a session, in the place of the part that it had. One statement. */
export async function joinSession(
  { tx, realm, now }: Context,
  session: UserSession,
  client: string,
  body: PartBody,
): Promise<ClientSession> {
  const part = { client, startedAt: now, refreshedAt: now, body: { ...body } }
  await putClientSession(tx, realm.number, { session, part })
  return part
}

/** The session, with the part of that client, if it goes on by the realm's settings. One statement. */
export async function findGoingOn(
  context: Context,
  settings: Representation,
  which: { readonly id: string; readonly offline: boolean; readonly client?: string; readonly lock?: true },
): Promise<(UserSession & { readonly part?: ClientSession }) | undefined> {
  const found = await findSession(context.tx, context.realm.number, which)
  return found && context.now < endOf(settings, found) ? found : undefined
}

/** Notes that a client used a session. One statement. */
export async function refreshSession(
  { tx, realm, now }: Context,
  session: UserSession,
  part: ClientSession,
): Promise<void> {
  await touchSession(tx, realm.number, { session, client: part.client, now })
}

/** Notes that a session goes on by a log-in, and what it is known by then. One statement. */
export async function renewSession(
  { tx, realm, now }: Context,
  session: UserSession,
  body: Representation,
): Promise<UserSession> {
  await updateSession(tx, realm.number, { session, now, body })
  return { ...session, refreshedAt: now, body }
}

/** Ends sessions, and tells the clients that want to know; gives what clients had of them. One statement, and one per chunk of notices. */
export async function endSessions(context: Context, which: SessionFilter): Promise<EndedPart[]> {
  const ended = await deleteSessions(context.tx, context.realm.number, which)
  const notices = ended.flatMap((part) => logoutNotice(context.now, part))
  if (notices.length) await send(context, ...notices)
  return ended
}

/** For how long an application may wait to hear of it, in seconds. */
const NOTICE_LIFE = 120

/** The notice of an ended session. OpenID Connect Back-Channel Logout 1.0, section 2.4. */
function logoutNotice(now: Date, { session, user, clientId, attributes, body }: EndedPart): Notice[] {
  const url = attributes?.['backchannel.logout.url']
  if (!url) return []
  const iat = secondsOf(now)
  const claims = {
    iat,
    exp: iat + NOTICE_LIFE,
    jti: randomUUID(),
    typ: 'Logout',
    aud: clientId,
    sub: user,
    ...(attributes?.['backchannel.logout.session.required'] !== 'false' && { sid: session }),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  }
  const algorithm = attributes?.['id.token.signed.response.alg']
  const token = {
    name: 'logout_token',
    type: 'logout+jwt',
    base: String(body.base),
    claims,
    ...(algorithm && { algorithm }),
  }
  return [{ kind: 'notice', url, form: {}, token, until: iat + NOTICE_LIFE }]
}

/** Ends a client's parts of sessions, and the sessions of which nobody has a part then: how many parts. One statement. */
export function leaveSessions({ tx, realm }: Context, client: string, which: SessionFilter): Promise<number> {
  return deleteParts(tx, realm.number, { client, which })
}
