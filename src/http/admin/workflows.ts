import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { withoutIds, workflows } from '../../service/admin-api/realms/workflows.ts'
import { reading } from '../handlers.ts'
import { type Operation, operationId, param, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { one, refusals } from '../responses.ts'
import { collection } from '../shapes/collection.ts'

const kind = kinds.workflow
const WORKFLOWS = '/admin/realms/{realm}/workflows'
const WORKFLOW = `${WORKFLOWS}/{id}`

const { list, create, replace, remove } = collection(workflows, {
  path: WORKFLOWS,
  item: '{id}',
  query: z.object({
    search: z.string().optional().describe('Part of the name, in any case.'),
    exact: queryFlag.describe('Whether it is the whole name.'),
    ...page,
  }),
  event: false,
  yaml: true,
})

/** Workflows: what is kept of them. */
export const workflowOperations: Operation[] = tagged('Workflows', [
  list,
  create,
  {
    operationId: operationId('get', WORKFLOW),
    method: 'GET',
    path: WORKFLOW,
    summary: `Get: ${kind.title}`,
    permission: workflows.view,
    yaml: true,
    query: z.object({ includeId: queryFlag.describe('Whether ids show; true unless it says otherwise.') }),
    responses: { ...one(kind), ...refusals },
    handle: reading(async (context, call) => {
      const shown = await workflows.get(context, { id: param(call, 'id') })
      return call.query.includeId === false ? withoutIds(shown) : shown
    }),
  },
  replace,
  remove,
])
