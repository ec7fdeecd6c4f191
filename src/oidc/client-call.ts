// Requests of clients to the endpoints of a realm.
import type { Service } from '../service/context/service.ts'
import type { LiveObject } from '../service/objects/live-objects.ts'
import type { EventDraft } from './event-draft.ts'
import type { OidcRealm } from './oidc-realm.ts'

/** An endpoint of a realm. */
export interface RealmEndpoint {
  readonly service: Service
  /** The address of the server, as the caller sees it. */
  readonly base: string
  readonly realmName: string
}

/** A request to a realm. */
export interface RealmCall {
  readonly service: Service
  readonly realm: OidcRealm
}

/** A request of an authenticated client. */
export interface ClientCall {
  readonly realm: OidcRealm
  readonly client: LiveObject
  readonly event: EventDraft
}
