import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import {
  addExecution,
  addSubFlow,
  createExecution,
  deleteExecution,
  moveExecution,
  updateExecution,
} from '../../service/admin-api/authentication/authentication-execution-changes.ts'
import { getExecution, listExecutions } from '../../service/admin-api/authentication/authentication-executions.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { recordEvent } from '../event.ts'
import { createHandler, readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { badRequest, createdResponse, errorResponses, noContentResponse } from '../responses.ts'

const priority = z.int().nullish().describe('Order of the execution. The lowest comes first.')
const requirement = z
  .string()
  .nullish()
  .describe('Requirement of the execution: REQUIRED, ALTERNATIVE, CONDITIONAL or DISABLED.')

const infoFields = {
  id: z.string().nullish().describe('Id of the execution.'),
  requirement,
  displayName: z.string().nullish().describe('Display name of the execution; of a subflow its alias.'),
  alias: z.string().nullish().describe('Alias of the authenticator config.'),
  description: z.string().nullish().describe('Description of the subflow.'),
  requirementChoices: z.array(z.string()).nullish().describe('Possible requirements of the execution.'),
  configurable: z.boolean().nullish().describe('Whether the execution can have an authenticator config.'),
  authenticationFlow: z.boolean().nullish().describe('Whether the execution is a subflow.'),
  providerId: z.string().nullish().describe('Id of the authenticator or form.'),
  authenticationConfig: z.string().nullish().describe('Id of the authenticator config.'),
  flowId: z.string().nullish().describe('Id of the subflow.'),
  level: z.int().nullish().describe('Nesting level of the execution, from 0.'),
  index: z.int().nullish().describe('Position of the execution in its flow, from 0.'),
  priority,
}
const info = z
  .strictObject(infoFields)
  .describe('An execution in the list of a flow.')
  .register(namedSchemas, { id: 'AuthenticationExecutionInfoRepresentation' })

const execution = z
  .strictObject({
    id: z.string().nullish().describe('Id of the execution. Used only on creation.'),
    parentFlow: z.string().nullish().describe('Id of the flow of the execution.'),
    flowId: z.string().nullish().describe('Id of the subflow.'),
    authenticator: z.string().nullish().describe('Id of the authenticator, such as auth-cookie.'),
    authenticatorConfig: z.string().nullish().describe('Id of the authenticator config.'),
    authenticatorFlow: z.boolean().nullish().describe('Whether the execution is a subflow.'),
    autheticatorFlow: z
      .boolean()
      .nullish()
      .meta({ description: 'Keycloak: former spelling of authenticatorFlow.', deprecated: true }),
    requirement,
    priority,
  })
  .describe('An execution of a flow.')
  .register(namedSchemas, { id: 'AuthenticationExecutionRepresentation' })

const step = z.object({ provider: z.string().nullish().describe('Id of the authenticator.'), priority })
const subFlow = z.object({
  alias: z.string().nullish().describe('Alias of the new flow.'),
  type: z.string().nullish().describe('Type of the flow: basic-flow, client-flow or form-flow.'),
  provider: z.string().nullish().describe('Id of the form, for a form-flow.'),
  description: z.string().nullish().describe('Description of the flow.'),
  priority,
})

/** Returns a handler that adds an execution, whose URL is not below that of the request. */
const adding =
  (list: string, work: (context: WriteContext, call: Call) => Promise<string>): Operation['handle'] =>
  (call) =>
    call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
      const id = await work(context, call)
      recordEvent(context, call)
      return { status: 201, location: `../../../${list}/${encodeURIComponent(id)}` }
    })

