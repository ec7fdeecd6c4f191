// Refresh tokens, with rotation and detection of reuse. RFC 6749, section 6; RFC 9700, section 4.14.
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { Context, RuntimeContext } from '../../service/context/context.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { recordKeyUse } from '../../service/context/single-use.ts'
import type { SessionToRefresh, StoredUser } from '../../service/context/store-types.ts'
import { endClientSessions, findActiveSessionToRefresh, refreshSession } from '../../service/login/sessions.ts'
import { requireConsent } from '../consents.ts'
import { OAuthError } from '../oauth-error.ts'
import { OutdatedRealm } from '../oidc-realm.ts'
import { checkRefreshConfirmation } from '../sender-constraints/confirmation.ts'
import { addDefaultScopes, limitScopes, parseScope, resolveScopes } from '../tokens/scopes.ts'
import { getClientSessionEnd } from '../tokens/token-response.ts'
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
  const { iat = 0, scope, authorization } = token.claims
  checkRefreshConfirmation(token.claims, request.confirmation)
  const refreshScopes = parseScope(scope)
  return service.writeRuntime(SYSTEM, realm, async (context) => {
    const active = await getSession(context, request, token)
    // An outdated realm could accept a token that the present one refuses, and would replace it by one that every server accepts.
    if (active.revision !== realm.revision && !realm.isCurrent) throw new OutdatedRealm()
    const user = getUser(request, token, active)
    checkSessionActive(context, request, active)
    await checkReuse(context, request, token)
    // Keycloak: client scopes that were assigned after the token was issued are left out.
    const scopes = form.scope ? limitScopes(client, refreshScopes, requested) : addDefaultScopes(client, refreshScopes)
    await requireConsent(context, { client, user, scopes })
    await refreshSession(context, active.session, active.clientSession)
    event.details.age_of_refresh_token = String(toEpochSeconds(context.now) - iat)
    const session = { ...active.session, refreshedAt: context.now }
    const permissions = authorization === undefined ? undefined : { authorization }
    const granted = { user, scopes, refreshScopes, session, clientSession: active.clientSession }
    return { ...granted, ...(permissions && { permissions }) }
  })
}

/** Verifies a refresh token, and adds it to the event. */
async function verifyRefreshToken(
  { service, realm, client, event }: GrantRequest,
  text: string,
): Promise<VerifiedToken> {
  const token = await verifyToken(service, text, { types: ['Refresh', 'Offline'], realm, acceptsStale: true })
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
): Promise<SessionToRefresh> {
  const key = { id: issuedTo.session ?? '', offline: claims.typ === 'Offline', client: client.id }
  const active = await findActiveSessionToRefresh(context, realm.settings, key)
  if (!active) throw createEndedError(key.offline)
  return active
}

/** Returns the user of the session; the `sub` claim may have been written by a mapper. */
function getUser({ realm, client }: GrantRequest, token: VerifiedToken, { account }: SessionToRefresh): StoredUser {
  if (!account) throw createError('Invalid refresh token')
  const { enabled, notBefore = 0 } = viewStoredUser(account)
  if (enabled !== true) throw createError('User disabled')
  const valid = Math.max(realm.settings.notBefore, viewClient(client).notBefore ?? 0, notBefore)
  if ((token.claims.iat ?? 0) < valid) throw createError('Stale token')
  return account
}

/** Throws where the session has ended: its time is over, or the user has replaced the credential that it started with. */
function checkSessionActive(context: Context, { realm, client }: GrantRequest, active: SessionToRefresh): void {
  const hasEnded = context.now >= getClientSessionEnd(realm, client, active)
  if (hasEnded || !active.hasCredential) throw createEndedError(active.session.offline)
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
