import { clientScopes } from '../../service/resources/client-scopes.ts'
import { type Operation, tagged } from '../operation.ts'
import { collection } from '../shapes/collection.ts'

/** Keycloak: client scopes, also under the name that they had before. */
export const clientScopeOperations: Operation[] = tagged('Client Scopes', [
  ...collection(clientScopes, '/admin/realms/{realm}/client-scopes', '{client-scope-id}'),
  ...collection(clientScopes, '/admin/realms/{realm}/client-templates', '{client-scope-id}'),
])
