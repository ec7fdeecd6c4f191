// Roles that something has: those of the realm and those of each client, its own, in effect, and those that it can be given.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/kind.ts'
import type { Context } from '../../service/context.ts'
import {
  addRoles,
  listAll,
  listAvailable,
  listEffective,
  listOwn,
  type RoleSet,
  type Roles,
  reachRoles,
  removeRoles,
} from '../../service/resources/role-sets.ts'
import { listBody } from '../body.ts'
import { bodyBehind, type Call, operationId, param, paramsOf, reading, type Untagged, writing } from '../operation.ts'
import { queryFlag } from '../query.ts'
import { badRequest, done, many, refusals, representationOf } from '../responses.ts'

const kind = kinds.role
const body = listBody(kind)
const list = z.array(representationOf(kind))

const all = z.object({
  realmMappings: list.optional().describe('Roles of the realm.'),
  clientMappings: z
    .record(
      z.string(),
      z.object({
        id: z.string().describe('Id of the client.'),
        client: z.string().describe('Client id of the client.'),
        mappings: list.describe('Roles of the client.'),
      }),
    )
    .optional()
    .describe('Roles of clients, by client id.'),
})
const brief = z.object({
  briefRepresentation: queryFlag.describe('Whether to leave out the attributes; true unless it says otherwise.'),
})

/** The operation that lists all roles of a set. */
export function allRoles(set: RoleSet, path: string): Untagged {
  const [, owner] = paramsOf(path) as [string, string]
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary: 'List the roles by what they belong to',
    permission: set.view,
    responses: { 200: { description: 'The roles.', schema: all }, ...refusals },
    handle: reading((context, call) => listAll(context, set, param(call, owner))),
  }
}

/**
 * The operations on the roles of a set under the path: those of the client that its last parameter names, or, where it has
 * none, those of the realm. `event`: what admin events say that they are about.
 */
export function roleSet(set: RoleSet, path: string, event: EventType): Untagged[] {
  const [, owner, client] = paramsOf(path) as [string, string, string?]
  const at = (call: Call): Roles => ({ owner: param(call, owner), ...(client && { client: param(call, client) }) })
  // What a client has is shown to who may view clients.
  const view = client && set.view !== 'view-clients' ? ([set.view, 'view-clients'] as const) : set.view
  const bodyOf = (context: Context, call: Call) => bodyBehind(call, () => reachRoles(context, set, at(call)))
  return [
    {
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: 'List the roles that are there themselves',
      permission: view,
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => listOwn(context, set, at(call))),
    },
    {
      operationId: operationId('list', `${path}/available`),
      method: 'GET',
      path: `${path}/available`,
      summary: 'List the roles that are not there themselves',
      permission: set.view,
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => listAvailable(context, set, at(call))),
    },
    {
      operationId: operationId('list', `${path}/composite`),
      method: 'GET',
      path: `${path}/composite`,
      summary: 'List the roles that are in effect, with what they contain',
      permission: view,
      query: brief,
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) =>
        listEffective(context, set, at(call), call.query.briefRepresentation !== false),
      ),
    },
    {
      operationId: operationId('add', path),
      method: 'POST',
      path,
      summary: 'Add roles',
      permission: set.manage,
      event,
      body,
      responses: { ...done, ...refusals, ...badRequest },
      handle: writing(async (context, call) =>
        addRoles(context, set, at(call), (await bodyOf(context, call)) as Representation[]),
      ),
    },
    {
      operationId: operationId('remove', path),
      method: 'DELETE',
      path,
      summary: 'Take roles away; without a body all of them',
      permission: set.manage,
      event,
      body: { ...body, optional: true },
      responses: { ...done, ...refusals, ...badRequest },
      handle: writing(async (context, call) =>
        removeRoles(context, set, at(call), (await bodyOf(context, call)) as Representation[] | undefined),
      ),
    },
  ]
}
