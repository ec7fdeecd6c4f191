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

interface PermissionTypeFacts {
  /** The kind of the objects. */
  readonly kind: 'client' | 'group' | 'organization' | 'role' | 'user'
  /** Whether objects can be named by their natural key; all can be named by their id. */
  readonly hasNames?: true
  readonly scopes: readonly string[]
  /** The scopes of groups that grant a scope on their members. */
  readonly scopeAliases?: Readonly<Record<string, readonly string[]>>
  /** The resource type of the groups. */
  readonly groupType?: string
}

/** The names of the resource types. */
export const permissionTypeNames = ['Clients', 'Groups', 'Organizations', 'Roles', 'Users'] as const

/** A resource type of fine-grained admin permissions. */
export type PermissionType = (typeof permissionTypeNames)[number]

/** The resource types of fine-grained admin permissions, by name, with their scopes. */
export const permissionTypes: Readonly<Record<PermissionType, PermissionTypeFacts>> = {
  Clients: {
    kind: 'client',
    hasNames: true,
    scopes: ['manage', 'map-roles', 'map-roles-client-scope', 'map-roles-composite', 'view'],
  },
  Groups: {
    kind: 'group',
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
  Organizations: { kind: 'organization', scopes: ['manage', 'view'] },
  Roles: { kind: 'role', scopes: ['map-role', 'map-role-client-scope', 'map-role-composite'] },
  Users: {
    kind: 'user',
    hasNames: true,
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

/** Returns the resource type with a name. */
export function findPermissionType(name: unknown): PermissionType | undefined {
  return permissionTypeNames.find((type) => type === name)
}
