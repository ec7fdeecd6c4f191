import { groupRoles, userRoles } from '../../service/admin-api/roles/role-mappings.ts'
import { type Operation, tagged } from '../operation.ts'
import { allRoles, roleSet } from '../shapes/role-set.ts'

const REALM = 'REALM_ROLE_MAPPING'
const CLIENT = 'CLIENT_ROLE_MAPPING'

/** The roles of users and groups. */
export const roleMappingOperations: Operation[] = [
  ...tagged('Role Mapper', [
    allRoles(userRoles, '/admin/realms/{realm}/users/{user-id}/role-mappings'),
    ...Object.values(roleSet(userRoles, '/admin/realms/{realm}/users/{user-id}/role-mappings/realm', REALM)),
    allRoles(groupRoles, '/admin/realms/{realm}/groups/{group-id}/role-mappings'),
    ...Object.values(roleSet(groupRoles, '/admin/realms/{realm}/groups/{group-id}/role-mappings/realm', REALM)),
  ]),
  ...tagged('Client Role Mappings', [
    ...Object.values(
      roleSet(userRoles, '/admin/realms/{realm}/users/{user-id}/role-mappings/clients/{client-id}', CLIENT),
    ),
    ...Object.values(
      roleSet(groupRoles, '/admin/realms/{realm}/groups/{group-id}/role-mappings/clients/{client-id}', CLIENT),
    ),
  ]),
]
