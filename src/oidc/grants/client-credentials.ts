// The client credentials grant: a token for the service account of the client. RFC 6749, section 4.4.

import { readFlag } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { findServiceAccountOf } from '../../service/login/find-user.ts'
import { addClientSession, startSession } from '../../service/login/sessions.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { OAuthError } from '../oauth-error.ts'
import { resolveScopes } from '../tokens/scopes.ts'
import { viewClient, viewStoredUser } from '../views.ts'
import type { GrantHandler } from './grant.ts'

/** Returns the service account of the client; with a session if the client gets refresh tokens for it. Keycloak: client_credentials.use_refresh_token. */
export const grantByClientCredentials: GrantHandler = async (request) => {
  const granted = await findServiceAccount(request)
  const { service, base, realm, client, form, address } = request
  if (!readFlag(viewClient(client).attributes?.['client_credentials.use_refresh_token'])) return granted
  const { sessionNotes, ...grant } = granted
  return service.writeRuntime(SYSTEM, realm, async (context) => {
    const session = await startSession(context, {
      user: grant.user.id,
      address,
      body: { authTime: toEpochSeconds(realm.now), ...(sessionNotes && { notes: sessionNotes }) },
    })
    const clientSession = { client: client.id, scope: form.scope ?? '', base }
    return { ...grant, session, clientSession: await addClientSession(context, session, clientSession) }
  })
}

/** Returns the service account of the client, without a session. */
export const findServiceAccount: GrantHandler = async ({ service, realm, client, form, address, event }) => {
  const createError = (reason: string) =>
    new OAuthError(401, 'unauthorized_client', { description: reason, event: { error: 'invalid_client', reason } })
  const { publicClient, serviceAccountsEnabled } = viewClient(client)
  if (publicClient === true) throw createError('Public client not allowed to retrieve service account')
  if (serviceAccountsEnabled !== true) throw createError('Client not enabled to retrieve service account')
  return service.read(SYSTEM, realm, async (context) => {
    const user = await findServiceAccountOf(context, client.id)
    event.user = user?.id
    event.details.username = user?.username
    if (!user || viewStoredUser(user).enabled !== true) {
      const reason = 'User is disabled'
      throw new OAuthError(401, 'invalid_request', { description: reason, event: { error: 'user_disabled', reason } })
    }
    const sessionNotes = getServiceAccountNotes(client, address)
    return { user, scopes: await resolveScopes(context, client, form.scope), sessionNotes }
  })
}

/**
 * Returns the session notes for the mappers of the client scope service_account. Keycloak: `clientId` is for those of exports before
 * version 26.
 */
export function getServiceAccountNotes(client: LiveObject, address: string | undefined): Record<string, string> {
  const clientId = client.key[0]!
  return { client_id: clientId, clientId, ...(address && { clientHost: address, clientAddress: address }) }
}
