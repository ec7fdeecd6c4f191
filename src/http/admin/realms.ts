import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { importContent, listRequestedIds, prepareNewRealm } from '../../reconcile/import/import-content.ts'
import { authoritativeRelationsOfNewRealm } from '../../reconcile/model/default-role.ts'
import {
  assignScopeToRealm,
  listScopesOfRealm,
  removeScopeFromRealm,
  type ScopeAssignment,
} from '../../service/admin-api/clients/assigned-scopes.ts'
import { createRealm, deleteRealm, getRealm, listRealms, replaceRealm } from '../../service/admin-api/realms/realms.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { objectBody } from '../body.ts'
import { recordEvent } from '../event.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { queryFlag } from '../query.ts'
import {
  badRequest,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'
import { type AssignedScopes, assignedScopes } from '../shapes/assigned-scopes.ts'

const kind = kinds.realm
const body = objectBody(kind)

/** The operations on realms and their default client scopes. */
export const realmOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'listRealms',
    method: 'GET',
    path: '/admin/realms',
    summary: 'List the realms that are visible to the caller',
    permission: 'any',
    query: z.object({
      briefRepresentation: queryFlag.describe('Whether to return only the basic fields. Default: false.'),
    }),
    responses: { ...listResponse(kind), ...errorResponses },
    handle: async ({ service, caller, query }) => ({
      status: 200,
      body: await listRealms(service, caller, query.briefRepresentation === true),
    }),
  },
  {
    operationId: 'createRealm',
    method: 'POST',
    path: '/admin/realms',
    summary: 'Create a realm',
    permission: 'create-realm',
    event: 'REALM',
    body: { ...body, refusal: 'unable to read contents from stream' },
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: async ({ service, caller, body }) => {
      const representation = await prepareNewRealm(service, body as Representation)
      const make = (context: WriteContext) =>
        importContent(context, representation, { isAuthoritative: authoritativeRelationsOfNewRealm })
      return {
        status: 201,
        created: await createRealm(service, caller, {
          body: representation,
          ids: listRequestedIds(representation),
          createContent: make,
        }),
      }
    },
  },
  {
    operationId: 'getRealm',
    method: 'GET',
    path: '/admin/realms/{realm}',
    summary: 'Get a realm; without view-realm only its basic settings',
    permission: 'see-realm',
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler(getRealm),
  },
  {
    operationId: 'updateRealm',
    method: 'PUT',
    path: '/admin/realms/{realm}',
    summary: 'Update a realm',
    permission: 'manage-realm',
    event: 'REALM',
    body,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: async (call) => {
      const realm = getParameter(call, 'realm')
      const lookUp = () => call.service.read(call.caller, realm, async () => {})
      const settings = (await readBodyAfter(call, lookUp)) as Representation
      // A new name is written in the master realm too.
      const withMaster = typeof settings.realm === 'string' && settings.realm !== realm
      const work = async (context: WriteContext) => {
        await replaceRealm(context, settings)
        recordEvent(context, call)
      }
      await call.service.write(call.caller, { realm, withMaster }, work)
      return { status: 204 }
    },
  },
  {
    operationId: 'deleteRealm',
    method: 'DELETE',
    path: '/admin/realms/{realm}',
    summary: 'Delete a realm with all its objects',
    permission: 'manage-realm',
    event: 'REALM',
    responses: { ...noContentResponse, ...errorResponses },
    handle: async (call) => {
      await call.service.write(call.caller, { realm: getParameter(call, 'realm'), withMaster: true }, deleteRealm)
      return { status: 204 }
    },
  },
  ...Object.values(
    assignedScopes(scopesOf('default'), '/admin/realms/{realm}/default-default-client-scopes', 'CLIENT_SCOPE'),
  ),
  ...Object.values(
    assignedScopes(scopesOf('optional'), '/admin/realms/{realm}/default-optional-client-scopes', 'CLIENT_SCOPE'),
  ),
])

function scopesOf(assignment: ScopeAssignment): AssignedScopes {
  return {
    list: (context) => listScopesOfRealm(context, assignment),
    assign: (context, _call, scope) => assignScopeToRealm(context, assignment, scope),
    remove: (context, _call, scope) => removeScopeFromRealm(context, scope),
  }
}
