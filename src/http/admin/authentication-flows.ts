import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  copyFlow,
  createFlow,
  deleteFlow,
  getFlow,
  listTopLevelFlows,
  replaceFlow,
} from '../../service/admin-api/authentication/authentication-flows.ts'
import { type BodyForm, bodySchema, objectBody } from '../body.ts'
import { createHandler, readHandler, writeHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import {
  badRequest,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'

const kind = kinds.authenticationFlow
const body = objectBody(kind)
/** Keycloak: the executions in the body of a new flow are ignored, so their fields are not checked. */
const creationBody: BodyForm = {
  ...body,
  schema: bodySchema(kind).extend({ authenticationExecutions: z.array(z.looseObject({})).nullish() }),
  documented: bodySchema(kind),
}
const copy = {
  schema: z.object({ newName: z.string().nullish().describe('Alias of the copy.') }),
  description: 'The alias of the copy.',
}

/** The operations on authentication flows. */
export const authenticationFlowOperations: Operation[] = tagged('Authentication Management', [
  {
    operationId: 'listAuthenticationFlows',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/flows',
    summary: 'List the authentication flows',
    permission: 'list-flows',
    responses: { ...listResponse(kind), ...errorResponses },
    handle: readHandler((context) => listTopLevelFlows(context)),
  },
  {
    operationId: 'createAuthenticationFlow',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/flows',
    summary: 'Create an empty authentication flow',
    permission: 'manage-realm',
    event: 'AUTH_FLOW',
    body: creationBody,
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: createHandler((context, call) => createFlow(context, call.body as Representation)),
  },
  {
    operationId: 'getAuthenticationFlow',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/flows/{id}',
    summary: 'Get an authentication flow',
    permission: 'view-realm',
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => getFlow(context, getParameter(call, 'id'))),
  },
  {
    operationId: 'updateAuthenticationFlow',
    method: 'PUT',
    path: '/admin/realms/{realm}/authentication/flows/{id}',
    summary: 'Update the name and description of an authentication flow',
    permission: 'manage-realm',
    event: 'AUTH_FLOW',
    body,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) =>
      replaceFlow(context, getParameter(call, 'id'), call.body as Representation),
    ),
  },
  {
    operationId: 'deleteAuthenticationFlow',
    method: 'DELETE',
    path: '/admin/realms/{realm}/authentication/flows/{id}',
    summary: 'Delete an authentication flow with its subflows',
    permission: 'manage-realm',
    event: 'AUTH_FLOW',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteFlow(context, getParameter(call, 'id'))),
  },
  {
    operationId: 'copyAuthenticationFlow',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/flows/{flowAlias}/copy',
    summary: 'Copy an authentication flow with its subflows',
    permission: 'manage-realm',
    event: { type: 'AUTH_FLOW', asCalled: true },
    body: copy,
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: createHandler((context, call) =>
      copyFlow(context, getParameter(call, 'flowAlias'), (call.body as z.infer<typeof copy.schema>).newName),
    ),
  },
])
