import { plainResource } from '../common/plain-resource.ts'
import { byId } from '../common/resource.ts'
import { nestedMapper } from './nested-mappers.ts'

/** What is said of a client scope that does not exist. */
export const CLIENT_SCOPE_NOT_FOUND = 'Could not find client scope'

/** Keycloak: ClientScopesResource, ClientScopeResource. */
export const clientScopes = plainResource({
  kind: 'clientScope',
  view: 'view-clients',
  search: 'list-client-scopes',
  manage: 'manage-clients',
  find: byId('clientScope', CLIENT_SCOPE_NOT_FOUND),
  nested: nestedMapper,
})
