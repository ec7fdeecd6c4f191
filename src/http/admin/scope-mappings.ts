import {
  scopeMappingsOfClientScopes,
  scopeMappingsOfClients,
} from '../../service/admin-api/roles/role-mapping-owners.ts'
import { type Operation, tagged } from '../operation.ts'
import { allRoles, roleSet } from '../shapes/role-set.ts'

const REALM = 'REALM_SCOPE_MAPPING'
const CLIENT = 'CLIENT_SCOPE_MAPPING'

/** The operations on scope mappings of clients and client scopes, also under the legacy path `client-templates`. */
export const scopeMappingOperations: Operation[] = tagged('Scope Mappings', [
  allRoles(scopeMappingsOfClients, '/admin/realms/{realm}/clients/{client-uuid}/scope-mappings'),
  ...Object.values(
    roleSet(scopeMappingsOfClients, '/admin/realms/{realm}/clients/{client-uuid}/scope-mappings/realm', REALM),
  ),
  ...Object.values(
    roleSet(
      scopeMappingsOfClients,
      '/admin/realms/{realm}/clients/{client-uuid}/scope-mappings/clients/{client}',
      CLIENT,
    ),
  ),
  allRoles(scopeMappingsOfClientScopes, '/admin/realms/{realm}/client-scopes/{client-scope-id}/scope-mappings'),
  ...Object.values(
    roleSet(
      scopeMappingsOfClientScopes,
      '/admin/realms/{realm}/client-scopes/{client-scope-id}/scope-mappings/realm',
      REALM,
    ),
  ),
  ...Object.values(
    roleSet(
      scopeMappingsOfClientScopes,
      '/admin/realms/{realm}/client-scopes/{client-scope-id}/scope-mappings/clients/{client}',
      CLIENT,
    ),
  ),
  allRoles(scopeMappingsOfClientScopes, '/admin/realms/{realm}/client-templates/{client-scope-id}/scope-mappings'),
  ...Object.values(
    roleSet(
      scopeMappingsOfClientScopes,
      '/admin/realms/{realm}/client-templates/{client-scope-id}/scope-mappings/realm',
      REALM,
    ),
  ),
  ...Object.values(
    roleSet(
      scopeMappingsOfClientScopes,
      '/admin/realms/{realm}/client-templates/{client-scope-id}/scope-mappings/clients/{client}',
      CLIENT,
    ),
  ),
])
