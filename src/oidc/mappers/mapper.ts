// The interface of protocol mappers.
import type { StoredUser, TokenGroup, TokenOrganization } from '../../service/context/store-types.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import type { AuthenticationMethod } from '../session-data.ts'
import type { Claims, MapperConfig } from './claims.ts'

/** The token or response that claims are written to. */
export type ClaimTarget = 'accessToken' | 'idToken' | 'userInfo' | 'introspection' | 'response'

/** The session of a token. */
export interface TokenSession {
  readonly id: string
  /** User session notes, such as `AUTH_TIME`. */
  readonly notes?: Readonly<Record<string, string>> | undefined
  /** Keycloak: the level of authentication; 0 where an earlier login was sufficient. */
  readonly level?: number | undefined
  readonly methods?: readonly AuthenticationMethod[] | undefined
}

/** The subject of a token: its user, client and session. */
export interface TokenSubject {
  /** The address of the server. */
  readonly base: string
  readonly realm: OidcRealm
  readonly client: LiveObject
  readonly user: StoredUser
  /** The granted scope values: see `resolveScopes`. */
  readonly scopes: readonly string[]
  /** Absent for tokens without a session. */
  readonly session?: TokenSession | undefined
  /** User session notes of a token without a session. */
  readonly notes?: Readonly<Record<string, string>> | undefined
  readonly nonce?: string | undefined
  /** The allowed audience of an access token, which also limits its roles; absent: no limit. */
  readonly audience?: readonly string[] | undefined
  /** The `claims` parameter of the authorization request. */
  readonly claims?: string | undefined
  /** The `acr_values` parameter of the authorization request. */
  readonly acrValues?: readonly string[] | undefined
}

/** Names of roles by client id; undefined: realm roles. */
export type TokenRoles = Map<string | undefined, Set<string>>

/** A mapper of a token, with its effective configuration. */
export interface ActiveMapper {
  readonly type: string
  readonly config: MapperConfig
}

/** The data from which protocol mappers compute claims. */
export interface MapperFacts extends TokenSubject {
  readonly target: ClaimTarget
  readonly roles: TokenRoles
  readonly groups: readonly TokenGroup[]
  /** The organizations that the scope requests; undefined: it requests none. */
  readonly organizations: readonly TokenOrganization[] | undefined
  readonly mappers: readonly ActiveMapper[]
}

/** A type of protocol mapper that writes claims. */
export interface ClaimMapper {
  /** Mappers run in ascending order of priority. */
  readonly priority: number
  readonly targets: readonly ClaimTarget[]
  /** Its configuration has no flag per target, so that it is active for all of them. */
  readonly isAlwaysActive?: true
  readonly usesRoles?: true
  readonly map: (claims: Claims, config: MapperConfig, facts: MapperFacts) => void
}
