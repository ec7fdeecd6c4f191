// What a grant becomes: tokens, each for its time, and none that outlives what began with the log-in.
import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { LiveObject } from '../service/live.ts'
import type { StoredUser } from '../service/login.ts'
import type { Service } from '../service/service.ts'
import { issuerOf, type TokenRealm } from './realm.ts'
import { signToken } from './tokens.ts'

/** What a grant gives: whose tokens, for which client, since which log-in. */
export interface Grant {
  readonly realm: TokenRealm
  readonly client: LiveObject
  readonly user: StoredUser
  readonly scopes: readonly string[]
  readonly sid: string
  /** When the user logged in, in seconds since 1970, and with which credential. */
  readonly authTime: number
  readonly credential: string
}

/** A time as tokens have it. */
export const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000)

/** When what began with a log-in ends, however often it is refreshed. */
export const endOf = ({ settings }: TokenRealm, authTime: number): number =>
  authTime + Number(settings.ssoSessionMaxLifespan ?? Number.POSITIVE_INFINITY)

/** The answer to a request that was granted: its tokens. */
export async function tokensOf(service: Service, base: string, grant: Grant): Promise<Record<string, unknown>> {
  const { realm, client, user, scopes, sid, authTime, credential } = grant
  const now = secondsOf(realm.now)
  const left = endOf(realm, authTime) - now
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const lifespan = Math.min(left, Number(attributes['access.token.lifespan'] ?? realm.settings.accessTokenLifespan))
  const refreshLifespan = Math.min(left, Number(realm.settings.ssoSessionIdleTimeout))
  const common = (typ: string, exp: number): JWTPayload => ({
    exp,
    iat: now,
    jti: randomUUID(),
    iss: issuerOf(base, realm.name),
    sub: user.id,
    typ,
    azp: client.key[0],
    sid,
    scope: scopes.join(' '),
  })
  const refresh = {
    ...common('Refresh', now + refreshLifespan),
    aud: issuerOf(base, realm.name),
    auth_time: authTime,
    credential,
  }
  const identity = { ...common('ID', now + lifespan), aud: client.key[0], ...profile(user) } as JWTPayload
  return {
    access_token: await signToken(service, realm, { ...common('Bearer', now + lifespan), ...profile(user) }),
    expires_in: lifespan,
    refresh_expires_in: refreshLifespan,
    refresh_token: await signToken(service, realm, refresh),
    token_type: 'Bearer',
    ...(scopes.includes('openid') && { id_token: await signToken(service, realm, identity) }),
    'not-before-policy': realm.settings.notBefore ?? 0,
    session_state: sid,
    scope: scopes.join(' '),
  }
}

function profile({ username, email, body }: StoredUser): Record<string, unknown> {
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
