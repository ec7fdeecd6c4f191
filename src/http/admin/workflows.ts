import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { omitIds, workflows } from '../../service/admin-api/realms/workflows.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, operationId, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { errorResponses, objectResponse } from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { withArticle } from '../shapes/subject.ts'

const kind = kinds.workflow
const WORKFLOWS = '/admin/realms/{realm}/workflows'
const WORKFLOW = `${WORKFLOWS}/{id}`

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
])
