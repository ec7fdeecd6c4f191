// Fine-grained admin permissions: a client of the realm has them, as authorization resources of these types.
import type { Json, Representation } from './json.ts'

/** Keycloak: the client id of the client with the fine-grained admin permissions. */
export const ADMIN_PERMISSIONS = 'admin-permissions'

/** The client that is created when the realm enables them. Keycloak: AdminPermissionsSchema. */
export const adminPermissionsClient: Representation = {
  clientId: ADMIN_PERMISSIONS,
  authorizationServicesEnabled: true,
}

/** The defaults of the client that differ from those of other clients. */
export const adminPermissionsDefaults: Representation = {
  standardFlowEnabled: true,
  directAccessGrantsEnabled: false,
  fullScopeAllowed: false,
  nodeReRegistrationTimeout: 0,
}

/** Whether this is the client with the fine-grained admin permissions. Keycloak: it has no secret, no service account and no roles. */
export function isAdminPermissions({ clientId, authorizationServicesEnabled }: Representation): boolean {
  return clientId === ADMIN_PERMISSIONS && authorizationServicesEnabled === true
}

interface PermissionType {
  readonly scopes: readonly string[]
  /** The scopes of groups that grant a scope on their members. */
  readonly scopeAliases?: Readonly<Record<string, readonly string[]>>
  /** The resource type of the groups. */
  readonly groupType?: string
}

/** The resource types of fine-grained admin permissions, by name, with their scopes. */
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

/** The scopes of all resource types, each once. */
export const permissionScopes: readonly string[] = [
  ...new Set(Object.values(permissionTypes).flatMap(({ scopes }) => scopes)),
]

/** The resource types as the authorization settings of the client contain them. */
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
