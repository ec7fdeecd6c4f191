// Token revocation. RFC 7009.
import { type Service, SYSTEM } from '../service/service.ts'
import { leaveSessions } from '../service/sessions.ts'
import { revokeToken } from '../service/standing.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { OAuthError } from './oauth-error.ts'
import { openRealm } from './realm.ts'
import { verifyStanding } from './tokens.ts'

/** Revokes a token of the client: an access token alone, with a refresh token the client's part of its session. Throws OAuthError. */
export async function revoke(service: Service, name: string, request: TokenRequest): Promise<void> {
  const realm = await openRealm(service, name)
  const client = await service.read(SYSTEM, name, (context) => authenticateClient(context, request))
  const { token } = request.form
  if (!token) throw new OAuthError(400, 'invalid_request', 'Token not provided')
  const verified = await verifyStanding(service, token, ['Bearer', 'ID', 'Refresh', 'Offline'])
  // RFC 7009, section 2.2: what is no token is answered like one that was revoked.
  if (verified?.realm.number !== realm.number) throw new OAuthError(200, 'invalid_token', 'Invalid token')
  const { azp, typ, sid, exp, jti = '', sub = '' } = verified.claims
  if (azp !== client.key[0]) throw new OAuthError(400, 'invalid_request', 'Unmatching clients')
  if (typ === 'ID') throw new OAuthError(400, 'unsupported_token_type', 'Unsupported token type')
  await service.runtime(SYSTEM, name, async (context) => {
    if (typ === 'Bearer') return revokeToken(context, jti, new Date(exp! * 1000))
    // Keycloak: an offline token is revoked in all sessions of its user.
    await leaveSessions(
      context,
      client.id,
      typ === 'Offline' ? { user: sub, offline: true } : { id: sid!, offline: false },
    )
  })
}
