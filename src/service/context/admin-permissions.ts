// Admin permissions: which realms a user or source may administer, by which roles. Pure.
import {
  type AdminRole,
  adminRoles,
  isRegentRole,
  listGrantedPermissions,
  listRolesGranting,
  PERMISSIONS_CLIENT,
  type Permission,
  permissionToGrant,
  regentRoles,
} from '../../kinds/admin-roles.ts'
import { getAdminClientId, MASTER } from '../../kinds/built-in/index.ts'
import { MANAGEMENT_CLIENT } from '../../kinds/management-permissions.ts'
import type { RoleName } from '../../store/roles.ts'
import { findTenantPermissions, type SourcePermissions } from './source-permissions.ts'

/** The admin permissions of an actor: all realms, or the administrative roles by name of the realm. */
export type AdminPermissions =
  | { readonly all: true }
  | { readonly all: false; readonly realms: ReadonlyMap<string, ReadonlySet<AdminRole>> }

/** The permissions to administer every realm. */
export const ALL_PERMISSIONS: AdminPermissions = { all: true }

/** The permissions of callers that are no administrators. */
export const NO_PERMISSIONS: AdminPermissions = { all: false, realms: new Map() }

/** Keycloak: the role of master that administers every realm. */
export const ADMIN_ROLE = 'admin'

/** Keycloak: the role of master that creates realms. */
export const CREATE_REALM_ROLE = 'create-realm'
const SUFFIX = getAdminClientId('')

/** Returns the permissions that roles of a realm grant. */
export function toAdminPermissions(realm: string, roles: readonly RoleName[]): AdminPermissions {
  if (realm === MASTER && roles.some(({ client, name }) => client === null && name === ADMIN_ROLE))
    return ALL_PERMISSIONS
  const realms = new Map<string, Set<AdminRole>>()
  for (const role of roles) {
    const target = findAdministeredRealm(realm, role)
    if (target === undefined || !isAdminRole(role.name)) continue
    realms.set(target, (realms.get(target) ?? new Set()).add(role.name))
  }
  return { all: false, realms }
}

/** Returns the permissions that both have. */
export function intersectPermissions(a: AdminPermissions, b: AdminPermissions): AdminPermissions {
  if (a.all) return b
  if (b.all) return a
  const realms = new Map<string, ReadonlySet<AdminRole>>()
  for (const [realm, roles] of a.realms) {
    const shared = [...roles].filter((role) => b.realms.get(realm)?.has(role))
    if (shared.length) realms.set(realm, new Set(shared))
  }
  return { all: false, realms }
}

/** Returns the permissions together with admin roles of a realm. */
export function addAdminRoles(
  permissions: AdminPermissions,
  realm: string,
  added: readonly AdminRole[],
): AdminPermissions {
  if (permissions.all || !added.length) return permissions
  const roles = new Set([...(permissions.realms.get(realm) ?? []), ...added])
  return { all: false, realms: new Map([...permissions.realms, [realm, roles]]) }
}

/** Whether the permissions contain one in a realm. In master, the role to plan counts for every realm, also for those to be created. */
export function hasPermission(permissions: AdminPermissions, realm: string, permission: Permission): boolean {
  if (permissions.all) return true
  if (permission === 'plan-changes' && permissions.realms.get(MASTER)?.has('plan-changes')) return true
  const roles = permissions.realms.get(realm)
  return roles !== undefined && listRolesGranting(permission).some((role) => roles.has(role))
}

/** Returns the names of the permissions in a realm. */
export function listPermissionsIn(permissions: AdminPermissions, realm: string): string[] {
  return listGrantedPermissions(permissions.all ? undefined : (permissions.realms.get(realm) ?? new Set()))
}

/** Returns the roles that are missing to grant other permissions, as `role of realm`. */
export function listMissingRoles(permissions: AdminPermissions, toGrant: AdminPermissions): string[] {
  if (permissions.all) return []
  if (toGrant.all) return [`${ADMIN_ROLE} of ${MASTER}`]
  return [...toGrant.realms].flatMap(([realm, roles]) => {
    const missing = [...roles].filter((role) => !hasPermission(permissions, realm, permissionToGrant[role]))
    // The composite role implies all others.
    return (missing.includes('realm-admin') ? ['realm-admin'] : missing.sort()).map((role) => `${role} of ${realm}`)
  })
}

