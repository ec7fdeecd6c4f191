// The operations on assigned client scopes: list, add and remove.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, operationId, type UntaggedOperation } from '../operation.ts'
import { alreadySoResponse, errorResponses, noContentResponse } from '../responses.ts'
import { subjectOf, withArticle } from './subject.ts'

/** The service functions for assigned client scopes. */
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

/** Returns the operations on assigned client scopes under a path. `event` is the resource type of their admin events. */
export function assignedScopes(scopes: AssignedScopes, path: string, event: EventType) {
  const item = `${path}/{clientScopeId}`
  const type = path.endsWith('optional-client-scopes') ? 'optional' : 'default'
  const subject = subjectOf(path)
  const isOfRealm = subject === 'the realm'
  const scopeOf = (call: Call) => getParameter(call, 'clientScopeId')
  return {
    list: {
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: `List the ${type} client scopes of ${subject}${isOfRealm ? ': those that new clients get' : ''}`,
      permission: 'view-clients',
      responses: { 200: { description: 'The client scopes.', schema: assigned }, ...errorResponses },
      handle: readHandler((context, call) => scopes.list(context, call)),
    },
    add: {
      operationId: operationId('add', item),
      method: 'PUT',
      path: item,
      summary: `Add ${withArticle(type)} client scope to ${subject}${isOfRealm ? '; existing clients do not get it' : ''}`,
      permission: 'manage-clients',
      event: { type: event, operation: 'CREATE' },
      responses: { ...noContentResponse, ...errorResponses, ...alreadySoResponse },
      handle: writeHandler((context, call) => scopes.assign(context, call, scopeOf(call))),
    },
    remove: {
      operationId: operationId('remove', item),
      method: 'DELETE',
      path: item,
      summary: `Remove ${withArticle(type)} client scope from ${subject}${isOfRealm ? '; existing clients keep it' : ''}`,
      permission: 'manage-clients',
      event,
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => scopes.remove(context, call, scopeOf(call))),
    },
  } satisfies Record<string, UntaggedOperation>
}
