// The owners of role mappings: users and groups, and the clients and client scopes that have scope mappings. Only roles in its
// scope come into the tokens of a client without full scope.
import { CLIENT_NOT_FOUND, getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { getObject } from '../common/resource.ts'
import { getLiveGroup } from '../users/groups.ts'
import { getLiveUser } from '../users/users.ts'
import type { RoleMappings } from './role-mappings.ts'

const userPermissions = { view: 'view-users', manage: 'manage-users', clientNotFound: 'Client not found' } as const
const scopeMappings = {
  view: 'view-clients',
  manage: 'manage-clients',
  clientNotFound: CLIENT_NOT_FOUND,
  takesClientRoles: true,
} as const

/** The role mappings of users. */
export const userRoleMappings: RoleMappings = {
  ...userPermissions,
  getOwner: getLiveUser,
  toHolders: ({ id }) => ({ users: [id] }),
}

/** The role mappings of groups. */
export const groupRoleMappings: RoleMappings = {
  ...userPermissions,
  getOwner: getLiveGroup,
  toHolders: ({ id }) => ({ groups: [id] }),
}

/** The scope mappings of clients. */
export const scopeMappingsOfClients: RoleMappings = {
  ...scopeMappings,
  getOwner: getClient,
  toHolders: ({ id }) => ({ clients: [id] }),
  hasAllRoles: ({ representation }) => representation.fullScopeAllowed === true,
  requireChangeable: refuseAdminClient,
}

/** The scope mappings of client scopes. */
export const scopeMappingsOfClientScopes: RoleMappings = {
  ...scopeMappings,
  getOwner: (context, id) => getObject(context, 'clientScope', { id, notFound: 'Could not find client scope' }),
  toHolders: ({ id }) => ({ clientScopes: [id] }),
}
