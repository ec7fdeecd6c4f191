import * as z from 'zod'
import { roles, rolesById } from '../../service/resources/roles.ts'
import { type Operation, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { collection } from '../shapes/collection.ts'

const query = z.object({
  search: z.string().optional().describe('Part of the name, in any case.'),
  briefRepresentation: queryFlag.describe('Whether to leave out the attributes; true unless it says otherwise.'),
  ...page,
})

const [list, ...ofRealm] = collection(roles, '/admin/realms/{realm}/roles', '{role-name}')
const [listOfClient, ...ofClient] = collection(
  roles,
  '/admin/realms/{realm}/clients/{client-uuid}/roles',
  '{role-name}',
).map((operation) => (operation.event ? { ...operation, event: 'CLIENT_ROLE' as const } : operation))

/** Roles of the realm and of clients by name, and all of them by id. */
export const roleOperations: Operation[] = [
  ...tagged('Roles', [{ ...list!, query }, ...ofRealm, { ...listOfClient!, query }, ...ofClient]),
  // By id, roles are neither listed nor made.
  ...tagged(
    'Roles (by ID)',
    collection({ ...roles, ...rolesById }, '/admin/realms/{realm}/roles-by-id', '{role-id}').slice(2),
  ),
]
