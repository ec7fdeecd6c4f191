// The permissions of tenants, as the store keeps them.
import type { AdminRole } from './admin-roles.ts'
import type { KindName } from './kind.ts'

/** The permissions of a tenant: what it may declare in the realm of another owner. */
export interface TenantPermissions {
  /** The realm, by its declared name. Absent: all realms. */
  readonly realm?: string | undefined
  /** The objects that it may declare: those that one of these permits. */
  readonly objects: readonly PermittedKinds[]
  /** Admin roles that it may grant. Absent: all. */
  readonly adminRoles?: readonly AdminRole[]
  /** Patterns of the other roles that it may grant besides its own: `realm/<role>` and `client/<client>/<role>`. */
  readonly roles: readonly string[]
}

/** Objects of some kinds, by patterns of their names. */
export interface PermittedKinds {
  readonly kinds: readonly KindName[]
  readonly names: readonly string[]
}
