import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { namedSchemas } from '../../kinds/json-schema.ts'
import {
  deleteAction,
  deleteActionConfig,
  describeActionConfig,
  getAction,
  getActionConfig,
  listActions,
  listUnregisteredProviders,
  moveAction,
  registerAction,
  replaceAction,
  replaceActionConfig,
} from '../../service/admin-api/authentication/required-actions.ts'
import { objectBody } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { propertySchema } from '../property.ts'
import { badRequest, errorResponses, listResponse, noContentResponse, objectResponse } from '../responses.ts'

const kind = kinds.requiredAction
const alias = (call: Call) => getParameter(call, 'alias')

const registration = z.object({
  providerId: z.string().nullish().describe('Id of the provider, which becomes the alias of the required action.'),
  name: z.string().nullish().describe('Display name of the action.'),
})
const unregistered = z.object({
  providerId: z.string().describe('Id of the provider.'),
  name: z.string().describe('Display name of the provider.'),
})
const config = z
  .strictObject({ config: kind.fields.config!.schema.nullish().describe(kind.fields.config!.description) })
  .describe('Configuration of a required action.')
  .register(namedSchemas, { id: 'RequiredActionConfigRepresentation' })
const configInfo = z
  .object({ properties: z.array(propertySchema).describe('Settings of the required action.') })
  .describe('Description of the configuration of a required action.')
  .register(namedSchemas, { id: 'RequiredActionConfigInfoRepresentation' })

const move = (verb: 'raise' | 'lower', by: -1 | 1): UntaggedOperation => ({
  operationId: `${verb}RequiredActionPriority`,
  method: 'POST',
  path: `/admin/realms/{realm}/authentication/required-actions/{alias}/${verb}-priority`,
  summary:
    by < 0
      ? 'Raise the priority of a required action: execute it before the previous one'
      : 'Lower the priority of a required action: execute it after the next one',
  permission: 'manage-realm',
  event: { type: 'REQUIRED_ACTION', operation: 'UPDATE' },
  responses: { ...noContentResponse, ...errorResponses },
  handle: writeHandler((context, call) => moveAction(context, alias(call), by)),
})

/** The operations on required actions. */
export const requiredActionOperations: Operation[] = tagged('Authentication Management', [
  {
    operationId: 'listRequiredActions',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/required-actions',
    summary: 'List the required actions, by priority',
    permission: 'list-required-actions',
    responses: { ...listResponse(kind), ...errorResponses },
    handle: readHandler(listActions),
  },
  {
    operationId: 'getRequiredAction',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}',
    summary: 'Get a required action',
    permission: 'view-realm',
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => getAction(context, alias(call))),
  },
  {
    operationId: 'updateRequiredAction',
    method: 'PUT',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}',
    summary: 'Update a required action',
    permission: 'manage-realm',
    event: 'REQUIRED_ACTION',
    body: objectBody(kind),
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) => replaceAction(context, alias(call), call.body as Representation)),
  },
  {
    operationId: 'deleteRequiredAction',
    method: 'DELETE',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}',
    summary: 'Delete a required action',
    permission: 'manage-realm',
    event: 'REQUIRED_ACTION',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteAction(context, alias(call))),
  },
  {
    operationId: 'listUnregisteredRequiredActions',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/unregistered-required-actions',
    summary: 'List the unregistered required actions: providers that the realm does not use',
    permission: 'view-realm',
    responses: { 200: { description: 'The providers.', schema: z.array(unregistered) }, ...errorResponses },
    handle: readHandler(listUnregisteredProviders),
  },
  {
    operationId: 'registerRequiredAction',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/register-required-action',
    summary: 'Register a required action',
    permission: 'manage-realm',
    event: 'REQUIRED_ACTION',
    body: { schema: registration, description: 'The provider to register.' },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) => {
      const { providerId, name } = call.body as z.infer<typeof registration>
      return registerAction(context, providerId, name)
    }),
  },
  move('raise', -1),
  move('lower', 1),
  {
    operationId: 'getRequiredActionConfigDescription',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}/config-description',
    summary: 'Get the configuration description of a required action',
    permission: 'view-realm',
    responses: { 200: { description: 'The configuration.', schema: configInfo }, ...errorResponses },
    handle: readHandler(async (context, call) => describeActionConfig(context, alias(call))),
  },
  {
    operationId: 'getRequiredActionConfig',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}/config',
    summary: 'Get the configuration of a required action',
    permission: 'view-realm',
    responses: { 200: { description: 'The configuration.', schema: config }, ...errorResponses },
    handle: readHandler((context, call) => getActionConfig(context, alias(call))),
  },
  {
    operationId: 'updateRequiredActionConfig',
    method: 'PUT',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}/config',
    summary: 'Update the configuration of a required action',
    permission: 'manage-realm',
    event: 'REQUIRED_ACTION_CONFIG',
    body: {
      schema: config,
      description: 'The configuration.',
      representation: 'RequiredActionConfigRepresentation',
    },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) =>
      replaceActionConfig(context, alias(call), ((call.body as z.infer<typeof config>).config ?? {}) as Representation),
    ),
  },
  {
    operationId: 'deleteRequiredActionConfig',
    method: 'DELETE',
    path: '/admin/realms/{realm}/authentication/required-actions/{alias}/config',
    summary: 'Delete the configuration of a required action',
    permission: 'manage-realm',
    event: 'REQUIRED_ACTION_CONFIG',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteActionConfig(context, alias(call))),
  },
])
