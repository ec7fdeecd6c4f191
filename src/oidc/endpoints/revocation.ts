// Token revocation. RFC 7009.
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { leaveSessions } from '../../service/login/sessions.ts'
import { revokeToken } from '../../service/login/standing.ts'
import type { ClientCall, Endpoint } from '../call.ts'
import type { TokenRequest } from '../client-authentication.ts'
import { forClient } from '../client-call.ts'
import { OAuthError } from '../oauth-error.ts'
import { verifyStanding } from '../tokens/tokens.ts'

/** Revokes a token of the client: an access token alone, with a refresh token the client's part of its session. Throws OAuthError. */
export async function revoke(endpoint: Endpoint, request: TokenRequest): Promise<void> {
  const event = { type: 'REVOKE_GRANT', details: {} } as const
  return forClient(endpoint, { request, event }, (call) => revokeFor(endpoint.service, call, request.form.token))
}

async function revokeFor(service: Service, { realm, client, notes }: ClientCall, token: string | undefined) {
  const refuse = (error: string, reason: string, word = error) =>
    new OAuthError(400, error, reason, { error: word, reason })
  if (!token) throw refuse('invalid_request', 'Token not provided')
  const verified = await verifyStanding(service, token, ['Bearer', 'ID', 'Refresh', 'Offline'])
  // RFC 7009, section 2.2: what is no token is answered like one that was revoked.
  if (verified?.realm.number !== realm.number)
    throw new OAuthError(200, 'invalid_token', 'Invalid token', { error: 'invalid_token' })
  const { standing, claims, issuedTo } = verified
  const { typ, exp, jti = '' } = claims
  if (issuedTo.client !== client.id) throw refuse('invalid_request', 'Unmatching clients')
  if (typ === 'ID') throw refuse('unsupported_token_type', 'Unsupported token type', 'invalid_token_type')
  if (standing.counts) notes.user = standing.user.id
  if (typ === 'Bearer') notes.details.token_id = jti
  else {
    notes.session = issuedTo.session
    const details = { refresh_token_type: typ, refresh_token_id: jti, revoked_client: client.key[0] }
    Object.assign(notes.details, details)
  }
  await service.runtime(SYSTEM, realm, async (context) => {
    if (typ === 'Bearer') return revokeToken(context, jti, new Date(exp! * 1000))
    // Keycloak: an offline token is revoked in all sessions of its user.
    await leaveSessions(
      context,
      client.id,
      typ === 'Offline' && standing.counts
        ? { user: standing.user.id, offline: true }
        : { id: issuedTo.session!, offline: typ === 'Offline' },
    )
  })
}
