// What a role contains, however the role is found.
import * as z from 'zod'
import type { EventType } from '../../kinds/admin-events.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { ObjectAddress } from '../../service/admin-api/common/resource.ts'
import {
  changeParts,
  type Find,
  listClientParts,
  listGroupsWith,
  listParts,
  listRealmParts,
  listUsersWith,
  reachRole,
} from '../../service/admin-api/roles/composites.ts'
import { rolePermissions } from '../../service/admin-api/roles/roles.ts'
import type { Context } from '../../service/context/context.ts'
import { listBody } from '../body.ts'
import { reading, writing } from '../handlers.ts'
import { bodyBehind, type Call, operationId, param, paramsOf, type Untagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, done, many, refusals } from '../responses.ts'

const kind = kinds.role

/** The operations on what the role at the path contains. `event`: what admin events say that they are about. */
export function composites(find: Find, role: string, event: EventType) {
  const path = `${role}/composites`
  const { view, manage } = permissionsOf(role)
  const bodyOf = (context: Context, call: Call) =>
    bodyBehind(call, () => reachRole(context, find, placeOf(call, role))) as Promise<Representation[]>
  const common = { permission: manage, event, path, body: listBody(kind) } as const
  return {
    list: {
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: 'List the roles of a composite role',
      permission: view,
      query: z.object({ search: z.string().optional().describe('Part of the name, in any case.'), ...page }),
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => listParts(context, find, placeOf(call, role), call.query)),
    },
    listOfRealm: {
      operationId: operationId('list', `${path}/realm`),
      method: 'GET',
      path: `${path}/realm`,
      summary: 'List the realm roles of a composite role',
      permission: view,
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => listRealmParts(context, find, placeOf(call, role))),
    },
    add: {
      ...common,
      operationId: operationId('add', path),
      method: 'POST',
      summary: 'Add roles to a composite role',
      responses: { ...done, ...refusals, ...badRequest },
      handle: writing(async (context, call) =>
        changeParts(context, find, placeOf(call, role), 'add', await bodyOf(context, call)),
      ),
    },
    remove: {
      ...common,
      operationId: operationId('remove', path),
      method: 'DELETE',
      summary: 'Remove roles from a composite role',
      responses: { ...done, ...refusals, ...badRequest },
      handle: writing(async (context, call) =>
        changeParts(context, find, placeOf(call, role), 'remove', await bodyOf(context, call)),
      ),
    },
  } satisfies Record<string, Untagged>
}

/** The operation that lists what the role contains of the client that the last parameter of the path names. */
export function compositesOfClient(find: Find, path: string): Untagged {
  const [role] = path.split('/composites/') as [string]
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary: 'List the client roles of a composite role',
    permission: permissionsOf(role).view,
    responses: { ...many(kind), ...refusals },
    handle: reading((context, call) =>
      listClientParts(context, find, placeOf(call, role), param(call, paramsOf(path).at(-1)!)),
    ),
  }
}

/** The operations that list who has the role at the path. */
export function holders(find: Find, role: string) {
  const brief = queryFlag.describe('Whether names and state are enough; for groups true unless it says otherwise.')
  const query = z.object({ briefRepresentation: brief, ...page })
  const { view } = permissionsOf(role)
  return {
    listUsers: {
      operationId: operationId('list', `${role}/users`),
      method: 'GET',
      path: `${role}/users`,
      summary: 'List the users with a direct role mapping',
      permission: [view, 'list-users'],
      query,
      responses: { ...many(kinds.user), ...refusals },
      handle: reading((context, call) => listUsersWith(context, find, placeOf(call, role), call.query)),
    },
    listGroups: {
      operationId: operationId('list', `${role}/groups`),
      method: 'GET',
      path: `${role}/groups`,
      summary: 'List the groups with a direct role mapping',
      permission: [view, 'list-groups'],
      query,
      responses: { ...many(kinds.group), ...refusals },
      handle: reading((context, call) => listGroupsWith(context, find, placeOf(call, role), call.query)),
    },
  } satisfies Record<string, Untagged>
}

/** A role of a client has an address below that of its client. */
function permissionsOf(role: string) {
  return rolePermissions(paramsOf(role).length > 2)
}

/** The role is named by the last parameter of its path, the client that it belongs to by the one before. */
function placeOf(call: Call, role: string): ObjectAddress {
  const [id, owner] = paramsOf(role).slice(1).reverse() as [string, string?]
  return { id: param(call, id), ...(owner && { owner: param(call, owner) }) }
}
