// What a grant becomes: tokens, each for its time, and none that outlives its session.
import { createHash, randomUUID } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { secondsOf } from '../../lib/seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import type { ClientSession, UserSession } from '../../service/context/store-types.ts'
import { endOf, lifespanOf } from '../../service/login/sessions.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { algorithmFor, INTERNAL_ALGORITHM } from '../algorithms.ts'
import type { ClientCall, Endpoint } from '../call.ts'
import type { Granted } from '../grants/grant.ts'
import { issuerOf, type TokenRealm } from '../realm.ts'
import { type Claims, type Subject, tokenContent } from './token-content.ts'
import { notedIn } from './token-subject.ts'
import { signToken } from './tokens.ts'

/** The answer to a request that was granted: its tokens. */
export async function tokenResponse(
  { service, base }: Pick<Endpoint, 'service' | 'base'>,
  { realm, client }: Pick<ClientCall, 'realm' | 'client'>,
  granted: Granted,
): Promise<Record<string, unknown>> {
  const { user, session, part } = granted
  const subject: Subject = {
    ...{ base, realm, client, user, scopes: granted.scopes, nonce: granted.nonce, notes: granted.sessionNotes },
    ...(session && notedIn(session, part?.body)),
  }
  const content = await service.read(SYSTEM, realm, (context) =>
    tokenContent(service, context, subject, ['accessToken', 'idToken', 'response']),
  )
  const now = secondsOf(realm.now)
  const lifespan = accessLifespan(realm, client, session)
  const [exp, iss] = [now + lifespan, issuerOf(base, realm.name)]
  const issuedTo = { client: client.id, ...(session ? { session: session.id } : { user: user.id }) }
  const sign = (typ: string, claims: Claims, algorithm: string) =>
    signToken(service, realm, { claims: { ...claims, iat: now, jti: randomUUID(), iss, typ }, algorithm, issuedTo })
  const claims = content.claims('accessToken')
  const { lasting = content.scopes } = granted
  const algorithm = (what: 'access' | 'id') => algorithmFor(realm.settings, client.representation, what)
  const access = await sign('Bearer', { ...claims, exp }, algorithm('access'))
  const identity = { ...content.claims('idToken'), exp, at_hash: halfHash(access, algorithm('id')) }
  const refresh = session && part && givesRefresh(client) ? refreshToken(realm, client, session, part) : undefined
  // Keycloak: a refresh token names the user as the access token does, and every word of the scope.
  const going = {
    aud: iss,
    ...(claims.sub !== undefined && { sub: claims.sub }),
    azp: client.key[0],
    sid: session?.id,
    scope: lasting.join(' '),
    ...refresh,
  }
  // Mappers add members; these are the server's own, also where there are none.
  const { refresh_token: _, id_token: __, session_state: ___, ...added } = content.claims('response')
  return {
    ...added,
    access_token: access,
    expires_in: lifespan,
    refresh_expires_in: refresh?.exp === undefined ? 0 : refresh.exp - now,
    ...(refresh && { refresh_token: await sign(refresh.typ, going, INTERNAL_ALGORITHM) }),
    token_type: 'Bearer',
    ...(lasting.includes('openid') && { id_token: await sign('ID', identity, algorithm('id')) }),
    'not-before-policy': Math.max(Number(realm.settings.notBefore ?? 0), Number(user.body.notBefore ?? 0)),
    ...(session && { session_state: session.id }),
    scope: content.scope,
  }
}

/** OpenID Connect Core, section 3.1.3.6: the first half of a digest, of the size that the signature's algorithm has. */
function halfHash(token: string, algorithm: string): string {
  const size = algorithm === 'EdDSA' ? '512' : algorithm.slice(-3)
  const digest = createHash(`sha${size}`).update(token).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
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
export function accessLifespan(realm: TokenRealm, client: LiveObject, session: UserSession | undefined): number {
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
