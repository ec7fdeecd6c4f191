import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import { importContent } from '../../reconcile/import/import-content.ts'
import {
  assignScopeToClient,
  listScopesOfClient,
  removeScopeFromClient,
  type ScopeAssignment,
} from '../../service/admin-api/clients/assigned-scopes.ts'
import { clients } from '../../service/admin-api/clients/clients.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { type AssignedScopes, assignedScopes } from '../shapes/assigned-scopes.ts'
import { collection } from '../shapes/collection.ts'
import { clientCertificateOperations } from './client-certificates.ts'
import { clientSecretOperations } from './client-secrets.ts'

const query = z.object({
  clientId: z.string().optional().describe('Client id to look for.'),
  search: queryFlag.describe('Whether a part of the client id is enough, in any case.'),
  q: z.string().optional().describe('Attributes to look for: name:value, separated by spaces.'),
  viewableOnly: queryFlag.describe('Whether to leave out clients that the caller may not view.'),
  ...page,
})

/** Clients, and the client scopes that they have. */
export const clientOperations: Operation[] = tagged('Clients', [
  ...Object.values(
    collection(
      { ...clients, create: createWithSettings },
      { path: '/admin/realms/{realm}/clients', item: '{client-uuid}', query },
    ),
  ),
  ...clientSecretOperations,
  ...clientCertificateOperations,
  ...Object.values(
    assignedScopes(
      scopesOf('default'),
      '/admin/realms/{realm}/clients/{client-uuid}/default-client-scopes',
      'CLIENT_SCOPE_CLIENT_MAPPING',
    ),
  ),
  ...Object.values(
    assignedScopes(
      scopesOf('optional'),
      '/admin/realms/{realm}/clients/{client-uuid}/optional-client-scopes',
      'CLIENT_SCOPE_CLIENT_MAPPING',
    ),
  ),
])

function scopesOf(assignment: ScopeAssignment): AssignedScopes {
  const client = (call: Call) => getParameter(call, 'client-uuid')
  return {
    list: (context, call) => listScopesOfClient(context, client(call), assignment),
    assign: (context, call, scope) => assignScopeToClient(context, { client: client(call), scope, assignment }),
    remove: (context, call, scope) => removeScopeFromClient(context, client(call), scope),
  }
}

/** Keycloak: a new client that decides permissions may bring its resources, scopes and policies. */
async function createWithSettings(
  context: WriteContext,
  place: Parameters<typeof clients.create>[1],
  body: Representation,
): Promise<string> {
  const id = await clients.create(context, place, body)
  const { clientId, authorizationServicesEnabled, authorizationSettings = null } = body
  if (authorizationServicesEnabled === true && authorizationSettings !== null)
    await importContent(context, { clients: [{ clientId: clientId ?? id, authorizationSettings }] })
  return id
}
