// Client credentials: a client's token for itself. RFC 6749, section 4.4.

import { SYSTEM } from '../../service/context/service.ts'
import { findAccountOf } from '../../service/login/login.ts'
import { OAuthError } from '../oauth-error.ts'
import { grantedScopes } from '../tokens/scopes.ts'
import type { Grant } from './grant.ts'

/** The client's own account; nothing is kept of it. */
export const byClientCredentials: Grant = async ({ service, realm, client, form, address, notes }) => {
  const refuse = (reason: string) =>
    new OAuthError(401, 'unauthorized_client', reason, { error: 'invalid_client', reason })
  if (client.representation.publicClient === true) throw refuse('Public client not allowed to retrieve service account')
  if (client.representation.serviceAccountsEnabled !== true)
    throw refuse('Client not enabled to retrieve service account')
  return service.read(SYSTEM, realm, async (context) => {
    const user = await findAccountOf(context, client.id)
    notes.user = user?.id
    notes.details.username = user?.username
    if (user?.body.enabled !== true) {
      const reason = 'User is disabled'
      throw new OAuthError(401, 'invalid_request', reason, { error: 'user_disabled', reason })
    }
    // Keycloak: what the mappers of the client scope service_account tell.
    const sessionNotes = { client_id: client.key[0]!, ...(address && { clientHost: address, clientAddress: address }) }
    return { user, scopes: await grantedScopes(context, client, form.scope), sessionNotes }
  })
}
