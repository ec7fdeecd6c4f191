// The REST operations on groups. They are stored by path; in REST, they have names and parents.

import { getNameFromPath, getParentPath, toPathSegment } from '../../../kinds/group.ts'
import { type Representation, readTextListMap } from '../../../kinds/json.ts'
import { countGroups, type GroupSearch } from '../../../store/groups.ts'
import {
  getObjectVisibility,
  requireListPermission,
  requireObjectPermission,
} from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure, ServiceError } from '../../context/errors.ts'
import { awaitWrites } from '../../context/send-write.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { parseAttributeQuery, parsePage } from '../common/list-query.ts'
import { type AdminResource, getObject, type ObjectAddress, type Query } from '../common/resource.ts'
import { type GroupView, listGroups, nestGroups } from './group-representations.ts'

const VIEW = 'view-users'
const SEARCH = 'list-groups'
const MANAGE = 'manage-users'

/** Keycloak: the most subgroups of a list, unless the query requests more. */
const DEFAULT_PAGE_SIZE = 10

/** Keycloak: GroupsResource, GroupResource. The owner in an address is the parent of a new group; without it, it is a top-level group. */
export const groups: AdminResource = {
  kind: 'group',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async checkAccess(context, { id, owner = id }) {
    const objects = owner === undefined ? 'new' : [await getLiveGroup(context, owner)]
    await requireObjectPermission(context, { type: 'Groups', scope: 'manage', objects })
  },
  async list(context, _address, query) {
    await requireListPermission(context, 'Groups', SEARCH)
    const search = parseSearch(query)
    const withAncestors = search !== undefined && query.populateHierarchy !== false
    const view = parseView(query, query.briefRepresentation !== false)
    const page = { ...parsePage(query), withAncestors }
    const matches = await listGroups(context, search ?? { parent: null }, { ...view, page })
    return withAncestors ? nestGroups(matches) : matches
  },
  async get(context, { id }) {
    await getViewableGroup(context, id)
    return (await listGroups(context, { ids: [id], visible: 'all' }, { withSubGroupCount: true, withAccess: true }))[0]!
  },
  async create(context, { owner }, body) {
    const parent = await findParent(context, owner)
    await requireObjectPermission(context, { type: 'Groups', scope: 'manage', objects: parent ? [parent] : 'new' })
    const name = getGroupName(body)
    const representation = { ...readDeclaredGroupFields(body), path: toPath(parent, name) }
    const [group] = await withGroupConflictMessage(context, describeConflict(parent, name), () =>
      writers.group.create(context, [{ representation }]),
    )
    return group!.id
  },
  async replace(context, { id }, body) {
    const live = await getLiveGroup(context, id)
    await requireObjectPermission(context, { type: 'Groups', scope: 'manage', objects: [live] })
    const name = getGroupName(body)
    if (typeof body.id === 'string' && body.id !== id) throw failure('invalid', 'Invalid group id')
    const path = `${getParentPath(live.key[0]!)}${toPathSegment(name)}`
    const set = toReplacement(live, { ...readDeclaredGroupFields(body), path })
    await withGroupConflictMessage(context, describeSiblingConflict(name), () =>
      writers.group.update(context, [{ live, set }]),
    )
  },
  async delete(context, { id }) {
    const live = await getLiveGroup(context, id)
    await requireObjectPermission(context, { type: 'Groups', scope: 'manage', objects: [live] })
    await writers.group.delete(context, [live])
    describeAdminEvent(context, { representation: { id, name: getNameFromPath(live.key[0]!), subGroups: [] } })
  },
}

/** Moves the group in the body below the owner of the address, or to the top level. Other fields of the body are ignored. */
export async function moveGroup(
  context: WriteContext,
  { owner }: Omit<ObjectAddress, 'id'>,
  { id, ...body }: Representation,
): Promise<void> {
  const parent = await findParent(context, owner)
  await requireObjectPermission(context, { type: 'Groups', scope: 'manage', objects: parent ? [parent] : 'new' })
  getGroupName(body)
  const live = await getObject(context, 'group', { id: String(id), notFound: 'Could not find child by id' })
  await requireObjectPermission(context, { type: 'Groups', scope: 'manage', objects: [live] })
  describeAdminEvent(context, { operationType: 'UPDATE' })
  if (parent?.id === live.id) return
  const name = getNameFromPath(live.key[0]!)
  const set = { path: toPath(parent, name) }
  await withGroupConflictMessage(context, describeConflict(parent, name), () =>
    writers.group.update(context, [{ live, set }]),
  )
}

/** Returns a group as the response to its creation. */
export async function getNewGroup(context: Context, id: string): Promise<Representation> {
  return (await listGroups(context, { ids: [id], visible: 'all' }, { withAccess: true }))[0]!
}

