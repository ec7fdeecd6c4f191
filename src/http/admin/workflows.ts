import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import {
  activateWorkflow,
  deactivateWorkflow,
  type ExecutionAddress,
  listScheduledWorkflows,
  migrateExecutions,
} from '../../service/admin-api/realms/workflow-executions.ts'
import { omitIds, workflows } from '../../service/admin-api/realms/workflows.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, operationId, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { errorResponses, listResponse, noContentResponse, objectResponse } from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { withArticle } from '../shapes/subject.ts'

const kind = kinds.workflow
const WORKFLOWS = '/admin/realms/{realm}/workflows'
const WORKFLOW = `${WORKFLOWS}/{id}`

const ACTIVATE = `${WORKFLOW}/activate/{type}/{resourceId}`
const DEACTIVATE = `${WORKFLOW}/deactivate/{type}/{resourceId}`
const SCHEDULED = `${WORKFLOWS}/scheduled/{resource-id}`
const MIGRATE = `${WORKFLOWS}/migrate`

const { list, create, replace, remove } = collection(workflows, {
  path: WORKFLOWS,
  item: '{id}',
  query: z.object({
    search: z.string().optional().describe('Part of the name, in any case.'),
    exact: queryFlag.describe('Whether the name must match exactly. Default: false.'),
    ...page,
  }),
  event: false,
  yaml: true,
})

/** The operations on workflows. */
export const workflowOperations: Operation[] = tagged('Workflows', [
  list,
  create,
  {
    operationId: operationId('get', WORKFLOW),
    method: 'GET',
    path: WORKFLOW,
    summary: `Get ${withArticle(kind.title)}`,
    permission: workflows.view,
    yaml: true,
    query: z.object({ includeId: queryFlag.describe('Whether to return ids. Default: true.') }),
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler(async (context, call) => {
      const workflow = await workflows.get(context, { id: getParameter(call, 'id') })
      return call.query.includeId === false ? omitIds(workflow) : workflow
    }),
  },
  replace,
  remove,
  {
    operationId: operationId('post', ACTIVATE),
    method: 'POST',
    path: ACTIVATE,
    summary: 'Start a workflow for a user or client',
    permission: workflows.manage,
    event: false,
    query: z.object({
      notBefore: z
        .string()
        .optional()
        .describe(
          'Delay before the first step: a number of seconds, or a duration such as 500ms, 30d or PT1H. With an invalid one, the workflow does not start.',
        ),
    }),
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => activateWorkflow(context, getExecution(call), call.query.notBefore)),
  },
  {
    operationId: operationId('post', DEACTIVATE),
    method: 'POST',
    path: DEACTIVATE,
    summary: 'Cancel a workflow for a user or client',
    permission: workflows.manage,
    event: false,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deactivateWorkflow(context, getExecution(call))),
  },
  {
    operationId: operationId('get', SCHEDULED),
    method: 'GET',
    path: SCHEDULED,
    summary: 'Get the workflows that are in progress for a user or client',
    permission: workflows.view,
    responses: { ...listResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => listScheduledWorkflows(context, getParameter(call, 'resource-id'))),
  },
  {
    operationId: operationId('post', MIGRATE),
    method: 'POST',
    path: MIGRATE,
    summary: 'Move executions of workflows from one step to another',
    permission: workflows.manage,
    event: false,
    query: z.object({
      from: z.string().optional().describe('Id of the step that is due for users or clients.'),
      to: z.string().optional().describe('Id of the step that is due next, of the same workflow or another.'),
    }),
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, { query: { from, to } }) => migrateExecutions(context, { from, to })),
  },
])

const getExecution = (call: Call): ExecutionAddress => ({
  id: getParameter(call, 'id'),
  type: getParameter(call, 'type'),
  resource: getParameter(call, 'resourceId'),
})