const move = (verb: 'raise' | 'lower', by: -1 | 1): Omit<Operation, 'tag'> => ({
  operationId: `${verb}AuthenticationExecutionPriority`,
  method: 'POST',
  path: `/admin/realms/{realm}/authentication/executions/{executionId}/${verb}-priority`,
  summary:
    by < 0
      ? 'Raise the priority of an execution: execute it before the previous one'
      : 'Lower the priority of an execution: execute it after the next one',
  permission: 'manage-realm',
  event: { type: 'AUTH_EXECUTION', operation: 'UPDATE' },
  responses: { ...noContentResponse, ...errorResponses },
  handle: writeHandler((context, call) => moveExecution(context, getParameter(call, 'executionId'), by)),
})

/** The operations on executions of authentication flows. */
export const authenticationExecutionOperations: Operation[] = tagged('Authentication Management', [
  {
    operationId: 'listAuthenticationFlowExecutions',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/flows/{flowAlias}/executions',
    summary: 'List the executions of an authentication flow, including subflows',
    permission: 'view-realm',
    responses: { 200: { description: 'The executions.', schema: z.array(info) }, ...errorResponses },
    handle: readHandler((context, call) => listExecutions(context, getParameter(call, 'flowAlias'))),
  },
  {
    operationId: 'updateAuthenticationFlowExecution',
    method: 'PUT',
    path: '/admin/realms/{realm}/authentication/flows/{flowAlias}/executions',
    summary: 'Update an execution of an authentication flow; of a subflow also its name and description',
    permission: 'manage-realm',
    event: 'AUTH_EXECUTION',
    body: {
      schema: info,
      description: 'The execution.',
      representation: 'AuthenticationExecutionInfoRepresentation',
    },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) =>
      updateExecution(context, getParameter(call, 'flowAlias'), call.body as z.infer<typeof info>),
    ),
  },
  {
    operationId: 'addAuthenticationFlowExecution',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/flows/{flowAlias}/executions/execution',
    summary: 'Add an execution to an authentication flow',
    permission: 'manage-realm',
    event: { type: 'AUTH_EXECUTION', asCalled: true },
    body: { schema: step, description: 'The execution to add.' },
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: adding('executions', (context, call) =>
      addExecution(context, getParameter(call, 'flowAlias'), call.body as z.infer<typeof step>),
    ),
  },
  {
    operationId: 'addAuthenticationSubFlow',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/flows/{flowAlias}/executions/flow',
    summary: 'Add a subflow to an authentication flow',
    permission: 'manage-realm',
    event: { type: 'AUTH_EXECUTION_FLOW', asCalled: true },
    body: { schema: subFlow, description: 'The flow to add.' },
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: adding('flows', (context, call) =>
      addSubFlow(context, getParameter(call, 'flowAlias'), call.body as z.infer<typeof subFlow>),
    ),
  },
  {
    operationId: 'createAuthenticationExecution',
    method: 'POST',
    path: '/admin/realms/{realm}/authentication/executions',
    summary: 'Create an execution in the parent flow of the body',
    permission: 'manage-realm',
    event: 'AUTH_EXECUTION',
    body: {
      schema: execution,
      description: 'The execution.',
      representation: 'AuthenticationExecutionRepresentation',
    },
    responses: { ...createdResponse, ...errorResponses, ...badRequest },
    handle: createHandler((context, call) => createExecution(context, call.body as z.infer<typeof execution>)),
  },
  {
    operationId: 'getAuthenticationExecution',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/executions/{executionId}',
    summary: 'Get an execution',
    permission: 'view-realm',
    responses: { 200: { description: 'The execution.', schema: execution }, ...errorResponses },
    handle: readHandler((context, call) => getExecution(context, getParameter(call, 'executionId'))),
  },
  {
    operationId: 'deleteAuthenticationExecution',
    method: 'DELETE',
    path: '/admin/realms/{realm}/authentication/executions/{executionId}',
    summary: 'Delete an execution with its subflow and configuration',
    permission: 'manage-realm',
    event: 'AUTH_EXECUTION',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteExecution(context, getParameter(call, 'executionId'))),
  },
  move('raise', -1),
  move('lower', 1),
])
