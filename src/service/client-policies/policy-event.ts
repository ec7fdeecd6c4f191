// The events at which client policies apply. Keycloak: ClientPolicyEvent.
import type { Representation } from '../../kinds/json.ts'

/** The changes of clients, and the requests of clients to endpoints, to which client policies apply. */
export type PolicyEventName =
  | 'register'
  | 'update'
  | 'view'
  | 'delete'
  /** A rotation of the client's secret, which happens outside of requests too. */
  | 'secret rotation'
  /** An authorization request before its redirect URI is trusted, so that errors are pages of the server. */
  | 'pre-authorization'
  | 'authorization'
  | 'pushed authorization'
  | 'token'
  | 'introspection'
  | 'revocation'
  | 'user info'
  | 'logout'

/** An event at which client policies apply. */
export interface PolicyEvent {
  readonly name: PolicyEventName
  /** The complete client; for `register` and `update`, as it is proposed. */
  readonly client: Representation
  /** Names of the client's roles. Absent: they are not loaded, so that conditions about them are undecided. */
  readonly clientRoles?: readonly string[] | undefined
  /** The author of a change of the client. */
  readonly updater?: ClientUpdater | undefined
  readonly request?: PolicyRequest
}

/** Keycloak: the values of `update-client-source`. */
export type UpdateSource = 'ByAuthenticatedUser' | 'ByAnonymous' | 'ByInitialAccessToken' | 'ByRegistrationAccessToken'

/** The author of a change of a client. */
export interface ClientUpdater {
  readonly source: UpdateSource
  /** The network address. Absent: the change comes from a document. */
  readonly address?: string | undefined
  /** Names of the user's effective roles, those of clients as `client.role`, and of the user's groups; none for users of another realm. */
  readonly roles: readonly string[]
  readonly groups: readonly string[]
}

/** The parts of a request to an endpoint that conditions are about. */
export interface PolicyRequest {
  /** The requested grant type; for authorization requests, the one that the response type leads to. */
  readonly grantType?: string | undefined
  /** The requested scope values. Absent: the event is not about scopes. */
  readonly scopes?: readonly string[] | undefined
  /** The requested authentication context classes. */
  readonly acrValues?: readonly string[] | undefined
}

/** The refusal of a client by an executor. */
export interface ClientViolation {
  /** Keycloak: the OAuth error code. */
  readonly error: string
  readonly message: string
  /** The path of the field that breaks the rule. */
  readonly field: string
}
