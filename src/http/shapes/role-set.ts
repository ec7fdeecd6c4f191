// Roles that something has: those of the realm and those of each client, its own, in effect, and those that it can be given.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  addRoles,
  listAllMappings,
  listAvailableRoles,
  listDirectRoles,
  listEffectiveRoles,
  type RoleMappingAddress,
  type RoleMappings,
  removeRoles,
  requireChangeableMappings,
} from '../../service/admin-api/roles/role-mappings.ts'
import type { Context } from '../../service/context/context.ts'
import { listBody } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import {
  type Call,
  getParameter,
  listParameters,
  operationId,
  readBodyAfter,
  type UntaggedOperation,
} from '../operation.ts'
import { queryFlag } from '../query.ts'
import { badRequest, errorResponses, listResponse, noContentResponse, representationOf } from '../responses.ts'
import { subjectOf } from './subject.ts'

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
export function allRoles(set: RoleMappings, path: string): UntaggedOperation {
  const [, owner] = listParameters(path) as [string, string]
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary: `Get all ${path.includes('scope-mappings') ? 'scope mappings' : 'role mappings'} of ${subjectOf(path)}`,
    permission: set.view,
    responses: { 200: { description: 'The roles.', schema: all }, ...errorResponses },
    handle: readHandler((context, call) => listAllMappings(context, set, getParameter(call, owner))),
  }
}

/** Returns Keycloak's terms for the roles under a path, for summaries. */
function termsFor(path: string, client: string | undefined) {
  const level = client ? 'client' : 'realm'
  const mappings = `${level} ${path.includes('scope-mappings') ? 'scope' : 'role'} mappings`
  return { level, mappings, subject: subjectOf(path) }
}

/**
 * Returns the operations on role mappings under a path: of the roles of the client that its last parameter names, or of realm
 * roles. `event` is the resource type of their admin events.
 */
export function roleSet(set: RoleMappings, path: string, event: EventType) {
  const [, owner, client] = listParameters(path) as [string, string, string?]
  const { level, mappings, subject } = termsFor(path, client)
  const at = (call: Call): RoleMappingAddress => ({
    owner: getParameter(call, owner),
    ...(client && { client: getParameter(call, client) }),
  })
  // The roles of a client are visible to those who may view clients.
  const view = client && set.view !== 'view-clients' ? ([set.view, 'view-clients'] as const) : set.view
  const bodyOf = (context: Context, call: Call) =>
    readBodyAfter(call, () => requireChangeableMappings(context, set, at(call)))
  const reads = { method: 'GET', responses: { ...listResponse(kind), ...errorResponses } } as const
  const changes = {
    path,
    permission: set.manage,
    event,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
  }
  return {
    list: {
      ...reads,
      operationId: operationId('list', path),
      path,
      summary: `List ${mappings} of ${subject}`,
      permission: view,
      handle: readHandler((context, call) => listDirectRoles(context, set, at(call))),
    },
    listAvailable: {
      ...reads,
      operationId: operationId('list', `${path}/available`),
      path: `${path}/available`,
      summary: `List available ${level} roles for the ${mappings} of ${subject}`,
      permission: set.view,
      handle: readHandler((context, call) => listAvailableRoles(context, set, at(call))),
    },
    listEffective: {
      ...reads,
      operationId: operationId('list', `${path}/composite`),
      path: `${path}/composite`,
      summary: `List effective ${level} roles of the ${mappings} of ${subject}`,
      permission: view,
      query: brief,
      handle: readHandler((context, call) =>
        listEffectiveRoles(context, set, { ...at(call), brief: call.query.briefRepresentation !== false }),
      ),
    },
    add: {
      ...changes,
      operationId: operationId('add', path),
      method: 'POST',
      summary: `Add ${mappings} to ${subject}`,
      body,
      handle: writeHandler(async (context, call) =>
        addRoles(context, set, { ...at(call), bodies: (await bodyOf(context, call)) as Representation[] }),
      ),
    },
    remove: {
      ...changes,
      operationId: operationId('remove', path),
      method: 'DELETE',
      summary: `Remove ${mappings} from ${subject}; without a body all of them`,
      body: { ...body, optional: true },
      handle: writeHandler(async (context, call) =>
        removeRoles(context, set, {
          ...at(call),
          bodies: (await bodyOf(context, call)) as Representation[] | undefined,
        }),
      ),
    },
  } satisfies Record<string, UntaggedOperation>
}
