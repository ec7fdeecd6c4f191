// Refresh tokens, with rotation and detection of reuse. RFC 6749, section 6; RFC 9700, section 4.14.
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { Context, RuntimeContext } from '../../service/context/context.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { recordKeyUse } from '../../service/context/single-use.ts'
import type { StoredUser } from '../../service/context/store-types.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { endClientSessions, findActiveSession, refreshSession } from '../../service/login/sessions.ts'
import { hasUserCredential } from '../../service/login/token-status.ts'
import { OAuthError } from '../oauth-error.ts'
import { readSessionData } from '../session-data.ts'
import { addDefaultScopes, limitScopes, parseScope, resolveScopes } from '../tokens/scopes.ts'
import { type ClientSessionPair, getClientSessionEnd } from '../tokens/token-response.ts'
import { type VerifiedToken, verifyToken } from '../tokens/tokens.ts'
import { viewClient, viewStoredUser } from '../views.ts'
import type { GrantHandler, GrantRequest } from './grant.ts'

/** The `exp` claim of refresh tokens without an end, in seconds since 1970. */
const NO_EXPIRATION = 4e9

/** Issues new tokens of the session of a refresh token. */
export const grantByRefreshToken: GrantHandler = async (request) => {
  const { service, realm, client, form, event } = request
  if (!form.refresh_token) throw new OAuthError(400, 'invalid_request', { description: 'No refresh token' })
  const requested = await service.read(SYSTEM, realm, (context) => resolveScopes(context, client, form.scope))
  const token = await verifyRefreshToken(request, form.refresh_token)
  const { iat = 0, scope } = token.claims
  const refreshScopes = parseScope(scope)
  return service.writeRuntime(SYSTEM, realm, async (context) => {
    const pair = await getSession(context, request, token)
    const user = await getUser(context, request, { token, pair })
    await checkSessionActive(context, request, { user, pair })
    await checkReuse(context, request, token)
    await refreshSession(context, pair.session, pair.clientSession)
    event.details.age_of_refresh_token = String(toEpochSeconds(context.now) - iat)
    // Keycloak: client scopes that were assigned after the token was issued are left out.
    const scopes = form.scope ? limitScopes(client, refreshScopes, requested) : addDefaultScopes(client, refreshScopes)
    const session = { ...pair.session, refreshedAt: context.now }
    return { user, scopes, refreshScopes, session, clientSession: pair.clientSession }
  })
}

/** Verifies a refresh token, and adds it to the event. */
async function verifyRefreshToken(
  { service, realm, client, event }: GrantRequest,
  text: string,
): Promise<VerifiedToken> {
  const token = await verifyToken(service, text, { types: ['Refresh', 'Offline'], realm })
  if (token?.realm.number !== realm.number) throw createError('Invalid refresh token')
  if (token.issuedTo.client !== client.id)
    throw createError("Invalid refresh token. Token client and authorized client don't match")
  const { sub, jti = '', typ } = token.claims
  event.session = token.issuedTo.session ?? ''
  Object.assign(event.details, {
    refresh_token_id: jti,
    refresh_token_type: typ,
    refresh_token_sub: sub === undefined ? undefined : String(sub),
  })
  return token
}

async function getSession(
  context: Context,
  { realm, client }: GrantRequest,
  { claims, issuedTo }: VerifiedToken,
): Promise<ClientSessionPair> {
  const offline = claims.typ === 'Offline'
  const id = issuedTo.session ?? ''
  const active = await findActiveSession(context, realm.settings, { id, offline, client: client.id, lock: true })
  if (!active?.clientSession) throw createEndedError(offline)
  const { clientSession, ...session } = active
  return { session, clientSession }
}

/** Returns the user of the session; the `sub` claim may have been written by a mapper. */
async function getUser(
  context: Context,
  { client }: GrantRequest,
  { token, pair }: { readonly token: VerifiedToken; readonly pair: ClientSessionPair },
): Promise<StoredUser> {
  const user = await findUserById(context, pair.session.user)
  if (!user) throw createError('Invalid refresh token')
  const { enabled, notBefore = 0 } = viewStoredUser(user)
  if (enabled !== true) throw createError('User disabled')
  if ((token.claims.iat ?? 0) < Math.max(viewClient(client).notBefore ?? 0, notBefore)) throw createError('Stale token')
  return user
}

/** Throws where the session has ended: its time is over, or the user has replaced the credential that it started with. */
async function checkSessionActive(
  context: Context,
  { realm, client }: GrantRequest,
  { user, pair }: { readonly user: StoredUser; readonly pair: ClientSessionPair },
): Promise<void> {
  const { offline } = pair.session
  if (context.now >= getClientSessionEnd(realm, client, pair)) throw createEndedError(offline)
  const { credential } = readSessionData(pair.session)
  if (credential !== undefined && !(await hasUserCredential(context, user.id, credential)))
    throw createEndedError(offline)
}

/** Records the use of a token that may not be used again, and ends the client session of a token that is used too often. */
async function checkReuse(
  context: RuntimeContext,
  { realm, client }: GrantRequest,
  { claims: { jti = '', exp, typ }, issuedTo }: VerifiedToken,
): Promise<void> {
  if (realm.settings.revokeRefreshToken !== true) return
  const uses = await recordKeyUse(context, `refresh ${jti}`, new Date((exp ?? NO_EXPIRATION) * 1000))
  if (uses <= 1 + realm.settings.refreshTokenMaxReuse) return
  await endClientSessions(context, client.id, { id: issuedTo.session ?? '', offline: typ === 'Offline' })
  throw createError('Maximum allowed refresh token reuse exceeded')
}

const createEndedError = (offline: boolean) =>
  createError(offline ? 'Offline user session not found' : 'Session not active')

const createError = (reason: string) =>
  new OAuthError(400, 'invalid_grant', { description: reason, event: { error: 'invalid_token', reason } })
