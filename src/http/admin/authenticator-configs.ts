import type { Representation } from '../../kinds/kind.ts'
import { addConfig, authenticatorConfigs } from '../../service/resources/authenticator-configs.ts'
import { creating, type Operation, operationId, param, tagged } from '../operation.ts'
import { collection } from '../shapes/collection.ts'

const CONFIGS = '/admin/realms/{realm}/authentication/config'
const OF_STEP = '/admin/realms/{realm}/authentication/executions/{executionId}/config'

const [, create, get, ...others] = collection(authenticatorConfigs, CONFIGS, '{id}')

/** The settings of steps of authentication flows. */
export const authenticatorConfigOperations: Operation[] = tagged('Authentication Management', [
  create!,
  get!,
  ...others,
  {
    ...create!,
    operationId: operationId('create', OF_STEP),
    path: OF_STEP,
    summary: 'Give an execution settings',
    event: { type: 'AUTHENTICATOR_CONFIG', asCalled: true },
    handle: creating((context, call) => addConfig(context, param(call, 'executionId'), call.body as Representation)),
  },
  // Keycloak: which execution is meant does not matter.
  { ...get!, operationId: operationId('get', OF_STEP), path: `${OF_STEP}/{id}` },
])
