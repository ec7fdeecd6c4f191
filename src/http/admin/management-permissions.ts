// The operations on fine-grained admin permissions of version 1: of all users, and of single groups, clients, roles and identity providers.
import {
  getManagedClient,
  getManagedGroup,
  getManagedIdentityProvider,
  getManagedUsers,
} from '../../service/admin-api/realms/management-permissions.ts'
import { type GetRole, getRoleById, getRoleByName, getRolePermissions } from '../../service/admin-api/roles/roles.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { type ManagedOptions, managementPermissions } from '../shapes/management-permissions.ts'

const R = '/admin/realms/{realm}'

/** Returns the part of the options that finds a role; the last parameters of the path are its client, if it has one, and the role. */
function ofRole(getRole: GetRole, parameters: { readonly id: string; readonly owner?: string }) {
  const addressOf = (call: Call) => ({
    id: getParameter(call, parameters.id),
    ...(parameters.owner !== undefined && { owner: getParameter(call, parameters.owner) }),
  })
  const getObject: ManagedOptions['getObject'] = async (context, call, purpose) => ({
    type: 'role',
    id: (await getRole(context, addressOf(call), purpose)).id,
  })
  const { view, manage } = getRolePermissions(parameters.owner !== undefined)
  return { view, manage, getObject }
}

/** The operations on fine-grained admin permissions of version 1. */
export const managementPermissionOperations: Operation[] = [
  ...tagged(
    'Realms Admin',
    managementPermissions({
      path: `${R}/users-management-permissions`,
      title: 'all users',
      view: 'view-realm',
      manage: 'manage-realm',
      getObject: (context, _call, purpose) => getManagedUsers(context, purpose),
    }),
  ),
  ...tagged(
    'Groups',
    managementPermissions({
      path: `${R}/groups/{group-id}/management/permissions`,
      title: 'a group',
      view: 'view-users',
      manage: 'manage-users',
      getObject: (context, call, purpose) => getManagedGroup(context, getParameter(call, 'group-id'), purpose),
    }),
  ),
  ...tagged(
    'Clients',
    managementPermissions({
      path: `${R}/clients/{client-uuid}/management/permissions`,
      title: 'a client',
      view: 'view-clients',
      manage: 'manage-clients',
      getObject: (context, call, purpose) => getManagedClient(context, getParameter(call, 'client-uuid'), purpose),
    }),
  ),
  ...tagged('Roles', [
    ...managementPermissions({
      path: `${R}/roles/{role-name}/management/permissions`,
      title: 'a realm role',
      ...ofRole(getRoleByName, { id: 'role-name' }),
    }),
    ...managementPermissions({
      path: `${R}/clients/{client-uuid}/roles/{role-name}/management/permissions`,
      title: 'a client role',
      ...ofRole(getRoleByName, { id: 'role-name', owner: 'client-uuid' }),
    }),
  ]),
  ...tagged(
    'Roles (by ID)',
    managementPermissions({
      path: `${R}/roles-by-id/{role-id}/management/permissions`,
      title: 'a role',
      ...ofRole(getRoleById, { id: 'role-id' }),
    }),
  ),
  ...tagged(
    'Identity Providers',
    managementPermissions({
      path: `${R}/identity-provider/instances/{alias}/management/permissions`,
      title: 'an identity provider',
      view: 'view-identity-providers',
      manage: 'manage-identity-providers',
      getObject: (context, call, purpose) => getManagedIdentityProvider(context, getParameter(call, 'alias'), purpose),
    }),
  ),
]
