import * as z from 'zod'
import {
  getRoleById,
  getRoleByName,
  getRolePermissions,
  roles,
  rolesById,
} from '../../service/admin-api/roles/roles.ts'
import { type Operation, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { collection } from '../shapes/collection.ts'
import { composites, compositesOfClient, holders } from '../shapes/composites.ts'

const query = z.object({
  search: z.string().optional().describe('Part of the name, in any case.'),
  briefRepresentation: queryFlag.describe('Whether to leave out attributes. Default: true.'),
  ...page,
})

const ofRealm = collection(roles, { path: '/admin/realms/{realm}/roles', item: '{role-name}', query })
const ofClient = collection(
  { ...roles, ...getRolePermissions(true) },
  { path: '/admin/realms/{realm}/clients/{client-uuid}/roles', item: '{role-name}', query, event: 'CLIENT_ROLE' },
)
// Roles are not listed and not created by id.
const { get, replace, remove } = collection(
  { ...roles, ...rolesById },
  { path: '/admin/realms/{realm}/roles-by-id', item: '{role-id}' },
)

/** The operations on roles by name and by id, their composites, and their users and groups. */
export const roleOperations: Operation[] = [
  ...tagged('Roles', [
    ...Object.values(ofRealm),
    ...Object.values(composites(getRoleByName, '/admin/realms/{realm}/roles/{role-name}', 'REALM_ROLE')),
    compositesOfClient(getRoleByName, '/admin/realms/{realm}/roles/{role-name}/composites/clients/{client-uuid}'),
    ...Object.values(holders(getRoleByName, '/admin/realms/{realm}/roles/{role-name}')),
    ...Object.values(ofClient),
    ...Object.values(
      composites(getRoleByName, '/admin/realms/{realm}/clients/{client-uuid}/roles/{role-name}', 'CLIENT_ROLE'),
    ),
    compositesOfClient(
      getRoleByName,
      '/admin/realms/{realm}/clients/{client-uuid}/roles/{role-name}/composites/clients/{part-client-uuid}',
    ),
    ...Object.values(holders(getRoleByName, '/admin/realms/{realm}/clients/{client-uuid}/roles/{role-name}')),
  ]),
  ...tagged('Roles (by ID)', [
    get,
    replace,
    remove,
    ...Object.values(composites(getRoleById, '/admin/realms/{realm}/roles-by-id/{role-id}', 'REALM_ROLE')),
    compositesOfClient(getRoleById, '/admin/realms/{realm}/roles-by-id/{role-id}/composites/clients/{clientUuid}'),
  ]),
]
