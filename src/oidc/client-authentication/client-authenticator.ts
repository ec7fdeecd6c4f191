// The interface of client authenticators.
import type { Service } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { EventDraft } from '../event-draft.ts'
import { OAuthError } from '../oauth-error.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import type { SenderEvidence } from '../sender-constraints/confirmation.ts'

/** A request of a client. */
export interface TokenRequest extends Transport, SenderEvidence {
  readonly form: Readonly<Record<string, string>>
  /** The values of the parameter `permission`, which may be repeated. */
  readonly permissions?: readonly string[]
  /** The Authorization header. */
  readonly authorization?: string | undefined
  /** The origin of the page that sent the request. */
  readonly origin?: string | undefined
}

/** A client to be authenticated. */
export interface ClientAuthenticationAttempt {
  readonly service: Service
  /** The address of this server, as the client sees it. */
  readonly base: string
  readonly realm: OidcRealm
  readonly request: TokenRequest
  /** The clients that the request names, by client id; disabled clients are included. */
  readonly clients: ReadonlyMap<string, LiveObject>
  readonly event: EventDraft
}

/** The result of a client authenticator; with an error, the client is not authenticated. */
export interface ClientAuthenticationResult {
  readonly client?: LiveObject | undefined
  readonly error?: OAuthError | undefined
}

/** Authenticates the client of a request. Keycloak: ClientAuthenticator. */
export type ClientAuthenticator = (attempt: ClientAuthenticationAttempt) => Promise<ClientAuthenticationResult>

const MESSAGE = 'Invalid client or Invalid client credentials'

/** Creates the error for a missing or disabled client. Keycloak: only the user events differ. */
export const createClientNotFoundError = (disabledClient?: LiveObject): OAuthError =>
  new OAuthError(401, 'invalid_client', {
    description: MESSAGE,
    event: { error: disabledClient ? 'client_disabled' : 'client_not_found' },
  })

/** Creates the error for wrong credentials. `reason`: only for the user event. */
export const createInvalidCredentialsError = (reason?: string, error = 'unauthorized_client'): OAuthError =>
  new OAuthError(401, error, {
    description: MESSAGE,
    event: { error: 'invalid_client_credentials', ...(reason !== undefined && { reason }) },
  })
