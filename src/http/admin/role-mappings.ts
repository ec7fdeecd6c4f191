import { groupRoleMappings, userRoleMappings } from '../../service/admin-api/roles/role-mapping-owners.ts'
import { type Operation, tagged } from '../operation.ts'
import { allRoles, roleSet } from '../shapes/role-set.ts'

const REALM = 'REALM_ROLE_MAPPING'
const CLIENT = 'CLIENT_ROLE_MAPPING'

/** The operations on role mappings of users and groups. */
export const roleMappingOperations: Operation[] = [
  ...tagged('Role Mapper', [
    allRoles(userRoleMappings, '/admin/realms/{realm}/users/{user-id}/role-mappings'),
    ...Object.values(roleSet(userRoleMappings, '/admin/realms/{realm}/users/{user-id}/role-mappings/realm', REALM)),
    allRoles(groupRoleMappings, '/admin/realms/{realm}/groups/{group-id}/role-mappings'),
    ...Object.values(roleSet(groupRoleMappings, '/admin/realms/{realm}/groups/{group-id}/role-mappings/realm', REALM)),
  ]),
  ...tagged('Client Role Mappings', [
    ...Object.values(
      roleSet(userRoleMappings, '/admin/realms/{realm}/users/{user-id}/role-mappings/clients/{client-id}', CLIENT),
    ),
    ...Object.values(
      roleSet(groupRoleMappings, '/admin/realms/{realm}/groups/{group-id}/role-mappings/clients/{client-id}', CLIENT),
    ),
  ]),
]
