import type { ClientCall, Endpoint, EventNotes } from './call.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { told } from './events.ts'
import { demandHttps, openRealm } from './realm.ts'
import { demandOrigin } from './web-origins.ts'

/** Does the work for the client that asks, and tells of it by an event. Throws OAuthError. */
export async function forClient<T>(
  { service, base, name }: Endpoint,
  { request, event }: { request: TokenRequest; event: Pick<EventNotes, 'type' | 'details'> },
  work: (call: ClientCall) => Promise<T>,
): Promise<T> {
  const realm = await openRealm(service, name)
  demandHttps(realm, request)
  const notes: EventNotes = { ...event, address: request.address }
  return told(service, realm, notes, async () => {
    const client = await authenticateClient({ service, base, realm }, request, notes)
    demandOrigin(client.representation, base, request.origin)
    return work({ realm, client, notes })
  })
}
