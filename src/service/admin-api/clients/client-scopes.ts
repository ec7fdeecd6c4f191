import { createPlainResource } from '../common/plain-resource.ts'
import { createGetter } from '../common/resource.ts'
import { readNestedMapper } from './nested-mappers.ts'

/** The message of an error about a client scope that does not exist. */
export const CLIENT_SCOPE_NOT_FOUND = 'Could not find client scope'

/** The REST operations on client scopes. Keycloak: ClientScopesResource, ClientScopeResource. */
export const clientScopes = createPlainResource({
  kind: 'clientScope',
  view: 'view-clients',
  search: 'list-client-scopes',
  manage: 'manage-clients',
  getObject: createGetter('clientScope', CLIENT_SCOPE_NOT_FOUND),
  readChild: readNestedMapper,
})
