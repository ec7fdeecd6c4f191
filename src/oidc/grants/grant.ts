// What grants have in common: what they are given, and what they give.

import type { Service } from '../../service/context/service.ts'
import type { ClientSession, StoredUser, UserSession } from '../../service/context/store-types.ts'
import type { ClientCall } from '../call.ts'

/** A token request of a client that has proved itself. */
export interface GrantCall extends ClientCall {
  readonly service: Service
  /** The server's own address, as the client knows it. */
  readonly base: string
  readonly form: Readonly<Record<string, string>>
  /** Where the request comes from. */
  readonly address?: string | undefined
}

/** What a grant gives: whose tokens, and what they stand on. */
export interface Granted {
  readonly user: StoredUser
  /** All words of the scope, also those that tokens do not show: see `grantedScopes`. */
  readonly scopes: readonly string[]
  /** What a refresh token goes on with, where the request asks for less of it for now. */
  readonly lasting?: readonly string[]
  /** Absent: nothing is kept of it, and no refresh token is given. */
  readonly session?: UserSession
  /** What the client has of the session. */
  readonly part?: ClientSession
  /** Where the ID token must name it. */
  readonly nonce?: string
  /** What mappers may tell of the call, where there is no session to note it. */
  readonly sessionNotes?: Readonly<Record<string, string>>
}

/** One grant. Throws OAuthError. */
export type Grant = (call: GrantCall) => Promise<Granted>

/** The words of a scope parameter. */
export const wordsOf = (scope: unknown): string[] => (typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [])
