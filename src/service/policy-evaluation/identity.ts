// Who requests access, and under which circumstances.
import type { Attributes } from './attributes.ts'

/** The user or client that requests access. */
export interface AccessIdentity {
  /** Id of the user, or of the client whose service account requests access. Owners of resources are compared with it. */
  readonly id: string
  /** Absent for the service account of a client. */
  readonly username?: string | undefined
  /** The claims of the access token, as `toClaimAttributes` returns them. */
  readonly claims: Attributes
  /** Keys of all effective roles of the user as JSON, whether the token contains them or not. */
  readonly roles: ReadonlySet<string>
  /** Paths of the groups of which the user is a direct member, with `~/` for a slash in a name. */
  readonly groups: readonly string[]
}

/** An identity, and the circumstances of its request. */
export interface EvaluationContext {
  readonly identity: AccessIdentity
  /** Keycloak: among them `kc.client.id` and `kc.time.date_time`, such as 2026-11-28 09:30:00. */
  readonly attributes: Attributes
}
