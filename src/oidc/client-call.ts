// The call of a client, at whichever endpoint: the realm, who asks, whether its page may, and the event that tells of it.
import type { LiveObject } from '../service/live.ts'
import type { Service } from '../service/service.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { type EventNotes, told } from './events.ts'
import { demandHttps, openRealm, type TokenRealm } from './realm.ts'
import { demandOrigin } from './web-origins.ts'

/** A call of a client that has proved itself. */
export interface ClientCall {
  readonly realm: TokenRealm
  readonly client: LiveObject
  /** What is found out, for the event that tells of the call. */
  readonly notes: EventNotes
}

/** Does the work for the client that asks, and tells of it by an event. Throws OAuthError. */
export async function forClient<T>(
  service: Service,
  base: string,
  name: string,
  request: TokenRequest,
  event: Pick<EventNotes, 'type' | 'details'>,
  work: (call: ClientCall) => Promise<T>,
): Promise<T> {
  const realm = await openRealm(service, name)
  demandHttps(realm, request)
  const notes: EventNotes = { ...event, address: request.address }
  return told(service, realm, notes, async () => {
    const client = await authenticateClient(service, base, realm, request, notes)
    demandOrigin(client.representation, base, request.origin)
    return work({ realm, client, notes })
  })
}
