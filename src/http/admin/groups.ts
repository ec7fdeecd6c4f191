import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { listDefaultGroups, setDefaultGroup } from '../../service/admin-api/users/default-groups.ts'
import { countAll, getByPath, groups, listChildren, moveGroup, showNew } from '../../service/admin-api/users/groups.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { objectBody } from '../body.ts'
import { HttpError } from '../errors.ts'
import { placing, reading, writing } from '../handlers.ts'
import { bodyBehind, type Call, type Operation, param, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, done, made, many, one, refusals, representationOf } from '../responses.ts'
import { collection } from '../shapes/collection.ts'

const kind = kinds.group
const body = objectBody(kind)
const search = z.object({
  search: z.string().optional().describe('Part of the name, in any case.'),
  exact: queryFlag.describe('Whether the name must be the same as what is searched for.'),
  subGroupsCount: queryFlag.describe('Whether to count the groups of each; true unless it says otherwise.'),
  ...page,
})
const query = search.extend({
  briefRepresentation: queryFlag.describe('Whether to leave out attributes and roles; true unless it says otherwise.'),
  populateHierarchy: queryFlag.describe(
    'Whether a group that is found stands inside of those above it; true unless it says otherwise.',
  ),
  q: z.string().optional().describe('Attributes to look for: name:value, separated by spaces.'),
})
const { list, get, replace, remove } = collection(groups, {
  path: '/admin/realms/{realm}/groups',
  item: '{group-id}',
  query,
})
const childrenQuery = search.extend({
  briefRepresentation: queryFlag.describe('Whether to leave out attributes and roles.'),
})
const count = z.object({ count: z.int().describe('How many there are.') })

const moved = { 204: { description: 'Moved.' } }

/** Groups, and those that everybody new belongs to. */
export const groupOperations: Operation[] = [
  ...tagged('Groups', [
    list,
    {
      operationId: 'createGroup',
      method: 'POST',
      path: '/admin/realms/{realm}/groups',
      summary: 'Create a top-level group, or move an existing group to the top level',
      permission: groups.manage,
      event: kind.events.type,
      body,
      responses: {
        ...made,
        ...moved,
        ...refusals,
        ...badRequest,
      },
      handle: placing(async (context, call) => {
        const created = await place(context, call, {})
        return created === undefined ? undefined : { created }
      }),
    },
    {
      operationId: 'countGroups',
      method: 'GET',
      path: '/admin/realms/{realm}/groups/count',
      summary: 'Count the groups',
      permission: groups.search!,
      query: z.object({
        search: z.string().optional().describe('Part of the name, in any case.'),
        top: queryFlag.describe('Whether only those at the top count; not where a search is stated.'),
      }),
      responses: { 200: { description: 'The number.', schema: count }, ...refusals },
      handle: reading(async (context, call) => ({ count: await countAll(context, call.query) })),
    },
    get,
    replace,
    remove,
    {
      operationId: 'listGroupChildren',
      method: 'GET',
      path: '/admin/realms/{realm}/groups/{group-id}/children',
      summary: 'List the subgroups of a group',
      permission: groups.view,
      query: childrenQuery,
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => listChildren(context, param(call, 'group-id'), call.query)),
    },
    {
      operationId: 'createGroupChild',
      method: 'POST',
      path: '/admin/realms/{realm}/groups/{group-id}/children',
      summary: 'Create a subgroup, or move an existing group below a group',
      permission: groups.manage,
      event: { type: kind.events.type, asCalled: true },
      body,
      responses: {
        201: { ...made[201]!, schema: representationOf(kind) },
        ...moved,
        ...refusals,
        ...badRequest,
      },
      handle: placing(async (context, call) => {
        const created = await place(context, call, { owner: param(call, 'group-id') })
        return created === undefined
          ? undefined
          : { created, location: `../${encodeURIComponent(created)}`, body: await showNew(context, created) }
      }),
    },
  ]),
  ...tagged('Realms Admin', [
    {
      operationId: 'getGroupByPath',
      method: 'GET',
      path: '/admin/realms/{realm}/group-by-path/{path}',
      summary: 'Get a group by its path',
      permission: groups.view,
      responses: { ...one(kind), ...refusals },
      handle: reading((context, call) => {
        const path = param(call, 'path')
        // Keycloak: an address with an empty step in it is none.
        if (path.startsWith('/')) throw notNormalized()
        return getByPath(context, path)
      }),
    },
    {
      operationId: 'listDefaultGroups',
      method: 'GET',
      path: '/admin/realms/{realm}/default-groups',
      summary: 'List the default groups',
      permission: 'view-realm',
      responses: { ...many(kind), ...refusals },
      handle: reading(listDefaultGroups),
    },
    {
      operationId: 'addDefaultGroup',
      method: 'PUT',
      path: '/admin/realms/{realm}/default-groups/{groupId}',
      summary: 'Add a default group',
      permission: 'manage-realm',
      event: { type: kind.events.type, operation: 'CREATE' },
      responses: { ...done, ...refusals },
      handle: writing((context, call) => setDefaultGroup(context, param(call, 'groupId'), 'add')),
    },
    {
      operationId: 'removeDefaultGroup',
      method: 'DELETE',
      path: '/admin/realms/{realm}/default-groups/{groupId}',
      summary: 'Remove a default group',
      permission: 'manage-realm',
      event: kind.events.type,
      responses: { ...done, ...refusals },
      handle: writing((context, call) => setDefaultGroup(context, param(call, 'groupId'), 'remove')),
    },
  ]),
]

/** Keycloak: a body that names a group by its id moves it; any other makes one. Gives the id of the new one. */
async function place(context: WriteContext, call: Call, at: { owner?: string }): Promise<string | undefined> {
  const body = (await bodyBehind(call, async () => groups.checkAccess?.(context, at))) as Representation
  if (typeof body.id !== 'string') return groups.create(context, at, body)
  await moveGroup(context, at, body)
  return undefined
}

function notNormalized(): HttpError {
  const error_description = 'Request path not normalized'
  return new HttpError(400, { error: 'missingNormalization', error_description })
}
