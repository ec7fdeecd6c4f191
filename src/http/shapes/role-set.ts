// The operations on role mappings and scope mappings: direct, available and effective roles.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
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
import { representationOf } from '../representations.ts'
import { badRequest, errorResponses, listResponse, noContentResponse } from '../responses.ts'
import { subjectOf } from './subject.ts'

const kind = kinds.role
const body = listBody(kind)
const list = z.array(representationOf(kind))

const clientMappings = nameSchema(
  'ClientMappingsRepresentation',
  z.object({
    id: z.string().describe('Id of the client.'),
    client: z.string().describe('Client id of the client.'),
    mappings: list.describe('Roles of the client.'),
  }),
)
const allMappings = nameSchema(
  'MappingsRepresentation',
  z.object({
    realmMappings: list.optional().describe('Realm roles. Absent if there are none.'),
    clientMappings: z
      .record(z.string(), clientMappings)
      .optional()
      .describe('Client roles, by client id. Absent if there are none.'),
  }),
)
const brief = z.object({
  briefRepresentation: queryFlag.describe('Whether to leave out attributes. Default: true.'),
})

/** Returns the operation that lists all role mappings, or all scope mappings, of the object in a path. */
export function allRoles(set: RoleMappings, path: string): UntaggedOperation {
  const [, owner] = listParameters(path) as [string, string]
  const isScope = path.includes('scope-mappings')
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary: `Get all ${isScope ? 'scope mappings' : 'role mappings'} of ${subjectOf(path)}`,
    // Keycloak: only these are deprecated, in favour of the operations for realm roles and client roles.
    ...(isScope && { deprecated: true }),
    permission: set.view,
    responses: { 200: { description: 'The roles.', schema: allMappings }, ...errorResponses },
    handle: readHandler((context, call) => listAllMappings(context, set, getParameter(call, owner))),
  }
}

/** A set of roles with the path of its operations and the terms for their summaries. */
interface RoleSet {
  readonly set: RoleMappings
  readonly path: string
  readonly level: 'realm' | 'client'
  readonly mappings: string
  readonly subject: string
  readonly addressOf: (call: Call) => RoleMappingAddress
}

function createRoleSet(set: RoleMappings, path: string): RoleSet {
  const [, owner, client] = listParameters(path) as [string, string, string?]
  const level = client === undefined ? 'realm' : 'client'
  return {
    set,
    path,
    level,
    mappings: `${level} ${path.includes('scope-mappings') ? 'scope' : 'role'} mappings`,
    subject: subjectOf(path),
    addressOf: (call) => ({
      owner: getParameter(call, owner),
      ...(client !== undefined && { client: getParameter(call, client) }),
    }),
  }
}

/**
 * Returns the operations on role mappings under a path: of the roles of the client in its last parameter, or of realm roles.
 * `event` is the resource type of their admin events.
 */
export function roleSet(set: RoleMappings, path: string, event: EventType) {
  const roles = createRoleSet(set, path)
  return { ...listOperations(roles), ...changeOperations(roles, event) }
}

function listOperations({ set, path, level, mappings, subject, addressOf }: RoleSet) {
  const reads = { method: 'GET', responses: { ...listResponse(kind), ...errorResponses } } as const
  // The roles of a client are visible to callers who can view clients.
  const needsClients = level === 'client' && set.view !== 'view-clients'
  const permission = needsClients ? ([set.view, 'view-clients'] as const) : set.view
  return {
    list: {
      ...reads,
      operationId: operationId('list', path),
      path,
      summary: `List ${mappings} of ${subject}`,
      permission,
      handle: readHandler((context, call) => listDirectRoles(context, set, addressOf(call))),
    },
    listAvailable: {
      ...reads,
      operationId: operationId('list', `${path}/available`),
      path: `${path}/available`,
      summary: `List available ${level} roles: those not in the ${mappings} of ${subject}`,
      permission: set.view,
      handle: readHandler((context, call) => listAvailableRoles(context, set, addressOf(call))),
    },
    listEffective: {
      ...reads,
      operationId: operationId('list', `${path}/composite`),
      path: `${path}/composite`,
      summary: `List effective ${level} roles: the ${mappings} of ${subject} with their composites`,
      permission,
      query: brief,
      handle: readHandler((context, call) =>
        listEffectiveRoles(context, set, { ...addressOf(call), brief: call.query.briefRepresentation !== false }),
      ),
    },
  } satisfies Record<string, UntaggedOperation>
}

function changeOperations({ set, path, mappings, subject, addressOf }: RoleSet, event: EventType) {
  const changes = {
    path,
    permission: set.manage,
    event,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
  }
  const readRoles = async (context: Context, call: Call) =>
    (await readBodyAfter(call, () => requireChangeableMappings(context, set, addressOf(call)))) as
      | Representation[]
      | undefined
  return {
    add: {
      ...changes,
      operationId: operationId('add', path),
      method: 'POST',
      summary: `Add ${mappings} to ${subject}`,
      body,
      handle: writeHandler(async (context, call) => {
        const bodies = (await readRoles(context, call)) ?? []
        await addRoles(context, set, { ...addressOf(call), bodies })
      }),
    },
    remove: {
      ...changes,
      operationId: operationId('remove', path),
      method: 'DELETE',
      summary: `Remove ${mappings} from ${subject}; without a body all of them`,
      body: { ...body, optional: true },
      handle: writeHandler(async (context, call) => {
        const bodies = await readRoles(context, call)
        await removeRoles(context, set, { ...addressOf(call), bodies })
      }),
    },
  } satisfies Record<string, UntaggedOperation>
}
