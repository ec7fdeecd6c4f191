import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { addConfig, authenticatorConfigs } from '../../service/admin-api/authentication/authenticator-configs.ts'
import { objectBody } from '../body.ts'
import { createHandler, readHandler } from '../handlers.ts'
import { getParameter, type Operation, operationId, tagged } from '../operation.ts'
import { badRequest, createdResponse, errorResponses, objectResponse } from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { withArticle } from '../shapes/subject.ts'

const kind = kinds.authenticatorConfig
const CONFIGS = '/admin/realms/{realm}/authentication/config'
const OF_STEP = '/admin/realms/{realm}/authentication/executions/{executionId}/config'

const { create, get, replace, remove } = collection(authenticatorConfigs, { path: CONFIGS, item: '{id}' })

/** The operations on authenticator configs. */
export const authenticatorConfigOperations: Operation[] = tagged('Authentication Management', [
  { ...create, deprecated: true },
  get,
  replace,
  remove,
  {
    operationId: operationId('create', OF_STEP),
    method: 'POST',
    path: OF_STEP,
    summary: 'Create the authenticator configuration of an execution',
    permission: authenticatorConfigs.manage,
    event: { type: 'AUTHENTICATOR_CONFIG', asCalled: true },
    body: objectBody(kind),
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: createHandler((context, call) =>
      addConfig(context, getParameter(call, 'executionId'), call.body as Representation),
    ),
  },
  // Keycloak: which execution is meant does not matter.
  {
    operationId: operationId('get', OF_STEP),
    method: 'GET',
    path: `${OF_STEP}/{id}`,
    summary: `Get ${withArticle(kind.title)} of an execution`,
    deprecated: true,
    permission: authenticatorConfigs.view,
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => authenticatorConfigs.get(context, { id: getParameter(call, 'id') })),
  },
])
