// Fine-grained admin permissions of version 1: resources of the client with the admin roles, and a permission for each of their scopes.
import { ADMIN_PERMISSIONS, type PermissionType } from './admin-permissions.ts'
import { getAdminClientId, MASTER } from './built-in/index.ts'

/** A type of objects on which administrators can have permissions without an admin role. */
interface ManagedType {
  /** The resource type of version 2 with the same objects. Absent: none. */
  readonly permissionType?: PermissionType
  /** Returns the name of the resource of an object. */
  readonly nameResource: (id: string) => string
  readonly resourceType?: string
  readonly decisionStrategy: 'UNANIMOUS' | 'AFFIRMATIVE'
  readonly scopes: readonly string[]
  /** Returns the name of the permission for a scope of an object. */
  readonly namePermission: (scope: string, id: string) => string
}

/** All users of a realm, or single objects of these kinds. */
export type ManagedTypeName = 'users' | 'group' | 'client' | 'role' | 'identityProvider'

/** The scopes and names by type, as Keycloak has them. */
export const managedTypes: Readonly<Record<ManagedTypeName, ManagedType>> = {
  users: {
    permissionType: 'Users',
    nameResource: () => 'Users',
    decisionStrategy: 'UNANIMOUS',
    scopes: ['view', 'manage', 'map-roles', 'manage-group-membership', 'impersonate', 'user-impersonated'],
    namePermission: (scope) => `${scope === 'impersonate' ? 'admin-impersonating' : scope}.permission.users`,
  },
  group: {
    permissionType: 'Groups',
    nameResource: (id) => `group.resource.${id}`,
    resourceType: 'Group',
    decisionStrategy: 'UNANIMOUS',
    scopes: ['view', 'manage', 'view-members', 'manage-members', 'manage-membership'],
    namePermission: (scope, id) => `${scope.replace('-', '.')}.permission.group.${id}`,
  },
  client: {
    permissionType: 'Clients',
    nameResource: (id) => `client.resource.${id}`,
    resourceType: 'Client',
    decisionStrategy: 'UNANIMOUS',
    scopes: [
      'view',
      'manage',
      'configure',
      'map-roles',
      'map-roles-client-scope',
      'map-roles-composite',
      'token-exchange',
    ],
    namePermission: (scope, id) => `${scope}.permission.client.${id}`,
  },
  role: {
    permissionType: 'Roles',
    nameResource: (id) => `role.resource.${id}`,
    resourceType: 'Role',
    decisionStrategy: 'AFFIRMATIVE',
    scopes: ['map-role', 'map-role-client-scope', 'map-role-composite'],
    namePermission: (scope, id) => `${scope}.permission.${id}`,
  },
  identityProvider: {
    nameResource: (id) => `idp.resource.${id}`,
    resourceType: 'IdentityProvider',
    decisionStrategy: 'UNANIMOUS',
    scopes: ['token-exchange'],
    namePermission: (scope, id) => `${scope}.permission.idp.${id}`,
  },
}

/** Returns the objects that a resource represents: one with an id, or all of a type; undefined for any other resource. */
export function parseManagedResource(
  name: string,
): { readonly type: PermissionType; readonly id: string | undefined } | undefined {
  if (name === managedTypes.users.nameResource('')) return { type: 'Users', id: undefined }
  for (const { permissionType: type, nameResource } of Object.values(managedTypes)) {
    const prefix = nameResource('')
    if (type && type !== 'Users' && name.startsWith(prefix)) return { type, id: name.slice(prefix.length) }
  }
  return undefined
}

/** Returns the scopes of version 1 of a type of objects. */
export function listManagedScopes(type: PermissionType): readonly string[] {
  return Object.values(managedTypes).find(({ permissionType }) => permissionType === type)?.scopes ?? []
}

/** The client ID of the client with the admin roles of a realm other than master. */
export const MANAGEMENT_CLIENT = 'realm-management'
const MANAGEMENT_CLIENTS = { master: getAdminClientId(MASTER), other: MANAGEMENT_CLIENT } as const

/** The client IDs of the clients that have policies about administrators in any realm. */
export const adminPolicyClients: readonly string[] = [ADMIN_PERMISSIONS, ...Object.values(MANAGEMENT_CLIENTS)]

/** Returns the client ID of the client with the admin roles of a realm, and with the resources of these permissions. */
export function getManagementClientId(realm: string): string {
  return realm === MASTER ? MANAGEMENT_CLIENTS.master : MANAGEMENT_CLIENTS.other
}

/** Whether a client can have the resources of these permissions. Keycloak: it is bearer-only. */
export function isManagementClientId(clientId: unknown): boolean {
  return Object.values(MANAGEMENT_CLIENTS).some((id) => id === clientId)
}
