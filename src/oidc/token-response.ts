// What a grant becomes: tokens, each for its time, and none that outlives its session.
import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Representation } from '../kinds/kind.ts'
import type { LiveObject } from '../service/live.ts'
import type { StoredUser } from '../service/login.ts'
import type { Service } from '../service/service.ts'
import { type ClientSession, endOf, lifespanOf, type UserSession } from '../service/sessions.ts'
import { algorithmFor, INTERNAL_ALGORITHM } from './algorithms.ts'
import type { Granted } from './grants/grant.ts'
import { issuerOf, secondsOf, type TokenRealm } from './realm.ts'
import { signToken } from './tokens.ts'

/** The answer to a request that was granted: its tokens. */
export async function tokenResponse(
  service: Service,
  base: string,
  realm: TokenRealm,
  client: LiveObject,
  granted: Granted,
): Promise<Record<string, unknown>> {
  const { user, scopes, session, part, nonce } = granted
  const now = secondsOf(realm.now)
  const lifespan = accessLifespan(realm, client, session)
  const issuer = issuerOf(base, realm.name)
  const sid = session && { sid: session.id }
  const common = (typ: string): JWTPayload => ({
    iat: now,
    jti: randomUUID(),
    iss: issuer,
    sub: user.id,
    typ,
    azp: client.key[0],
    ...sid,
    scope: scopes.join(' '),
  })
  const exp = now + lifespan
  const algorithm = (what: 'access' | 'id') => algorithmFor(realm.settings, client.representation, what)
  const identity = { ...common('ID'), exp, aud: client.key[0], ...(nonce && { nonce }), ...profile(user) } as JWTPayload
  const refresh = session && part && givesRefresh(client) ? refreshToken(realm, client, session, part) : undefined
  return {
    access_token: await signToken(service, realm, { ...common('Bearer'), exp, ...profile(user) }, algorithm('access')),
    expires_in: lifespan,
    refresh_expires_in: refresh?.exp === undefined ? 0 : refresh.exp - now,
    ...(refresh && {
      refresh_token: await signToken(
        service,
        realm,
        { ...common(refresh.typ), ...refresh, aud: issuer },
        INTERNAL_ALGORITHM,
      ),
    }),
    token_type: 'Bearer',
    ...(scopes.includes('openid') && { id_token: await signToken(service, realm, identity, algorithm('id')) }),
    'not-before-policy': Math.max(Number(realm.settings.notBefore ?? 0), Number(user.body.notBefore ?? 0)),
    ...(session && { session_state: session.id }),
    scope: scopes.join(' '),
  }
}

/** When a client's part of a session ends, unless it is used meanwhile. Keycloak: SessionExpirationUtils. */
export function partEnd(
  settings: Representation,
  client: LiveObject,
  session: UserSession,
  { startedAt, refreshedAt }: ClientSession,
): Date {
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const limit = (attribute: string, setting: string) => Number(attributes[attribute] || settings[setting] || 0)
  const [max, idle] = session.offline
    ? [
        settings.offlineSessionMaxLifespanEnabled === true
          ? limit('client.offline.session.max.lifespan', 'clientOfflineSessionMaxLifespan')
          : 0,
        limit('client.offline.session.idle.timeout', 'clientOfflineSessionIdleTimeout'),
      ]
    : [
        limit('client.session.max.lifespan', 'clientSessionMaxLifespan'),
        limit('client.session.idle.timeout', 'clientSessionIdleTimeout'),
      ]
  const ends = [endOf(settings, session).getTime()]
  if (max > 0) ends.push(startedAt.getTime() + max * 1000)
  if (idle > 0) ends.push(refreshedAt.getTime() + idle * 1000)
  return new Date(Math.min(...ends))
}

/** How long an access token lives, in seconds. */
function accessLifespan(realm: TokenRealm, client: LiveObject, session: UserSession | undefined): number {
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const stated = Number(attributes['access.token.lifespan'] || realm.settings.accessTokenLifespan)
  if (!session) return stated
  const { max } = lifespanOf(realm.settings, session)
  return Math.floor(Math.min(stated, session.startedAt.getTime() / 1000 + max - realm.now.getTime() / 1000))
}

/** What a refresh token says of itself. Keycloak: one of an offline session has no end where such sessions have none. */
function refreshToken(realm: TokenRealm, client: LiveObject, session: UserSession, part: ClientSession) {
  const used = { ...part, refreshedAt: realm.now }
  const end = partEnd(realm.settings, client, { ...session, refreshedAt: realm.now }, used)
  const endless = session.offline && realm.settings.offlineSessionMaxLifespanEnabled !== true
  return { typ: session.offline ? 'Offline' : 'Refresh', ...(!endless && { exp: secondsOf(end) }) }
}

function givesRefresh({ representation }: LiveObject): boolean {
  const attributes = (representation.attributes ?? {}) as Record<string, string>
  return attributes['use.refresh.tokens'] !== 'false'
}

/** What a token says of its user. */
export function profile({ username, email, body }: StoredUser): Record<string, unknown> {
  const { firstName, lastName, emailVerified = false } = body
  const name = [firstName, lastName].filter((part) => typeof part === 'string').join(' ')
  return {
    email_verified: emailVerified,
    ...(name && { name }),
    preferred_username: username,
    ...(firstName !== undefined && { given_name: firstName }),
    ...(lastName !== undefined && { family_name: lastName }),
    ...(email !== null && { email }),
  }
}
