// The roles, groups and users to which policies give fine-grained admin permissions, as the admin roles that contain these permissions.
import { findPermissionType, type PermissionType } from '../../kinds/admin-permissions.ts'
import type { AdminRole } from '../../kinds/admin-roles.ts'
import { parseManagedResource } from '../../kinds/management-permissions.ts'
import type { PermissionVersion } from './object-grants.ts'
import { listRoleKeys } from './policy-types.ts'
import type { Policy, ResourceServer } from './resource-server.ts'

/** The policies about the administrators of a realm. */
export interface AdminPolicies {
  readonly version: PermissionVersion
  readonly server: ResourceServer
}

/** The admin roles that policies give to roles, groups and users. Those that they give to every caller, such as at some time of the day, are not contained. */
export interface PolicyGrants {
  /** By key of the role as JSON. */
  readonly roles: ReadonlyMap<string, ReadonlySet<AdminRole>>
  /** By path of the group; what members of subgroups have, too, by path and `/`. */
  readonly groups: ReadonlyMap<string, ReadonlySet<AdminRole>>
  /** By username. */
  readonly users: ReadonlyMap<string, ReadonlySet<AdminRole>>
}

/** All admin roles that policies can give. */
export const grantedByPolicies: readonly AdminRole[] = [
  'manage-users',
  'impersonation',
  'manage-clients',
  'manage-realm',
  'manage-organizations',
]

/** Returns what the policies give. A policy that denies counts, too: a change of it can give what it denied. */
export function listPolicyGrants({ server }: AdminPolicies): PolicyGrants {
  const maps = { roles: new Map(), groups: new Map(), users: new Map() } as const satisfies Record<string, GrantMap>
  for (const permission of server.policies.filter(({ fields }) => fields.type === 'scope')) {
    const adminRoles = listAdminRoles(permission)
    for (const { fields } of listConditions(server, permission)) {
      const roleKeys = [...listRoleKeys(fields, 'roles'), ...listRoleKeys(fields, 'requiredRoles')]
      add(
        maps.roles,
        roleKeys.map((key) => JSON.stringify(key)),
        adminRoles,
      )
      add(maps.groups, [...(fields.groups ?? []), ...(fields.groupsAndBelow ?? [])], adminRoles)
      add(
        maps.groups,
        (fields.groupsAndBelow ?? []).map((path) => `${path}/`),
        adminRoles,
      )
      add(maps.users, fields.users ?? [], adminRoles)
    }
  }
  return maps
}

type GrantMap = Map<string, Set<AdminRole>>

function add(grants: GrantMap, names: readonly string[], adminRoles: readonly AdminRole[]): void {
  for (const name of names) grants.set(name, new Set([...(grants.get(name) ?? []), ...adminRoles]))
}

/** Returns the admin roles that members of a group with this path have by policies. */
export function listRolesOfGroup({ groups }: PolicyGrants, path: string): AdminRole[] {
  return [...groups].flatMap(([key, adminRoles]) => {
    const isMember = key === path || (key.endsWith('/') && path.startsWith(key))
    return isMember ? [...adminRoles] : []
  })
}

/** Returns the admin roles with the scopes of a permission. */
function listAdminRoles({ fields }: Policy): AdminRole[] {
  const { config, resources = [], scopes = [] } = fields
  const types = new Set(
    [
      findPermissionType(config?.defaultResourceType),
      ...resources.map((name) => parseManagedResource(name)?.type),
    ].filter((type) => type !== undefined),
  )
  return [...types].flatMap((type) => scopes.map((scope) => toAdminRole(type, scope)))
}

function toAdminRole(type: PermissionType, scope: string): AdminRole {
  if (type === 'Clients') return scope === 'view' ? 'view-clients' : 'manage-clients'
  if (type === 'Organizations') return scope === 'view' ? 'view-organizations' : 'manage-organizations'
  if (scope === 'map-role-client-scope') return 'manage-clients'
  if (scope === 'map-role-composite') return 'manage-realm'
  if (scope.startsWith('impersonate')) return 'impersonation'
  return scope === 'view' || scope === 'view-members' ? 'view-users' : 'manage-users'
}

/** Returns the policies of a permission, and those that its aggregated policies contain. */
function listConditions(server: ResourceServer, permission: Policy): Policy[] {
  const policies = new Set([permission])
  for (const { fields } of policies)
    for (const name of fields.policies ?? []) {
      const policy = server.policiesByName.get(name)
      if (policy) policies.add(policy)
    }
  return [...policies]
}