/** Lists the direct subgroups of a group. */
export async function listChildren(context: Context, parent: string, query: Query): Promise<Representation[]> {
  await getViewableGroup(context, parent)
  await requireListPermission(context, 'Groups', SEARCH)
  const view = parseView(query, query.briefRepresentation === true)
  const page = parsePage(query, DEFAULT_PAGE_SIZE)
  const search = parseSearch(query)
  // Keycloak: no subgroup has the empty name.
  if (!search && query.exact === true) return []
  // Keycloak: in a list of subgroups, names begin with the text.
  const { search: prefix, ...conditions } = search ?? {}
  return listGroups(context, { ...conditions, ...(prefix !== undefined && { prefix }), parent }, { ...view, page })
}

/** Returns the number of groups that match a query. Keycloak: `top` is ignored if there is a search. */
export async function countMatchingGroups(context: Context, { search, top }: Query): Promise<number> {
  await requireListPermission(context, 'Groups', SEARCH)
  const filter = typeof search === 'string' ? { search } : top === true ? { parent: null } : {}
  return countGroups(context.tx, context.realm.number, {
    ...filter,
    visible: await getObjectVisibility(context, 'Groups'),
  })
}

/** Returns the group at a wire path. Throws not_found. Keycloak: of several, the one with the fewest slashes in its name. */
export async function getGroupByPath(context: Context, path: string): Promise<Representation> {
  const matches = await listGroups(context, { wirePath: `/${path}`, visible: 'all' }, { withSubGroupCount: true })
  const groupIds = matches.map(({ id }) => ({ id: String(id) }))
  await requireObjectPermission(context, { type: 'Groups', scope: 'view', objects: groupIds })
  if (!matches.length) throw failure('not_found', 'Group path does not exist')
  return matches.reduce((best, group) => (countSlashes(group) < countSlashes(best) ? group : best))
}

/** Returns the group with that id. Throws not_found, and invalid if it is a group of an organization. */
export async function getLiveGroup(context: Context, id: string): Promise<LiveObject> {
  const [group] = await writers.group.list(context, { ids: [id] })
  if (group) return group
  if ((await writers.organizationGroup.list(context, { ids: [id] })).length)
    throw failure('invalid', 'Cannot manage organization related group via non Organization API.')
  throw failure('not_found', 'Could not find group by id')
}

/** Returns the group with that id. Throws not_found, and forbidden unless the caller may view it. */
async function getViewableGroup(context: Context, id: string): Promise<LiveObject> {
  const live = await getLiveGroup(context, id)
  await requireObjectPermission(context, { type: 'Groups', scope: 'view', objects: [live] })
  return live
}

async function findParent(context: Context, id: string | undefined): Promise<LiveObject | undefined> {
  return id === undefined ? undefined : getLiveGroup(context, id)
}

function toPath(parent: LiveObject | undefined, name: string): string {
  return `${parent?.key[0] ?? ''}${toPathSegment(name)}`
}

function countSlashes({ name }: Representation): number {
  return String(name).split('/').length
}

/** Returns the search that a query requests; undefined if it requests none. */
function parseSearch({ search, exact, q }: Query): GroupSearch | undefined {
  if (typeof q === 'string' && q.trim() !== '') {
    const attributes = Object.entries(parseAttributeQuery(q)).map(([name, value]) => [name, [value]])
    return attributes.length ? { attributes: Object.fromEntries(attributes) } : {}
  }
  const text = String(search ?? '').trim()
  if (text === '') return undefined
  return exact === true ? { name: text } : { search: text }
}

function parseView({ subGroupsCount }: Query, brief: boolean): GroupView {
  return { brief, withSubGroupCount: subGroupsCount !== false, withAccess: true }
}

/** Returns the fields that a body declares. Keycloak: subgroups, roles and attributes without values are ignored. */
export function readDeclaredGroupFields(body: Representation): Representation {
  const { description, attributes } = omitNulls(body)
  const withValues = Object.entries(readTextListMap(attributes)).filter(([, values]) => values.length)
  return {
    ...(description !== undefined && { description }),
    ...(attributes !== undefined && { attributes: Object.fromEntries(withValues) }),
  }
}

/** Returns the name in a body. Throws invalid if there is none. */
export function getGroupName({ name }: Representation): string {
  if (typeof name !== 'string' || name.trim() === '') throw failure('invalid', 'Group name is missing')
  // In a path, a tilde before a slash makes the slash a part of the name.
  if (name.endsWith('~')) throw failure('invalid', 'The name of a group must not end with a tilde')
  return name
}

const describeSiblingConflict = (name: string) => `Sibling group named '${name}' already exists.`

const describeConflict = (parent: LiveObject | undefined, name: string) =>
  parent ? describeSiblingConflict(name) : `Top level group named '${name}' already exists.`

/** Keycloak: replaces the message of a conflict by the one for the position of the group. */
export async function withGroupConflictMessage<T>(
  context: WriteContext,
  message: string,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await awaitWrites(context, write)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error
    throw failure('conflict', message, { cause: error })
  }
}
