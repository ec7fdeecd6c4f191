import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/kind.ts'
import {
  addConfig,
  createConfig,
  deleteConfig,
  getConfig,
  replaceConfig,
} from '../../service/resources/authenticator-configs.ts'
import { objectBody } from '../body.ts'
import { creating, type Operation, param, reading, tagged, writing } from '../operation.ts'
import { badRequest, done, made, one, refusals } from '../responses.ts'

const kind = kinds.authenticatorConfig
const body = objectBody(kind)

/** The settings of steps of authentication flows. */
export const authenticatorConfigOperations: Operation[] = tagged('Authentication Management', [
  {
    operationId: 'createAuthenticatorConfig',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/config',
    summary: 'Create settings that no step has yet',
    permission: 'manage-realm',
    event: 'AUTHENTICATOR_CONFIG',
    body,
    responses: { ...made, ...refusals, ...badRequest },
    handle: creating((context, call) => createConfig(context, call.body as Representation)),
  },
  {
    operationId: 'getAuthenticatorConfig',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/config/{id}',
    summary: 'Get the settings of a step; what may be a secret is masked',
    permission: 'view-realm',
    responses: { ...one(kind), ...refusals },
    handle: reading((context, call) => getConfig(context, param(call, 'id'))),
  },
  {
    operationId: 'updateAuthenticatorConfig',
    method: 'PUT',
    path: '/admin/realms/{realm}/authentication/config/{id}',
    summary: 'Replace the settings of a step; what is masked stays',
    permission: 'manage-realm',
    event: 'AUTHENTICATOR_CONFIG',
    body,
    responses: { ...done, ...refusals, ...badRequest },
    handle: writing((context, call) => replaceConfig(context, param(call, 'id'), call.body as Representation)),
  },
  {
    operationId: 'deleteAuthenticatorConfig',
    method: 'DELETE',
    path: '/admin/realms/{realm}/authentication/config/{id}',
    summary: 'Delete the settings of a step',
    permission: 'manage-realm',
    event: 'AUTHENTICATOR_CONFIG',
    responses: { ...done, ...refusals },
    handle: writing((context, call) => deleteConfig(context, param(call, 'id'))),
  },
  {
    operationId: 'createAuthenticationExecutionConfig',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/executions/{executionId}/config',
    summary: 'Give an execution settings',
    permission: 'manage-realm',
    event: { type: 'AUTHENTICATOR_CONFIG', asCalled: true },
    body,
    responses: { ...made, ...refusals, ...badRequest },
    handle: creating((context, call) => addConfig(context, param(call, 'executionId'), call.body as Representation)),
  },
  {
    operationId: 'getAuthenticationExecutionConfig',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/executions/{executionId}/config/{id}',
    summary: 'Get the settings of an execution; what may be a secret is masked',
    permission: 'view-realm',
    responses: { ...one(kind), ...refusals },
    // Keycloak: which execution is meant does not matter.
    handle: reading((context, call) => getConfig(context, param(call, 'id'))),
  },
])
