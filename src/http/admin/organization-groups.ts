import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  checkGroupParent,
  checkManagedGroup,
  createOrMoveGroup,
  deleteOrganizationGroup,
  type GroupAddress,
  type GroupParentAddress,
  getOrganizationGroup,
  getOrganizationGroupByPath,
  listGroupMembers,
  listOrganizationGroups,
  listSubgroups,
  replaceOrganizationGroup,
  setGroupMembership,
} from '../../service/admin-api/organizations/organization-groups.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { objectBody } from '../body.ts'
import { createOrMoveHandler, readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { representationOf } from '../representations.ts'
import {
  alreadySoResponse,
  badRequest,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'
import { memberSchema } from './organizations.ts'

const GROUPS = '/admin/realms/{realm}/organizations/{org-id}/groups'
const GROUP = `${GROUPS}/{group-id}`
const view = 'view-organizations'
const manage = 'manage-organizations'

const organization = (call: Call) => getParameter(call, 'org-id')
const address = (call: Call): GroupAddress => ({
  organization: organization(call),
  group: getParameter(call, 'group-id'),
})

const kind = kinds.group
const body = objectBody(kind)
const subGroupsCount = queryFlag.describe('Whether to return the number of subgroups. Default: false.')
const search = {
  search: z.string().optional().describe('Beginning of the name, in any case; `*` matches any text.'),
  exact: queryFlag.describe('Whether the name must match exactly. Default: false.'),
  subGroupsCount,
  ...page,
}
const briefRepresentation = queryFlag.describe('Whether to leave out attributes and roles. Default: true.')
const createResponses = {
  201: { ...createdResponse[201]!, schema: representationOf(kind) },
  204: { description: 'The group was moved.' },
  ...errorResponses,
  ...badRequest,
}

/** Keycloak: the response to a move has the type of a body, but no body. */
const MOVED = { type: 'application/json' }

/** The operations on the groups of organizations. */
export const organizationGroupOperations: Operation[] = tagged('Organizations', [
  {
    operationId: 'listOrganizationGroups',
    method: 'GET',
    path: GROUPS,
    summary: 'List the groups of an organization',
    description: 'Without a search, those at the top.',
    permission: view,
    query: z.object({
      ...search,
      briefRepresentation,
      populateHierarchy: queryFlag.describe(
        'Whether matching groups are returned within their parent groups. Default: false.',
      ),
      q: z.string().optional().describe('Attributes as `name:value`, separated by spaces. All must match.'),
    }),
    responses: { ...listResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => listOrganizationGroups(context, organization(call), call.query)),
  },
  {
    operationId: 'createOrganizationGroup',
    method: 'POST',
    path: GROUPS,
    summary: 'Create a top-level group of an organization, or move a group to the top level',
    permission: manage,
    event: { type: 'ORGANIZATION_GROUP', asCalled: true },
    body,
    responses: createResponses,
    handle: createOrMoveHandler((context, call) => place(context, call, { organization: organization(call) }), MOVED),
  },
  {
    operationId: 'getOrganizationGroupByPath',
    method: 'GET',
    path: `${GROUPS}/group-by-path/{path}`,
    summary: 'Get a group of an organization by its path',
    permission: view,
    query: z.object({ subGroupsCount }),
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler((context, call) =>
      getOrganizationGroupByPath(
        context,
        { organization: organization(call), path: getParameter(call, 'path') },
        call.query,
      ),
    ),
  },
  {
    operationId: 'getOrganizationGroup',
    method: 'GET',
    path: GROUP,
    summary: 'Get a group of an organization',
    permission: view,
    query: z.object({ subGroupsCount }),
    responses: { ...objectResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => getOrganizationGroup(context, address(call), call.query)),
  },
  {
    operationId: 'replaceOrganizationGroup',
    method: 'PUT',
    path: GROUP,
    summary: 'Replace a group of an organization, but not its subgroups and members',
    permission: manage,
    event: 'ORGANIZATION_GROUP',
    body,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => {
      const replacement = await readBodyAfter(call, async () => {
        await checkManagedGroup(context, address(call))
      })
      await replaceOrganizationGroup(context, address(call), replacement as Representation)
    }),
  },
  {
    operationId: 'deleteOrganizationGroup',
    method: 'DELETE',
    path: GROUP,
    summary: 'Delete a group of an organization with its subgroups',
    permission: manage,
    event: 'ORGANIZATION_GROUP',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteOrganizationGroup(context, address(call))),
  },
  {
    operationId: 'listOrganizationGroupChildren',
    method: 'GET',
    path: `${GROUP}/children`,
    summary: 'List the subgroups of a group of an organization',
    permission: view,
    query: z.object({ ...search, briefRepresentation }),
    responses: { ...listResponse(kind), ...errorResponses },
    handle: readHandler((context, call) => listSubgroups(context, address(call), call.query)),
  },
  {
    operationId: 'createOrganizationGroupChild',
    method: 'POST',
    path: `${GROUP}/children`,
    summary: 'Create a subgroup in an organization, or move a group below a group',
    permission: manage,
    event: { type: 'ORGANIZATION_GROUP', asCalled: true },
    body,
    responses: createResponses,
    handle: createOrMoveHandler(
      (context, call) =>
        place(context, call, { organization: organization(call), parent: getParameter(call, 'group-id') }),
      MOVED,
    ),
  },
  {
    operationId: 'listOrganizationGroupMembers',
    method: 'GET',
    path: `${GROUP}/members`,
    summary: 'List the members of a group of an organization',
    permission: [view, 'list-users'],
    query: z.object({
      briefRepresentation: queryFlag.describe('Whether to return only the basic fields. Default: false.'),
      ...page,
    }),
    responses: { 200: { description: 'The members.', schema: z.array(memberSchema) }, ...errorResponses },
    handle: readHandler((context, call) => listGroupMembers(context, address(call), call.query)),
  },
  {
    operationId: 'addOrganizationGroupMember',
    method: 'PUT',
    path: `${GROUP}/members/{userId}`,
    summary: 'Add a member of an organization to one of its groups',
    permission: [manage, 'manage-users'],
    event: { type: 'ORGANIZATION_GROUP_MEMBERSHIP', operation: 'CREATE' },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest, ...alreadySoResponse },
    handle: writeHandler((context, call) => setGroupMembership(context, withUser(call), 'add')),
  },
  {
    operationId: 'removeOrganizationGroupMember',
    method: 'DELETE',
    path: `${GROUP}/members/{userId}`,
    summary: 'Remove a member of an organization from one of its groups',
    permission: [manage, 'manage-users'],
    event: 'ORGANIZATION_GROUP_MEMBERSHIP',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => setGroupMembership(context, withUser(call), 'remove')),
  },
])

const withUser = (call: Call) => ({ ...address(call), user: getParameter(call, 'userId') })

/** Creates a group and returns it as the body of the response. If the body has the id of a group, moves that group instead. */
async function place(context: WriteContext, call: Call, parent: GroupParentAddress) {
  const body = await readBodyAfter(call, async () => {
    await checkGroupParent(context, parent)
  })
  const group = await createOrMoveGroup(context, parent, body as Representation)
  return group && { created: String(group.id), body: group }
}
