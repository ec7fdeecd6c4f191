import { authenticateClient, type TokenRequest } from './client-authentication/authenticate-client.ts'
import type { ClientCall, RealmEndpoint } from './client-call.ts'
import { type EventDraft, withUserEvent } from './event-draft.ts'
import { getEnabledRealm, requireHttps } from './oidc-realm.ts'
import { checkOrigin } from './web-origins.ts'

/** Authenticates the client of a request, runs work for it, and records the user event. Throws OAuthError. */
export async function handleClientRequest<T>(
  { service, base, realmName }: RealmEndpoint,
  { request, event }: { request: TokenRequest; event: Pick<EventDraft, 'type' | 'details'> },
  work: (call: ClientCall) => Promise<T>,
): Promise<T> {
  // A refresh would replace a token that an outdated realm accepts by one that every realm accepts.
  const isCurrent = request.form.grant_type === 'refresh_token'
  const realm = await getEnabledRealm(service, realmName, { isCurrent })
  requireHttps(realm, request)
  const draft: EventDraft = { ...event, address: request.address }
  return withUserEvent({ service, realm, event: draft }, async () => {
    const client = await authenticateClient({ service, base, realm }, request, draft)
    checkOrigin(client.representation, base, request.origin)
    return work({ realm, client, event: draft })
  })
}
