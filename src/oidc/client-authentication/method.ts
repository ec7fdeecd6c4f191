// What the ways have in common in which clients prove who they are.

import type { Service } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import type { EventNotes } from '../call.ts'
import { OAuthError } from '../oauth-error.ts'
import type { TokenRealm } from '../realm.ts'

/** What a request of a client says: its form, its Authorization header, and how it came. */
export interface TokenRequest extends Transport {
  readonly form: Readonly<Record<string, string>>
  readonly authorization?: string | undefined
  /** Of the page that asks, where it is one. */
  readonly origin?: string | undefined
}

/** A client that is to prove who it is. */
export interface Attempt {
  readonly service: Service
  /** The address of this server, as the client sees it. */
  readonly base: string
  readonly realm: TokenRealm
  readonly request: TokenRequest
  /** The enabled and disabled clients that the request names, by client id. */
  readonly clients: ReadonlyMap<string, LiveObject>
  readonly notes: EventNotes
}

/** What a method makes of a request: the client that it is about, if any, and why that is not proved. */
export interface Outcome {
  readonly client?: LiveObject | undefined
  readonly problem?: OAuthError | undefined
}

/** One way to prove it. */
export type Method = (attempt: Attempt) => Promise<Outcome>

const WRONG = 'Invalid client or Invalid client credentials'

/** Nobody that could be known. Keycloak: only events tell whether there is no such client, or it is disabled. */
export const unknownClient = (client?: LiveObject): OAuthError =>
  new OAuthError(401, 'invalid_client', WRONG, { error: client ? 'client_disabled' : 'client_not_found' })

/** Somebody, and not the one. */
export const notProved = (): OAuthError =>
  new OAuthError(401, 'unauthorized_client', WRONG, { error: 'invalid_client_credentials' })
