// The owners of role mappings: users and groups, and the clients and client scopes that have scope mappings. Only roles in its
// scope come into the tokens of a client without full scope.

import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { CLIENT_NOT_FOUND, getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { getObject } from '../common/resource.ts'
import { getLiveGroup } from '../users/groups.ts'
import { getLiveUser } from '../users/users.ts'
import type { RoleMappings } from './role-mappings.ts'

const userPermissions = {
  view: 'view-users',
  manage: 'manage-users',
  roleScope: 'map-role',
  clientNotFound: 'Client not found',
} as const
const scopeMappings = {
  view: 'view-clients',
  manage: 'manage-clients',
  roleScope: 'map-role-client-scope',
  clientNotFound: CLIENT_NOT_FOUND,
  takesClientRoles: true,
} as const

/** The role mappings of users. */
export const userRoleMappings: RoleMappings = {
  ...userPermissions,
  getOwner: getLiveUser,
  requireAccess: (context, purpose, owner) =>
    requireObjectPermission(context, {
      type: 'Users',
      scope: purpose === 'view' ? 'view' : 'map-roles',
      objects: [owner],
    }),
  toHolders: ({ id }) => ({ users: [id] }),
}

/** The role mappings of groups. */
export const groupRoleMappings: RoleMappings = {
  ...userPermissions,
  getOwner: getLiveGroup,
  requireAccess: (context, scope, owner) =>
    requireObjectPermission(context, { type: 'Groups', scope, objects: [owner] }),
  toHolders: ({ id }) => ({ groups: [id] }),
}

/** The scope mappings of clients. */
export const scopeMappingsOfClients: RoleMappings = {
  ...scopeMappings,
  getOwner: getClient,
  requireAccess: (context, scope, owner) =>
    requireObjectPermission(context, { type: 'Clients', scope, objects: [owner] }),
  toHolders: ({ id }) => ({ clients: [id] }),
  hasAllRoles: ({ representation }) => representation.fullScopeAllowed === true,
  requireChangeable: refuseAdminClient,
}

/** The scope mappings of client scopes. */
export const scopeMappingsOfClientScopes: RoleMappings = {
  ...scopeMappings,
  getOwner: (context, id) => getObject(context, 'clientScope', { id, notFound: 'Could not find client scope' }),
  requireAccess: async (context, purpose) => requirePermissions(context, scopeMappings[purpose]),
  toHolders: ({ id }) => ({ clientScopes: [id] }),
}
