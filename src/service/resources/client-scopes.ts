import { nestedMapper } from './protocol-mappers.ts'
import { plainResource } from './resource.ts'

/** Keycloak: ClientScopesResource, ClientScopeResource. */
export const clientScopes = plainResource({
  kind: 'clientScope',
  view: 'view-clients',
  manage: 'manage-clients',
  notFound: 'Could not find client scope',
  nested: nestedMapper,
})
