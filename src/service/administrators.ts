// Who may administer what: the one place that knows. It asks the store each time: an old token gains or loses at once.
import { MASTER } from '../kinds/built-in/index.ts'
import type { Transaction } from '../store/database.ts'
import type { Visibility } from '../store/objects.ts'
import { findHolder } from '../store/role-mappings.ts'
import type { Context, Power } from './context.ts'
import { failure } from './errors.ts'

export type { Power } from './context.ts'

/** All power. */
export const everything: Power = { all: true }

/** Keycloak: the role of master that administers every realm; of other realms, the role that administers the own one. */
export const ADMIN = 'admin'
const REALM_ADMIN = { client: 'realm-management', name: 'realm-admin' }

/** The role that gives administrative power to the people of a realm. */
export const powerRole = (realm: string): { readonly client: string | null; readonly name: string } =>
  realm === MASTER ? { client: null, name: ADMIN } : REALM_ADMIN

/** What the user may administer now, whatever the token said when it was made. Throws unauthorized when there is none. One statement. */
export async function powerOf(tx: Transaction, user: { realm: string; id: string }): Promise<Power> {
  const found = await findHolder(tx, user.realm, user.id, user.realm === MASTER ? ADMIN : undefined)
  if (!found?.enabled) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const { roles } = found
  if (user.realm === MASTER && roles.some(({ client, name }) => client === null && name === ADMIN)) return everything
  const own = roles.some(({ client, name }) => client === REALM_ADMIN.client && name === REALM_ADMIN.name)
  return { all: false, realms: new Set(own ? [user.realm] : []) }
}

/** Whether the caller may do this in the context's realm. The permission is named as the role that gives it. */
export function may({ power, realm }: Context, _permission: Permission): boolean {
  return power.all || power.realms.has(realm.name)
}

/** Throws forbidden unless the caller may do this in the context's realm. */
export function demand({ power, realm }: Context, permission: Permission): void {
  demandIn(power, realm.name, permission)
}

/** Throws forbidden unless the power reaches a realm, whether it exists or not. */
export function demandIn(power: Power, realm: string, _permission: Permission): void {
  if (!power.all && !power.realms.has(realm)) throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** What of a kind the caller may see in the context's realm: the condition that every list takes. */
export function visibleTo(context: Context, permission: Permission): Visibility {
  return may(context, permission) ? 'all' : { ids: [] }
}

/** Keycloak: the roles of `realm-management` that operations need. */
export type Permission =
  | 'view-realm'
  | 'manage-realm'
  | 'view-clients'
  | 'manage-clients'
  | 'view-authorization'
  | 'manage-authorization'
  | 'view-identity-providers'
  | 'manage-identity-providers'
  | 'view-users'
  | 'manage-users'
  | 'impersonation'
  | 'view-organizations'
  | 'manage-organizations'
  | 'view-events'
  | 'manage-events'
  | 'create-realm'