/** Whether the permissions are all that tokens of a realm can carry: all of the realm, or for master all of every realm. */
export const hasFullAccess = (permissions: AdminPermissions, realm: string): boolean =>
  permissions.all || (realm !== MASTER && hasPermission(permissions, realm, 'administer-realm'))

/** Returns the administrative roles of a realm that the permissions contain or allow to grant. */
export function listGrantableRoles(realm: string, permissions: AdminPermissions): RoleName[] {
  const rolesByRealm = permissions.all ? new Map<string, ReadonlySet<AdminRole>>() : permissions.realms
  const targets = realm === MASTER ? [...rolesByRealm.keys()] : [realm]
  return targets.flatMap((target) =>
    [...adminRoles, ...regentRoles]
      .filter(
        (role) => rolesByRealm.get(target)?.has(role) || hasPermission(permissions, target, permissionToGrant[role]),
      )
      .flatMap((name) => listRolesFor(realm, target, name)),
  )
}

/** Whether the permissions allow to grant the others. */
export const canGrant = (permissions: AdminPermissions, toGrant: AdminPermissions): boolean =>
  listMissingRoles(permissions, toGrant).length === 0

/** Returns the permissions in a realm that all of the sources may grant. `declaredName`: its name in their declarations. */
export function toGrantablePermissions(
  { name, declaredName }: { readonly name: string; readonly declaredName: string },
  sourcePermissions: readonly SourcePermissions[],
): AdminPermissions {
  const lists = sourcePermissions.flatMap((source) => [
    source.roles,
    ...(findTenantPermissions(source, declaredName) ?? []).map(({ adminRoles }) => adminRoles),
  ])
  return lists.reduce<AdminPermissions>(
    (permissions, roles) =>
      roles
        ? intersectPermissions(permissions, { all: false, realms: new Map([[name, new Set(roles)]]) })
        : permissions,
    ALL_PERMISSIONS,
  )
}

/** Whether the permissions contain more than impersonation and Regent's own. Keycloak: the first alone shows nothing of the server. */
export const isAdministrator = (permissions: AdminPermissions): boolean =>
  permissions.all ||
  [...permissions.realms.values()].some((roles) =>
    [...roles].some((role) => role !== 'impersonation' && !isRegentRole(role)),
  )

/** Whether the permissions contain all of at least one realm. */
export const isRealmAdministrator = (permissions: AdminPermissions): boolean =>
  permissions.all ||
  [...permissions.realms.keys()].some((realm) => hasPermission(permissions, realm, 'administer-realm'))

/** Whether the permissions are empty. */
export const hasNoPermissions = (permissions: AdminPermissions): boolean =>
  !permissions.all && permissions.realms.size === 0

/** Returns the realm that a role administers. Keycloak: in master, each realm has a client whose roles administer it. */
function findAdministeredRealm(realm: string, { client, name }: RoleName): string | undefined {
  if (isRegentRole(name)) return client === PERMISSIONS_CLIENT ? realm : undefined
  if (realm !== MASTER) return client === MANAGEMENT_CLIENT && name !== CREATE_REALM_ROLE ? realm : undefined
  if (client === null) return name === CREATE_REALM_ROLE ? MASTER : undefined
  return client.endsWith(SUFFIX) && name !== CREATE_REALM_ROLE ? client.slice(0, -SUFFIX.length) : undefined
}

/** Returns the role of a realm that administers another realm, or itself: the inverse of `findAdministeredRealm`. */
function listRolesFor(realm: string, target: string, name: AdminRole): RoleName[] {
  if (isRegentRole(name)) return realm === target ? [{ client: PERMISSIONS_CLIENT, name }] : []
  if (name === CREATE_REALM_ROLE) return realm === MASTER && target === MASTER ? [{ client: null, name }] : []
  return [{ client: realm === MASTER ? getAdminClientId(target) : MANAGEMENT_CLIENT, name }]
}

const isAdminRole = (name: string): name is AdminRole => isRegentRole(name) || adminRoles.some((role) => role === name)
