// The token endpoint: a password or a refresh token for new tokens. Sessions are not kept: tokens end by their time.
import { randomUUID } from 'node:crypto'
import type { Context } from '../service/context.ts'
import { ServiceError } from '../service/errors.ts'
import { authenticate, findById } from '../service/login.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { stillHas } from '../service/standing.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { endOf, type Grant, secondsOf, tokensOf } from './grant.ts'
import { OAuthError } from './oauth-error.ts'
import { realmOf } from './realm.ts'
import { grantedScopes } from './scopes.ts'
import { type Verified, verifyToken } from './tokens.ts'

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
const noRealm = (): OAuthError => new OAuthError(404, 'Realm does not exist', '')

async function byPassword(context: Context, request: TokenRequest): Promise<Grant> {
  const { realm, client } = await start(context, request)
  if (client.representation.directAccessGrantsEnabled !== true) {
    throw new OAuthError(400, 'unauthorized_client', 'Client not allowed for direct access grants')
  }
  const { username, password } = request.form
  if (!username) throw new OAuthError(401, 'invalid_request', 'Missing parameter: username')
  const scopes = await grantedScopes(context, client, request.form.scope)
  const { loginWithEmailAllowed, duplicateEmailsAllowed } = realm.settings
  const byEmail = loginWithEmailAllowed === true && duplicateEmailsAllowed !== true
  const user = await authenticate(context, username, password ?? '', byEmail)
  if (!user) throw new OAuthError(400, 'invalid_grant', 'Invalid user credentials')
  if (user.body.enabled !== true) throw new OAuthError(400, 'invalid_grant', 'Account disabled')
  if (((user.body.requiredActions ?? []) as string[]).length) {
    throw new OAuthError(400, 'invalid_grant', 'Account is not fully set up')
  }
  const { credential } = user
  return { realm, client, user, scopes, sid: randomUUID(), authTime: secondsOf(realm.now), credential }
}

async function byRefreshToken(context: Context, request: TokenRequest, verified: Verified | undefined): Promise<Grant> {
  const { realm, client } = await start(context, request)
  if (!request.form.refresh_token) throw new OAuthError(400, 'invalid_request', 'No refresh token')
  if (verified?.realm.number !== realm.number) throw new OAuthError(400, 'invalid_grant', 'Invalid refresh token')
  const { sub, azp, scope, sid, iat, auth_time: authTime, credential } = verified.claims
  if (azp !== client.key[0]) {
    const mismatch = "Invalid refresh token. Token client and authorized client don't match"
    throw new OAuthError(400, 'invalid_grant', mismatch)
  }
  const user = await findById(context, String(sub))
  if (!user) throw new OAuthError(400, 'invalid_grant', 'Invalid refresh token')
  if (user.body.enabled !== true) throw new OAuthError(400, 'invalid_grant', 'User disabled')
  if (iat! < Number(client.representation.notBefore ?? 0)) throw new OAuthError(400, 'invalid_grant', 'Stale token')
  // A new password ends what began with the old one.
  const going = authTime !== undefined && credential !== undefined && secondsOf(realm.now) < endOf(realm, authTime)
  if (!going || !(await stillHas(context, user.id, credential))) {
    throw new OAuthError(400, 'invalid_grant', 'Session not active')
  }
  return {
    realm,
    client,
    user,
    scopes: String(scope ?? '')
      .split(' ')
      .filter(Boolean),
    sid: String(sid),
    authTime,
    credential,
  }
}

async function start(context: Context, request: TokenRequest) {
  const realm = await realmOf(context)
  if (realm.settings.enabled !== true) throw new OAuthError(403, 'access_denied', 'Realm not enabled')
  return { realm, client: await authenticateClient(context, request) }
}
