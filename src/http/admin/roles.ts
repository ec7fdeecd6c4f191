import * as z from 'zod'
import { byId, byName } from '../../service/resources/composites.ts'
import { rolePermissions, roles, rolesById } from '../../service/resources/roles.ts'
import { type Operation, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { collection } from '../shapes/collection.ts'
import { composites, compositesOfClient, holders } from '../shapes/composites.ts'

const query = z.object({
  search: z.string().optional().describe('Part of the name, in any case.'),
  briefRepresentation: queryFlag.describe('Whether to leave out the attributes; true unless it says otherwise.'),
  ...page,
})

const [list, ...ofRealm] = collection(roles, '/admin/realms/{realm}/roles', '{role-name}')
const [listOfClient, ...ofClient] = collection(
  { ...roles, ...rolePermissions(true) },
  '/admin/realms/{realm}/clients/{client-uuid}/roles',
  '{role-name}',
).map((operation) => (operation.event ? { ...operation, event: 'CLIENT_ROLE' as const } : operation))

/** Roles of the realm and of clients by name, and all of them by id; what they contain, and who has them. */
export const roleOperations: Operation[] = [
  ...tagged('Roles', [
    { ...list!, query },
    ...ofRealm,
    ...composites(byName, '/admin/realms/{realm}/roles/{role-name}', 'REALM_ROLE'),
    compositesOfClient(byName, '/admin/realms/{realm}/roles/{role-name}/composites/clients/{client-uuid}'),
    ...holders(byName, '/admin/realms/{realm}/roles/{role-name}'),
    { ...listOfClient!, query },
    ...ofClient,
    ...composites(byName, '/admin/realms/{realm}/clients/{client-uuid}/roles/{role-name}', 'CLIENT_ROLE'),
    compositesOfClient(
      byName,
      '/admin/realms/{realm}/clients/{client-uuid}/roles/{role-name}/composites/clients/{part-client-uuid}',
    ),
    ...holders(byName, '/admin/realms/{realm}/clients/{client-uuid}/roles/{role-name}'),
  ]),
  ...tagged('Roles (by ID)', [
    // By id, roles are neither listed nor made.
    ...collection({ ...roles, ...rolesById }, '/admin/realms/{realm}/roles-by-id', '{role-id}').slice(2),
    ...composites(byId, '/admin/realms/{realm}/roles-by-id/{role-id}', 'REALM_ROLE'),
    compositesOfClient(byId, '/admin/realms/{realm}/roles-by-id/{role-id}/composites/clients/{clientUuid}'),
  ]),
]
