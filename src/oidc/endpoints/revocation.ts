// Token revocation. RFC 7009.
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { endClientSessions } from '../../service/login/sessions.ts'
import { revokeToken } from '../../service/login/token-status.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { ClientCall, RealmEndpoint } from '../client-call.ts'
import { handleClientRequest } from '../client-request.ts'
import { OAuthError } from '../oauth-error.ts'
import { ACCESS_TOKENS, isAccessToken, verifyTokenStatus } from '../tokens/tokens.ts'

/** Revokes a token of the client: only an access token itself, or the client session of a refresh token. Throws OAuthError. */
export async function revokeClientToken(endpoint: RealmEndpoint, request: TokenRequest): Promise<void> {
  const event = { type: 'REVOKE_GRANT', details: {} } as const
  return handleClientRequest(endpoint, { request, event, policyEvent: 'revocation' }, (call) =>
    revokeForClient(endpoint.service, call, request.form.token),
  )
}

async function revokeForClient(service: Service, { realm, client, event }: ClientCall, token: string | undefined) {
  const createError = (error: string, reason: string, eventError = error) =>
    new OAuthError(400, error, { description: reason, event: { error: eventError, reason } })
  if (!token) throw createError('invalid_request', 'Token not provided')
  const verified = await verifyTokenStatus(service, token, {
    types: [...ACCESS_TOKENS, 'ID', 'Refresh', 'Offline'],
    acceptsBound: true,
  })
  // RFC 7009, section 2.2: an invalid token gets the response of a revoked one.
  if (verified?.realm.number !== realm.number)
    throw new OAuthError(200, 'invalid_token', { description: 'Invalid token', event: { error: 'invalid_token' } })
  const { status, claims, issuedTo } = verified
  const { typ, exp, jti = '' } = claims
  if (issuedTo.client !== client.id) throw createError('invalid_request', 'Unmatching clients')
  if (typ === 'ID') throw createError('unsupported_token_type', 'Unsupported token type', 'invalid_token_type')
  if (status.isValid) event.user = status.user.id
  if (isAccessToken(claims)) event.details.token_id = jti
  else {
    event.session = issuedTo.session
    const details = { refresh_token_type: typ, refresh_token_id: jti, revoked_client: client.key[0] }
    Object.assign(event.details, details)
  }
  await service.writeRuntime(SYSTEM, realm, async (context) => {
    if (isAccessToken(claims)) return revokeToken(context, jti, new Date(exp! * 1000))
    // Keycloak: an offline token is revoked in all sessions of its user.
    await endClientSessions(
      context,
      client.id,
      typ === 'Offline' && status.isValid
        ? { user: status.user.id, offline: true }
        : { id: issuedTo.session!, offline: typ === 'Offline' },
    )
  })
}
