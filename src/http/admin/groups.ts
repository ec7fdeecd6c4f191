import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { listDefaultGroups, setDefaultGroup } from '../../service/admin-api/users/default-groups.ts'
import {
  countMatchingGroups,
  getGroupByPath,
  getNewGroup,
  groups,
  listChildren,
  moveGroup,
} from '../../service/admin-api/users/groups.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { objectBody } from '../body.ts'
import { createOrMoveHandler, readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { representationOf } from '../representations.ts'
import {
  badRequest,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'
import { collection } from '../shapes/collection.ts'

const kind = kinds.group
const body = objectBody(kind)
const search = z.object({
  search: z.string().optional().describe('Part of the name, in any case.'),
  exact: queryFlag.describe('Whether the name must match exactly. Default: false.'),
  subGroupsCount: queryFlag.describe('Whether to return the number of subgroups. Default: true.'),
  ...page,
})
const query = search.extend({
  briefRepresentation: queryFlag.describe('Whether to leave out attributes and role mappings. Default: true.'),
  populateHierarchy: queryFlag.describe(
    'Whether matching groups are returned within their parent groups. Default: true.',
  ),
  q: z.string().optional().describe('Attributes as `name:value`, separated by spaces. All must match.'),
})
const { list, get, replace, remove } = collection(groups, {
  path: '/admin/realms/{realm}/groups',
  item: '{group-id}',
  query,
})
const childrenQuery = search.extend({
  briefRepresentation: queryFlag.describe('Whether to leave out attributes and role mappings. Default: false.'),
})
const count = z.object({ count: z.int().describe('Number of groups.') })

const movedResponse = { 204: { description: 'The group was moved.' } }

/** The operations on groups and default groups. */
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
        ...createdResponse,
        ...movedResponse,
        ...errorResponses,
        ...badRequest,
      },
      handle: createOrMoveHandler(async (context, call) => {
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
        top: queryFlag.describe('Whether to count only top-level groups. Ignored with `search`. Default: false.'),
      }),
      responses: { 200: { description: 'The number of groups.', schema: count }, ...errorResponses },
      handle: readHandler(async (context, call) => ({ count: await countMatchingGroups(context, call.query) })),
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
      responses: { ...listResponse(kind), ...errorResponses },
      handle: readHandler((context, call) => listChildren(context, getParameter(call, 'group-id'), call.query)),
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
        201: { ...createdResponse[201]!, schema: representationOf(kind) },
        ...movedResponse,
        ...errorResponses,
        ...badRequest,
      },
      handle: createOrMoveHandler(async (context, call) => {
        const created = await place(context, call, { owner: getParameter(call, 'group-id') })
        return created === undefined
          ? undefined
          : { created, location: `../${encodeURIComponent(created)}`, body: await getNewGroup(context, created) }
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
      responses: { ...objectResponse(kind), ...errorResponses },
      // Keycloak: a path may begin with an encoded slash.
      handle: readHandler((context, call) => getGroupByPath(context, getParameter(call, 'path').replace(/^\//, ''))),
    },
    {
      operationId: 'listDefaultGroups',
      method: 'GET',
      path: '/admin/realms/{realm}/default-groups',
      summary: 'List the default groups',
      permission: 'view-realm',
      responses: { ...listResponse(kind), ...errorResponses },
      handle: readHandler(listDefaultGroups),
    },
    {
      operationId: 'addDefaultGroup',
      method: 'PUT',
      path: '/admin/realms/{realm}/default-groups/{groupId}',
      summary: 'Add a default group',
      permission: 'manage-realm',
      event: { type: kind.events.type, operation: 'CREATE' },
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => setDefaultGroup(context, getParameter(call, 'groupId'), 'add')),
    },
    {
      operationId: 'removeDefaultGroup',
      method: 'DELETE',
      path: '/admin/realms/{realm}/default-groups/{groupId}',
      summary: 'Remove a default group',
      permission: 'manage-realm',
      event: kind.events.type,
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => setDefaultGroup(context, getParameter(call, 'groupId'), 'remove')),
    },
  ]),
]

/** Creates a group and returns its id. Keycloak: if the body has the id of a group, moves that group instead. */
async function place(context: WriteContext, call: Call, at: { owner?: string }): Promise<string | undefined> {
  const body = (await readBodyAfter(call, async () => groups.checkAccess?.(context, at))) as Representation
  if (typeof body.id !== 'string') return groups.create(context, at, body)
  await moveGroup(context, at, body)
  return undefined
}
