// Who may administer what: the one place that asks. It asks the store each time: an old token gains or loses at once.
import type { Permission } from '../../kinds/admin-roles.ts'
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import type { Visibility } from '../../store/object-filter.ts'
import { findHolder } from '../../store/users/role-mappings.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { ADMIN, administersAny, allows, type Power, powerFrom } from '../context/power.ts'

export type { Permission } from '../../kinds/admin-roles.ts'

/** The role whose parts are not looked at, since it has all power without them. */
export const wholePower = (realm: string): string | undefined => (realm === MASTER ? ADMIN : undefined)

/** What the user may administer now, whatever the token said when it was made. Throws unauthorized when there is none. One statement. */
export async function powerOf(tx: Transaction, user: { realm: string; id: string }): Promise<Power> {
  const found = await findHolder(tx, user.realm, { user: user.id, stop: wholePower(user.realm) })
  if (!found?.enabled) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  return powerFrom(user.realm, found.roles)
}

/** Whether the caller may do this in the context's realm. */
export function may({ power, realm }: Context, permission: Permission): boolean {
  return allows(power, realm.name, permission)
}

/** Throws forbidden unless the caller may do all of this in the context's realm. */
export function demand({ power, realm }: Context, ...permissions: readonly Permission[]): void {
  for (const permission of permissions) demandIn(power, realm.name, permission)
}

/** Throws forbidden unless the power is more than to take the place of people. */
export function demandAny(power: Power): void {
  if (!administersAny(power)) throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** Throws forbidden unless the power reaches a realm, whether it exists or not. */
export function demandIn(power: Power, realm: string, permission: Permission): void {
  if (!allows(power, realm, permission)) throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** What of a kind the caller may see in the context's realm: the condition that every list takes. */
export function visibleTo(context: Context, permission: Permission): Visibility {
  return may(context, permission) ? 'all' : { ids: [] }
}
