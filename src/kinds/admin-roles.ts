// The admin roles of a realm, and the permissions that they grant, recorded from Keycloak.

/** Keycloak: the roles of the client `realm-management` in a realm, and of `<realm>-realm` in master; `create-realm` is only in master. */
export const adminRoles = [
  'create-client',
  'create-realm',
  'impersonation',
  'manage-authorization',
  'manage-clients',
  'manage-events',
  'manage-identity-providers',
  'manage-organizations',
  'manage-realm',
  'manage-users',
  'query-clients',
  'query-groups',
  'query-organizations',
  'query-realms',
  'query-users',
  'realm-admin',
  'view-authorization',
  'view-clients',
  'view-events',
  'view-identity-providers',
  'view-organizations',
  'view-realm',
  'view-users',
] as const

/** Regent's own permissions, which Keycloak does not have: they are roles of the client `regent-permissions`, if a realm has one. */
export const regentRoles = [
  'accept-drift',
  'approve-plans',
  'plan-changes',
  'roll-back-realm',
  'suspend-sources',
] as const

/** The client ID of the client whose roles grant Regent's own permissions. No realm has it unless it is declared or created. */
export const PERMISSIONS_CLIENT = 'regent-permissions'

/** The name of a role for one of Regent's own permissions. */
export type RegentRole = (typeof regentRoles)[number]

/** The name of an admin role. */
export type AdminRole = (typeof adminRoles)[number] | RegentRole

/** Whether the text is the name of a role for one of Regent's own permissions. */
export const isRegentRole = (name: string): name is RegentRole => regentRoles.some((role) => role === name)

/** The roles that grant each permission; one of them is sufficient. `realm-admin` grants all permissions in the realm. */
const rolesByPermission = {
  'see-realm': adminRoles.filter((role) => role !== 'impersonation' && role !== 'create-realm'),
  'view-realm': ['view-realm', 'manage-realm'],
  'manage-realm': ['manage-realm'],
  'list-roles': ['view-realm', 'manage-realm', 'manage-identity-providers'],
  'list-flows': ['view-realm', 'manage-realm', 'query-clients', 'view-clients'],
  'list-client-authenticators': ['view-realm', 'manage-realm', 'query-clients', 'view-clients', 'manage-clients'],
  'list-required-actions': ['view-realm', 'manage-realm', 'query-users', 'view-users'],
  'view-profile': ['view-realm', 'manage-realm', 'query-users', 'view-users', 'manage-users'],
  'list-clients': ['query-clients', 'view-clients', 'manage-clients', 'query-users', 'view-users'],
  'list-client-scopes': ['query-clients', 'view-clients', 'manage-clients'],
  'view-clients': ['view-clients', 'manage-clients'],
  'manage-clients': ['manage-clients'],
  'register-clients': ['create-client', 'manage-clients'],
  'view-authorization': ['view-authorization', 'manage-authorization'],
  'manage-authorization': ['manage-authorization', 'manage-clients'],
  'manage-authorization-permissions': ['manage-authorization'],
  'view-identity-providers': ['view-identity-providers', 'manage-identity-providers'],
  'manage-identity-providers': ['manage-identity-providers'],
  'list-users': ['query-users', 'view-users', 'manage-users'],
  'list-groups': ['query-groups', 'view-users', 'manage-users'],
  'view-users': ['view-users', 'manage-users'],
  'manage-users': ['manage-users'],
  impersonation: ['impersonation'],
  'list-organizations': ['query-organizations', 'view-organizations', 'manage-organizations', 'manage-realm'],
  'view-organizations': ['view-organizations', 'manage-organizations', 'manage-realm'],
  'manage-organizations': ['manage-organizations', 'manage-realm'],
  'view-events': ['view-events', 'manage-events'],
  'manage-events': ['manage-events'],
  'administer-realm': [],
  'accept-drift': ['accept-drift'],
  'approve-plans': ['approve-plans'],
  'plan-changes': ['plan-changes'],
  'roll-back-realm': ['roll-back-realm'],
  'suspend-sources': ['suspend-sources'],
} as const satisfies Record<string, readonly AdminRole[]>

/** A permission that an operation requires in a realm. `create-realm` is granted in master, and `every-realm` is all permissions in all realms. */
export type Permission = keyof typeof rolesByPermission | 'create-realm' | 'every-realm'

/** Returns the names of the permissions that roles of a realm grant; without roles, of all permissions in a realm. */
export function listGrantedPermissions(roles?: ReadonlySet<AdminRole>): string[] {
  return Object.entries(rolesByPermission).flatMap(([permission, granting]) =>
    !roles || roles.has('realm-admin') || granting.some((role) => roles.has(role)) ? permission : [],
  )
}

/** Returns the roles that each grant a permission. No role grants `every-realm`, which only full administrators have. */
export function listRolesGranting(permission: Permission): readonly AdminRole[] {
  if (permission === 'every-realm') return []
  return permission === 'create-realm'
    ? ['create-realm']
    : [...new Set([...rolesByPermission[permission], 'realm-admin' as const])]
}

/** The permission that an administrator needs to grant or revoke each admin role. Keycloak: a manage permission includes the view role. */
export const permissionToGrant: Readonly<Record<AdminRole, Permission>> = {
  'create-client': 'manage-clients',
  'create-realm': 'create-realm',
  impersonation: 'impersonation',
  'manage-authorization': 'manage-authorization',
  'manage-clients': 'manage-clients',
  'manage-events': 'manage-events',
  'manage-identity-providers': 'manage-identity-providers',
  'manage-organizations': 'manage-organizations',
  'manage-realm': 'manage-realm',
  'manage-users': 'manage-users',
  'query-clients': 'list-clients',
  'query-groups': 'list-groups',
  'query-organizations': 'see-realm',
  'query-realms': 'see-realm',
  'query-users': 'list-users',
  'realm-admin': 'administer-realm',
  'accept-drift': 'accept-drift',
  'approve-plans': 'approve-plans',
  'plan-changes': 'plan-changes',
  'roll-back-realm': 'roll-back-realm',
  'suspend-sources': 'suspend-sources',
  'view-authorization': 'view-authorization',
  'view-clients': 'view-clients',
  'view-events': 'view-events',
  'view-identity-providers': 'view-identity-providers',
  'view-organizations': 'view-organizations',
  'view-realm': 'view-realm',
  'view-users': 'view-users',
}
