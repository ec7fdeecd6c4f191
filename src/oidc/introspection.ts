// Token introspection. RFC 7662.
import { findById } from '../service/login.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { OAuthError } from './oauth-error.ts'
import { openRealm } from './realm.ts'
import { verifyStanding } from './tokens.ts'

/** What a token says, to a client that it is meant for; to any other, and of any other token: that it is not active. Throws OAuthError. */
export async function introspect(
  service: Service,
  name: string,
  request: TokenRequest,
): Promise<Record<string, unknown>> {
  const realm = await openRealm(service, name)
  const client = await service.read(SYSTEM, name, (context) => authenticateClient(context, request))
  if (client.representation.publicClient === true) {
    throw new OAuthError(403, 'invalid_request', 'Client not allowed.')
  }
  const { token } = request.form
  if (!token) throw new OAuthError(400, 'invalid_request', 'Token not provided.')
  const inactive = { active: false }
  const verified = await verifyStanding(service, token, ['Bearer', 'ID', 'Refresh', 'Offline'])
  if (!verified?.standing.counts || verified.realm.number !== realm.number) return inactive
  const { claims } = verified
  if (![claims.aud].flat().includes(client.key[0]!)) return inactive
  const user = await service.read(SYSTEM, name, (context) => findById(context, claims.sub!))
  return user
    ? { ...claims, client_id: claims.azp, username: user.username, token_type: claims.typ, active: true }
    : inactive
}
