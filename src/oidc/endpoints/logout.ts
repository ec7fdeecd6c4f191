// The end of a session. Keycloak: LogoutEndpoint; its form with a refresh token.
import { SYSTEM } from '../../service/context/service.ts'
import { endSessions } from '../../service/login/sessions.ts'
import type { Endpoint } from '../call.ts'
import type { TokenRequest } from '../client-authentication.ts'
import { forClient } from '../client-call.ts'
import { OAuthError } from '../oauth-error.ts'
import { verifyToken } from '../tokens/tokens.ts'

/** Ends the session of a refresh token, whether it still goes on or not. Throws OAuthError. */
export async function logOutByToken(endpoint: Endpoint, request: TokenRequest): Promise<void> {
  const { service, name } = endpoint
  const event = { type: 'LOGOUT', details: {} } as const
  await forClient(endpoint, { request, event }, async ({ realm, client, notes }) => {
    const refuse = (reason: string) => new OAuthError(400, 'invalid_grant', reason, { error: 'invalid_token', reason })
    const verified = await verifyToken(service, request.form.refresh_token ?? '', ['Refresh', 'Offline'])
    if (verified?.realm.number !== realm.number) throw refuse('Invalid refresh token')
    const { claims, issuedTo } = verified
    if (issuedTo.client !== client.id)
      throw refuse("Invalid refresh token. Token client and authorized client don't match")
    notes.session = issuedTo.session
    const which = { id: issuedTo.session!, offline: claims.typ === 'Offline' }
    const ended = await service.runtime(SYSTEM, name, (context) => endSessions(context, which))
    notes.user = ended[0]?.user
    if (!ended.length) notes.none = true
  })
}
