// Logout by refresh token. Keycloak: LogoutEndpoint.
import { SYSTEM } from '../../service/context/service.ts'
import { endSessions } from '../../service/login/sessions.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { handleClientRequest } from '../client-request.ts'
import { OAuthError } from '../oauth-error.ts'
import { verifyToken } from '../tokens/tokens.ts'

/** Ends the session of a refresh token, if it is still active. Throws OAuthError. */
export async function logOutByToken(endpoint: RealmEndpoint, request: TokenRequest): Promise<void> {
  const { service, realmName } = endpoint
  const event = { type: 'LOGOUT', details: {} } as const
  await handleClientRequest(endpoint, { request, event, policyEvent: 'logout' }, async ({ realm, client, event }) => {
    const createError = (reason: string) =>
      new OAuthError(400, 'invalid_grant', { description: reason, event: { error: 'invalid_token', reason } })
    const verified = await verifyToken(service, request.form.refresh_token ?? '', { types: ['Refresh', 'Offline'] })
    if (verified?.realm.number !== realm.number) throw createError('Invalid refresh token')
    const { claims, issuedTo } = verified
    if (issuedTo.client !== client.id)
      throw createError("Invalid refresh token. Token client and authorized client don't match")
    event.session = issuedTo.session
    const filter = { id: issuedTo.session!, offline: claims.typ === 'Offline' }
    const ended = await service.writeRuntime(SYSTEM, realmName, (context) => endSessions(context, filter))
    event.user = ended[0]?.user
    if (!ended.length) event.isSuppressed = true
  })
}
