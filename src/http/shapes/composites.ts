// The operations on composite roles, and on the users and groups with a role.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  changeComposites,
  listClientComposites,
  listComposites,
  listGroupsWithRole,
  listRealmComposites,
  listUsersWithRole,
  type RoleLookup,
  requireChangeableRole,
} from '../../service/admin-api/roles/composites.ts'
import { type GetRole, getRolePermissions } from '../../service/admin-api/roles/roles.ts'
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
import { page, queryFlag } from '../query.ts'
import { badRequest, errorResponses, listResponse, noContentResponse } from '../responses.ts'

const kind = kinds.role

/** Returns the operations on the composites of the role at a path. `event` is the resource type of their admin events. */
export function composites(getRole: GetRole, role: string, event: EventType) {
  const path = `${role}/composites`
  const lookUp = createLookup(getRole, role)
  const { view, manage } = permissionsOf(role)
  const bodyOf = (context: Context, call: Call) =>
    readBodyAfter(call, () => requireChangeableRole(context, lookUp(call))) as Promise<Representation[]>
  const common = { permission: manage, event, path, body: listBody(kind) } as const
  return {
    list: {
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: 'List the roles of a composite role',
      permission: view,
      query: z.object({ search: z.string().optional().describe('Part of the name, in any case.'), ...page }),
      responses: { ...listResponse(kind), ...errorResponses },
      handle: readHandler((context, call) => listComposites(context, lookUp(call), call.query)),
    },
    listOfRealm: {
      operationId: operationId('list', `${path}/realm`),
      method: 'GET',
      path: `${path}/realm`,
      summary: 'List the realm roles of a composite role',
      permission: view,
      responses: { ...listResponse(kind), ...errorResponses },
      handle: readHandler((context, call) => listRealmComposites(context, lookUp(call))),
    },
    add: {
      ...common,
      operationId: operationId('add', path),
      method: 'POST',
      summary: 'Add roles to a composite role',
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      handle: writeHandler(async (context, call) =>
        changeComposites(context, lookUp(call), { change: 'add', bodies: await bodyOf(context, call) }),
      ),
    },
    remove: {
      ...common,
      operationId: operationId('remove', path),
      method: 'DELETE',
      summary: 'Remove roles from a composite role',
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      handle: writeHandler(async (context, call) =>
        changeComposites(context, lookUp(call), { change: 'remove', bodies: await bodyOf(context, call) }),
      ),
    },
  } satisfies Record<string, UntaggedOperation>
}

/** Returns the operation that lists the composites that are roles of the client in the last parameter of the path. */
export function compositesOfClient(getRole: GetRole, path: string): UntaggedOperation {
  const [role] = path.split('/composites/') as [string]
  const lookUp = createLookup(getRole, role)
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary: 'List the client roles of a composite role',
    permission: permissionsOf(role).view,
    responses: { ...listResponse(kind), ...errorResponses },
    handle: readHandler((context, call) =>
      listClientComposites(context, lookUp(call), getParameter(call, listParameters(path).at(-1)!)),
    ),
  }
}

/** Returns the operations that list the users and groups with the role at a path. */
export function holders(getRole: GetRole, role: string) {
  const brief = queryFlag.describe(
    'Whether to return only the basic fields. Default: false for users, true for groups.',
  )
  const query = z.object({ briefRepresentation: brief, ...page })
  const full = queryFlag.describe(
    'Whether to return all fields: the opposite of `briefRepresentation`, which takes precedence.',
  )
  const lookUp = createLookup(getRole, role)
  const { view } = permissionsOf(role)
  return {
    listUsers: {
      operationId: operationId('list', `${role}/users`),
      method: 'GET',
      path: `${role}/users`,
      summary: 'List the users with a direct role mapping',
      permission: [view, 'list-users'],
      query,
      responses: { ...listResponse(kinds.user), ...errorResponses },
      handle: readHandler((context, call) => listUsersWithRole(context, lookUp(call), call.query)),
    },
    listGroups: {
      operationId: operationId('list', `${role}/groups`),
      method: 'GET',
      path: `${role}/groups`,
      summary: 'List the groups with a direct role mapping',
      permission: [view, 'list-groups'],
      query: query.extend({ full }),
      responses: { ...listResponse(kinds.group), ...errorResponses },
      handle: readHandler((context, call) => listGroupsWithRole(context, lookUp(call), call.query)),
    },
  } satisfies Record<string, UntaggedOperation>
}

/** Returns the permissions for the role at the path. A client role has a path below that of its client. */
function permissionsOf(role: string) {
  return getRolePermissions(listParameters(role).length > 2)
}

/** Returns the function that looks up the role of a call: by the last parameter of the path, in the client of the one before. */
function createLookup(getRole: GetRole, role: string) {
  const [id, owner] = listParameters(role).slice(1).reverse() as [string, string?]
  return (call: Call): RoleLookup => ({
    getRole,
    address: { id: getParameter(call, id), ...(owner && { owner: getParameter(call, owner) }) },
  })
}
