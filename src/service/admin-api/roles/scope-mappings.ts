// The roles in the scope of clients and client scopes: only these come into the tokens of a client without full scope.
import { CLIENT_NOT_FOUND, refuseAdminClient } from '../clients/client-lookup.ts'
import { getObject } from '../common/resource.ts'
import type { RoleSet } from './role-sets.ts'

const common = { view: 'view-clients', manage: 'manage-clients', clientNotFound: CLIENT_NOT_FOUND } as const

/** The roles in the scope of a client. */
export const mappingsOfClients: RoleSet = {
  ...common,
  find: (context, id) => getClient(context, id),
  holders: ({ id }) => ({ clients: [id] }),
  everything: ({ representation }) => representation.fullScopeAllowed === true,
  demandChange: refuseAdminClient,
}

/** The roles in the scope of a client scope. */
export const mappingsOfClientScopes: RoleSet = {
  ...common,
  find: (context, id) => getObject(context, 'clientScope', { id, notFound: 'Could not find client scope' }),
  holders: ({ id }) => ({ clientScopes: [id] }),
}
