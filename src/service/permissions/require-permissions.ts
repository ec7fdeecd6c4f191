// The admin permissions of callers. Those of a token are cached; writes check that they are current.
import { isRegentRole, PERMISSIONS_CLIENT, type Permission } from '../../kinds/admin-roles.ts'
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { findUserPermissions } from '../../store/users/role-mappings.ts'
import type { Visibility } from '../../store/visibility.ts'
import {
  ADMIN_ROLE,
  type AdminPermissions,
  hasPermission,
  isAdministrator,
  toAdminPermissions,
} from '../context/admin-permissions.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'

export type { Permission } from '../../kinds/admin-roles.ts'

/** Returns the realm role that is not expanded in queries of effective roles, since it has all permissions. */
export const findFullAccessRole = (realm: string): string | undefined => (realm === MASTER ? ADMIN_ROLE : undefined)

/** Returns the current admin permissions of a user. Throws unauthorized if the user does not exist or is disabled. One statement. */
export async function getUserPermissions(
  tx: Transaction,
  user: { readonly realm: string; readonly id: string },
): Promise<AdminPermissions> {
  const account = await findUserPermissions(tx, user.realm, { user: user.id, stop: findFullAccessRole(user.realm) })
  if (!account?.enabled) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  return toAdminPermissions(user.realm, account.roles)
}

/** Whether the caller has a permission in the realm of the context. */
export function isPermitted({ permissions, realm }: Context, permission: Permission): boolean {
  return hasPermission(permissions, realm.name, permission)
}

/** Throws forbidden unless the caller has all of the permissions in the realm of the context. */
export function requirePermissions({ permissions, realm }: Context, ...required: readonly Permission[]): void {
  for (const permission of required) requireRealmPermission(permissions, realm.name, permission)
}

/** Throws forbidden unless the permissions contain more than impersonation. */
export function requireAdministrator(permissions: AdminPermissions): void {
  if (!isAdministrator(permissions)) throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** Throws forbidden unless the permissions contain one in a realm, whether the realm exists or not. */
export function requireRealmPermission(permissions: AdminPermissions, realm: string, permission: Permission): void {
  if (hasPermission(permissions, realm, permission)) return
  const reason = `You lack the permission ${permission} in realm ${realm}. The role ${permission} of its client ${PERMISSIONS_CLIENT} grants it, and so does realm-admin.`
  throw failure('forbidden', 'HTTP 403 Forbidden', isRegentRole(permission) ? { reason } : {})
}

/** Returns the condition that limits lists to the objects that the caller may view: all, or none. */
export function getVisibility(context: Context, permission: Permission): Visibility {
  return isPermitted(context, permission) ? 'all' : { ids: [] }
}
