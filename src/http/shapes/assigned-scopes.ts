// Client scopes that are assigned to something: list them, add one, take one away.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { reading, writing } from '../handlers.ts'
import { type Call, operationId, param, type Untagged } from '../operation.ts'
import { done, refusals, taken } from '../responses.ts'
import { subjectOf, withArticle } from './subject.ts'

/** What can be done with the client scopes that are assigned to something. */
export interface AssignedScopes {
  list(context: Context, call: Call): Promise<Representation[]>
  assign(context: WriteContext, call: Call, scope: string): Promise<void>
  remove(context: WriteContext, call: Call, scope: string): Promise<void>
}

const assigned = z.array(
  z.object({
    id: z.string().describe('Id of the client scope.'),
    name: z.string().describe('Name of the client scope.'),
    protocol: z.string().optional().describe('Protocol of the client scope.'),
  }),
)

/** The operations on assigned client scopes under the path. `event`: what admin events say that they are about. */
export function assignedScopes(scopes: AssignedScopes, path: string, event: EventType) {
  const item = `${path}/{clientScopeId}`
  const type = path.endsWith('optional-client-scopes') ? 'optional' : 'default'
  const subject = subjectOf(path)
  const scopeOf = (call: Call) => param(call, 'clientScopeId')
  return {
    list: {
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: `List the ${type} client scopes of ${subject}`,
      permission: 'view-clients',
      responses: { 200: { description: 'The client scopes.', schema: assigned }, ...refusals },
      handle: reading((context, call) => scopes.list(context, call)),
    },
    add: {
      operationId: operationId('add', item),
      method: 'PUT',
      path: item,
      summary: `Add ${withArticle(type)} client scope to ${subject}`,
      permission: 'manage-clients',
      event: { type: event, operation: 'CREATE' },
      responses: { ...done, ...refusals, ...taken },
      handle: writing((context, call) => scopes.assign(context, call, scopeOf(call))),
    },
    remove: {
      operationId: operationId('remove', item),
      method: 'DELETE',
      path: item,
      summary: `Remove ${withArticle(type)} client scope from ${subject}`,
      permission: 'manage-clients',
      event,
      responses: { ...done, ...refusals },
      handle: writing((context, call) => scopes.remove(context, call, scopeOf(call))),
    },
  } satisfies Record<string, Untagged>
}
