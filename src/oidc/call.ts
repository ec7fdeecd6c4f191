// A call of a client, and what is known of it for its event.
import type { UserEventType } from '../kinds/user-events.ts'
import type { Service } from '../service/context/service.ts'
import type { LiveObject } from '../service/objects/live.ts'
import type { TokenRealm } from './realm.ts'

/** Where a call arrives: at the server of this address, as the caller sees it, and at the realm of this name. */
export interface Endpoint {
  readonly service: Service
  readonly base: string
  readonly name: string
}

/** A call of a client that has proved itself. */
export interface ClientCall {
  readonly realm: TokenRealm
  readonly client: LiveObject
  /** What is found out, for the event that tells of the call. */
  readonly notes: EventNotes
}

/** What is known by now of the event of a call. */
export interface EventNotes {
  readonly type: UserEventType
  readonly address?: string | undefined
  client?: string | undefined
  user?: string | undefined
  session?: string | undefined
  /** Keycloak: some calls are answered as if they had not failed. */
  error?: string
  /** Nothing has happened. */
  none?: true
  readonly details: Record<string, string | undefined>
}
