// The end of a session. Keycloak: LogoutEndpoint; its form with a refresh token.
import { type Service, SYSTEM } from '../service/service.ts'
import { endSessions } from '../service/sessions.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { OAuthError } from './oauth-error.ts'
import { openRealm } from './realm.ts'
import { verifyToken } from './tokens.ts'

/** Ends the session of a refresh token, whether it still goes on or not. Throws OAuthError. */
export async function logOutByToken(service: Service, name: string, request: TokenRequest): Promise<void> {
  const realm = await openRealm(service, name)
  const client = await service.read(SYSTEM, name, (context) => authenticateClient(context, request))
  const refuse = (why: string) => new OAuthError(400, 'invalid_grant', why)
  const verified = await verifyToken(service, request.form.refresh_token ?? '', ['Refresh', 'Offline'])
  if (verified?.realm.number !== realm.number) throw refuse('Invalid refresh token')
  const { azp, typ, sid } = verified.claims
  if (azp !== client.key[0]) throw refuse("Invalid refresh token. Token client and authorized client don't match")
  await service.runtime(SYSTEM, name, (context) => endSessions(context, { id: sid!, offline: typ === 'Offline' }))
}
