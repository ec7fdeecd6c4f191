// Permissions of administrators on single objects: a client of the realm decides them, by resources of these types.
import type { Json, Representation } from './json.ts'

/** Keycloak: the client that decides what administrators may do with single objects. */
export const ADMIN_PERMISSIONS = 'admin-permissions'

/** The client as the switch of the realm creates it. Keycloak: AdminPermissionsSchema. */
export const adminPermissionsClient: Representation = {
  clientId: ADMIN_PERMISSIONS,
  authorizationServicesEnabled: true,
}

/** Defaults of that client, where they are not those of any other. */
export const adminPermissionsDefaults: Representation = {
  standardFlowEnabled: true,
  directAccessGrantsEnabled: false,
  fullScopeAllowed: false,
  nodeReRegistrationTimeout: 0,
}

/**
 * Whether the client decides what administrators may do with single objects. Keycloak: as it comes, it has no secret, no account and no
 * role of its own.
 */
export function isAdminPermissions({ clientId, authorizationServicesEnabled }: Representation): boolean {
  return clientId === ADMIN_PERMISSIONS && authorizationServicesEnabled === true
}

interface PermissionType {
  readonly scopes: readonly string[]
  /** Scopes of groups that give a scope of their members. */
  readonly scopeAliases?: Readonly<Record<string, readonly string[]>>
  /** The type of the groups that objects are members of. */
  readonly groupType?: string
}

/** What there are permissions on, and for what. */
export const permissionTypes: Readonly<Record<string, PermissionType>> = {
  Clients: { scopes: ['manage', 'map-roles', 'map-roles-client-scope', 'map-roles-composite', 'view'] },
  Groups: {
    scopes: [
      'impersonate-members',
      'manage',
      'manage-members',
      'manage-membership',
      'manage-membership-of-members',
      'view',
      'view-members',
    ],
  },
  Organizations: { scopes: ['manage', 'view'] },
  Roles: { scopes: ['map-role', 'map-role-client-scope', 'map-role-composite'] },
  Users: {
    scopes: ['impersonate', 'manage', 'manage-group-membership', 'map-roles', 'reset-password', 'view'],
    scopeAliases: {
      impersonate: ['impersonate-members'],
      manage: ['manage-members'],
      'manage-group-membership': ['manage-membership-of-members'],
      view: ['view-members'],
    },
    groupType: 'Groups',
  },
}

/** The scopes of all types, each once. */
export const permissionScopes: readonly string[] = [
  ...new Set(Object.values(permissionTypes).flatMap(({ scopes }) => scopes)),
]

/** The types of permissions, as the settings of the client show them. */
export const authorizationSchema: Json = {
  resourceTypes: Object.fromEntries(
    Object.entries(permissionTypes).map(([type, { scopes, scopeAliases = {}, groupType }]): [string, Json] => [
      type,
      {
        type,
        scopes: [...scopes],
        scopeAliases: Object.fromEntries(Object.entries(scopeAliases).map(([name, all]) => [name, [...all]])),
        ...(groupType !== undefined && { groupType }),
      },
    ]),
  ),
}
