// The token endpoint: a password or a refresh token for new tokens. Sessions are not kept: tokens end by their time.
import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Context } from '../service/context.ts'
import { ServiceError } from '../service/errors.ts'
import type { LiveObject } from '../service/live.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { authenticate, findById, type StoredUser } from '../service/users.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { OAuthError } from './oauth-error.ts'
import { issuerOf, realmOf, type TokenRealm } from './realm.ts'
import { grantedScopes } from './scopes.ts'
import { signToken, type Verified, verifyToken } from './tokens.ts'

/** What a grant gives: whose tokens, for which client, since which log-in. */
interface Grant {
  readonly realm: TokenRealm
  readonly client: LiveObject
  readonly user: StoredUser
  readonly scopes: readonly string[]
  readonly sid: string
}

type GrantType = (context: Context, request: TokenRequest, refresh: Verified | undefined) => Promise<Grant>

const grants: Readonly<Record<string, GrantType>> = { password: byPassword, refresh_token: byRefreshToken }

/** The grant types that there are. */
export const grantTypes = Object.keys(grants)

/** Answers a token request. Throws OAuthError. Statements: seven at most. */
export async function issueTokens(
  service: Service,
  base: string,
  realm: string,
  request: TokenRequest,
): Promise<Record<string, unknown>> {
  const type = request.form.grant_type
  if (!type) throw new OAuthError(400, 'invalid_request', 'Missing form parameter: grant_type')
  const grant = Object.hasOwn(grants, type) ? grants[type] : undefined
  if (!grant) throw new OAuthError(400, 'unsupported_grant_type', 'Unsupported grant_type')
  const { refresh_token: token } = request.form
  const refresh = type === 'refresh_token' && token ? await verifyToken(service, token, 'Refresh') : undefined
  const granted = await inRealm(service, realm, (context) => grant(context, request, refresh))
  return tokensOf(service, base, granted)
}

/** Runs the work in a realm that people can log in to. Throws OAuthError. */
export async function inRealm<T>(service: Service, realm: string, work: (context: Context) => Promise<T>): Promise<T> {
  try {
    return await service.read(SYSTEM, realm, work)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') throw noRealm()
    throw error
  }
}

/** Keycloak: what it says of a realm that does not exist, outside of administration. */
export const noRealm = (): OAuthError => new OAuthError(404, 'Realm does not exist', '')

async function byPassword(context: Context, request: TokenRequest): Promise<Grant> {
  const { realm, client } = await start(context, request)
  if (client.representation.directAccessGrantsEnabled !== true) {
    throw new OAuthError(400, 'unauthorized_client', 'Client not allowed for direct access grants')
  }
  const { username, password } = request.form
  if (!username) throw new OAuthError(401, 'invalid_request', 'Missing parameter: username')
  const scopes = await grantedScopes(context, client, request.form.scope)
  const user = await authenticate(context, username, password ?? '')
  if (!user) throw new OAuthError(400, 'invalid_grant', 'Invalid user credentials')
  if (user.body.enabled !== true) throw new OAuthError(400, 'invalid_grant', 'Account disabled')
  if (((user.body.requiredActions ?? []) as string[]).length) {
    throw new OAuthError(400, 'invalid_grant', 'Account is not fully set up')
  }
  return { realm, client, user, scopes, sid: randomUUID() }
}

async function byRefreshToken(context: Context, request: TokenRequest, verified: Verified | undefined): Promise<Grant> {
  const { realm, client } = await start(context, request)
  if (!request.form.refresh_token) throw new OAuthError(400, 'invalid_request', 'No refresh token')
  if (verified?.realm.id !== realm.id) throw new OAuthError(400, 'invalid_grant', 'Invalid refresh token')
  const { sub, azp, scope, sid } = verified.claims
  if (azp !== client.key[0]) {
    const mismatch = "Invalid refresh token. Token client and authorized client don't match"
    throw new OAuthError(400, 'invalid_grant', mismatch)
  }
  const user = await findById(context, String(sub))
  if (!user) throw new OAuthError(400, 'invalid_grant', 'Invalid refresh token')
  if (user.body.enabled !== true) throw new OAuthError(400, 'invalid_grant', 'User disabled')
  return {
    realm,
    client,
    user,
    scopes: String(scope ?? '')
      .split(' ')
      .filter(Boolean),
    sid: String(sid),
  }
}

async function start(context: Context, request: TokenRequest) {
  const realm = await realmOf(context)
  if (realm.settings.enabled !== true) throw new OAuthError(403, 'access_denied', 'Realm not enabled')
  return { realm, client: await authenticateClient(context, request) }
}

async function tokensOf(service: Service, base: string, grant: Grant): Promise<Record<string, unknown>> {
  const { realm, client, user, scopes, sid } = grant
  const now = Math.floor(realm.now.getTime() / 1000)
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const lifespan = Number(attributes['access.token.lifespan'] ?? realm.settings.accessTokenLifespan)
  const refreshLifespan = Number(realm.settings.ssoSessionIdleTimeout)
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
  const refresh = { ...common('Refresh', now + refreshLifespan), aud: issuerOf(base, realm.name) }
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
