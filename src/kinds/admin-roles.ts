// The roles that administer a realm, and what each of them may: one table, recorded from the reference server.

/** Keycloak: the roles of `realm-management` in a realm, and of `<realm>-realm` and `create-realm` in master. */
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

/** One of them. */
export type AdminRole = (typeof adminRoles)[number]

/** What each permission is given by; every one of these roles is enough. `realm-admin` has all of a realm. */
const given = {
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
} as const satisfies Record<string, readonly AdminRole[]>

/** What an operation may need in a realm; `create-realm`: in master; `every-realm`: all of every realm. */
export type Permission = keyof typeof given | 'create-realm' | 'every-realm'

/** The roles that give a permission, each of them alone. None gives `every-realm`: only who administers all has it. */
export function listRolesGranting(permission: Permission): readonly AdminRole[] {
  if (permission === 'every-realm') return []
  return permission === 'create-realm' ? ['create-realm'] : [...new Set([...given[permission], 'realm-admin' as const])]
}

/** What somebody must be able to do in a realm to give and take a role. Keycloak: who may manage may also let view. */
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
  'view-authorization': 'view-authorization',
  'view-clients': 'view-clients',
  'view-events': 'view-events',
  'view-identity-providers': 'view-identity-providers',
  'view-organizations': 'view-organizations',
  'view-realm': 'view-realm',
  'view-users': 'view-users',
}
