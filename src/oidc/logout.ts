// The end of a session. Keycloak: LogoutEndpoint; its form with a refresh token.
import { type Service, SYSTEM } from '../service/service.ts'
import { endSessions } from '../service/sessions.ts'
import type { TokenRequest } from './client-authentication.ts'
import { forClient } from './client-call.ts'
import { OAuthError } from './oauth-error.ts'
import { verifyToken } from './tokens.ts'

/** Ends the session of a refresh token, whether it still goes on or not. Throws OAuthError. */
export async function logOutByToken(
  service: Service,
  base: string,
  name: string,
  request: TokenRequest,
): Promise<void> {
  const event = { type: 'LOGOUT', details: {} } as const
  await forClient(service, base, name, request, event, async ({ realm, client, notes }) => {
    const refuse = (reason: string) => new OAuthError(400, 'invalid_grant', reason, { error: 'invalid_token', reason })
    const verified = await verifyToken(service, request.form.refresh_token ?? '', ['Refresh', 'Offline'])
    if (verified?.realm.number !== realm.number) throw refuse('Invalid refresh token')
    const { azp, typ, sid, sub } = verified.claims
    if (azp !== client.key[0]) throw refuse("Invalid refresh token. Token client and authorized client don't match")
    notes.user = sub
    notes.session = sid
    const which = { id: sid!, offline: typ === 'Offline' }
    const ended = await service.runtime(SYSTEM, name, (context) => endSessions(context, which))
    if (!ended.length) notes.none = true
  })
}
