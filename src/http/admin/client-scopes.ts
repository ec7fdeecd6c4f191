import { clientScopes } from '../../service/admin-api/clients/client-scopes.ts'
import { type Operation, tagged } from '../operation.ts'
import { collection } from '../shapes/collection.ts'

/** The operations on client scopes. Keycloak: also under the legacy path `client-templates`. */
export const clientScopeOperations: Operation[] = tagged('Client Scopes', [
  ...Object.values(
    collection(clientScopes, { path: '/admin/realms/{realm}/client-scopes', item: '{client-scope-id}' }),
  ),
  ...Object.values(
    collection(clientScopes, { path: '/admin/realms/{realm}/client-templates', item: '{client-scope-id}' }),
  ),
])
