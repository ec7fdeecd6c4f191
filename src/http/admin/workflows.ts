import * as z from 'zod'
import { withoutIds, workflows } from '../../service/resources/workflows.ts'
import { type Operation, param, reading, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { collection } from '../shapes/collection.ts'

const [list, create, get, ...others] = collection(workflows, '/admin/realms/{realm}/workflows', '{id}').map(
  (operation) => ({ ...operation, yaml: true as const }),
)

/** Workflows: what is kept of them. */
export const workflowOperations: Operation[] = tagged('Workflows', [
  {
    ...list!,
    query: z.object({
      search: z.string().optional().describe('Part of the name, in any case.'),
      exact: queryFlag.describe('Whether it is the whole name.'),
      ...page,
    }),
  },
  { ...create!, event: false },
  {
    ...get!,
    query: z.object({ includeId: queryFlag.describe('Whether ids show; true unless it says otherwise.') }),
    handle: reading(async (context, call) => {
      const shown = await workflows.get(context, { id: param(call, 'id') })
      return call.query.includeId === false ? withoutIds(shown) : shown
    }),
  },
  ...others.map((operation) => ({ ...operation, event: false as const })),
])
