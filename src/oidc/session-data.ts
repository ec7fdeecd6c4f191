// The data that a login stores in a user session and in a client session.
import type { ClientSession, UserSession } from '../service/context/store-types.ts'
import type { ClientSessionBody } from '../service/login/sessions.ts'

/** An authentication method that the user passed, and the time until it counts, in seconds since 1970. RFC 8176. */
export type AuthenticationMethod = { readonly name: string; readonly until: number }

/** The levels of authentication that the user reached, each with the time in seconds since 1970. */
export type ReachedLevels = Readonly<Record<string, number>>

/** The data of a user session. */
export interface SessionData {
  /** The time of the login, in seconds since 1970. */
  readonly authTime?: number
  /** The id of the credential that the user logged in with. */
  readonly credential?: string
  /** User session notes, which protocol mappers read. */
  readonly notes?: Readonly<Record<string, string>>
  readonly methods?: readonly AuthenticationMethod[]
  readonly levels?: ReachedLevels
}

/** Returns the data of a user session. */
export const readSessionData = ({ body }: Pick<UserSession, 'body'>): SessionData => body as SessionData

/** Returns the data of a client session. */
export const readClientSessionData = (session: Pick<ClientSession, 'body'> | undefined): Partial<ClientSessionBody> =>
  (session?.body ?? {}) as Partial<ClientSessionBody>
