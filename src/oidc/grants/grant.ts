// The interface of grants. RFC 6749, section 4.
import type { Service } from '../../service/context/service.ts'
import type { ClientSession, StoredUser, UserSession } from '../../service/context/store-types.ts'
import type { ClientCall } from '../client-call.ts'
import type { Confirmation } from '../sender-constraints/confirmation.ts'

/** A token request of an authenticated client. */
export interface GrantRequest extends ClientCall {
  readonly service: Service
  /** The address of the server, as the client sees it. */
  readonly base: string
  readonly form: Readonly<Record<string, string>>
  /** The key to which the tokens are bound, if any. */
  readonly confirmation?: Confirmation | undefined
  /** The network address of the client. */
  readonly address?: string | undefined
}

/** The result of a grant, for which tokens are issued. */
export interface GrantResult {
  readonly user: StoredUser
  /** The granted scope values, also those that tokens do not show: see `resolveScopes`. */
  readonly scopes: readonly string[]
  /** The scope values of the refresh token, where the request narrows the scope of the other tokens. */
  readonly refreshScopes?: readonly string[]
  /** Absent: there is no session, and no refresh token is issued. */
  readonly session?: UserSession
  readonly clientSession?: ClientSession
  /** The nonce for the ID token. */
  readonly nonce?: string
  /** User session notes for mappers, where there is no session. */
  readonly sessionNotes?: Readonly<Record<string, string>>
  /** Permissions that the tokens contain. */
  readonly permissions?: TokenPermissions
}

/** Permissions on resources of a client. */
export interface TokenPermissions {
  /** Client id of that client, for which the access token is. Absent for a token that is refreshed. */
  readonly audience?: string
  /** The claim `authorization`. */
  readonly authorization: unknown
}

/** Carries out a grant. Throws OAuthError. */
export type GrantHandler = (request: GrantRequest) => Promise<GrantResult>
