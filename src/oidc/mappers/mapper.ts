// What a type of protocol mapper is, and what it may look at.

import type { GroupFacts, OrganizationFacts, StoredUser } from '../../service/context/store-types.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import type { TokenRealm } from '../realm.ts'
import type { Claims, Settings } from './claims.ts'

/** What claims are for. */
export type Target = 'accessToken' | 'idToken' | 'userInfo' | 'introspection' | 'response'

/** What is known of a session. */
export interface SessionFacts {
  readonly id: string
  /** What log-in noted of the session: `AUTH_TIME`, and what authenticators say. */
  readonly notes?: Readonly<Record<string, string>> | undefined
  /** Keycloak: the level of authentication; 0 where an earlier log-in was enough. */
  readonly level?: number | undefined
  /** How the user proved who they are, and until when that counts, in seconds since 1970. RFC 8176. */
  readonly methods?: { readonly name: string; readonly until: number }[] | undefined
}

/** Whom tokens are about, for which client, and since which log-in. */
export interface Subject {
  /** Address of the server. */
  readonly base: string
  readonly realm: TokenRealm
  readonly client: LiveObject
  readonly user: StoredUser
  /** What was granted: see `grantedScopes`. */
  readonly scopes: readonly string[]
  /** Absent: nothing is kept of it. */
  readonly session?: SessionFacts | undefined
  /** Notes of a call without a session. */
  readonly notes?: Readonly<Record<string, string>> | undefined
  readonly nonce?: string | undefined
  /** The clients that an access token shall be for, and whose roles it shows; absent: all that it can be for. */
  readonly audience?: readonly string[] | undefined
  /** The `claims` parameter of the request, and the names that it gave in `acr_values`. */
  readonly claims?: string | undefined
  readonly acrValues?: readonly string[] | undefined
}

/** Names of roles by client; undefined: roles of the realm. */
export type Roles = Map<string | undefined, Set<string>>

/** A mapper that takes part: its settings as they count. */
export interface ActiveMapper {
  readonly type: string
  readonly settings: Settings
}

/** All that mappers may look at. */
export interface Facts extends Subject {
  readonly roles: Roles
  readonly groups: readonly GroupFacts[]
  /** The organizations that the scope lets a token show; undefined: it asks for none. */
  readonly organizations: readonly OrganizationFacts[] | undefined
  readonly mappers: readonly ActiveMapper[]
}

/** A type of protocol mapper that writes claims. */
export interface MapperType {
  /** Lower ones come first. */
  readonly priority: number
  readonly targets: readonly Target[]
  /** Its settings do not say for what it is: it always takes part. */
  readonly always?: true
  /** It looks at roles. */
  readonly roles?: true
  readonly map: (claims: Claims, settings: Settings, facts: Facts, target: Target) => void
}
