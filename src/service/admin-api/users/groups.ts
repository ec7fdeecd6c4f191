// What REST does with groups. They are kept as paths; REST knows names, and the group that another one belongs to.
import { getNameFromPath, getParentPath, toPathSegment } from '../../../kinds/group.ts'
import type { Representation } from '../../../kinds/json.ts'
import { countGroups, type GroupSearch } from '../../../store/groups.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure, ServiceError } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { toReplacement, omitNulls } from '../../objects/put-body.ts'
import { requirePermissions, getVisibility } from '../../permissions/require-permissions.ts'
import { parseAttributeQuery, parsePage } from '../common/list-query.ts'
import { getObject, type ObjectAddress, type Query, type AdminResource } from '../common/resource.ts'
import { type GroupView, nested, showGroups } from './group-view.ts'

const VIEW = 'view-users'
const SEARCH = 'list-groups'
const MANAGE = 'manage-users'

/** Keycloak: how many children of a group a list has, unless it is asked for more. */
const CHILDREN = 10

/** Keycloak: GroupsResource, GroupResource. `owner` is the group that a new one belongs to; without it, it is at the top. */
export const groups: AdminResource = {
  kind: 'group',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async checkAccess(context, { id, owner = id }) {
    if (owner !== undefined) await findGroup(context, owner)
    requirePermissions(context, MANAGE)
  },
  async list(context, _place, query) {
    requirePermissions(context, SEARCH)
    const search = searchOf(query)
    const withAncestors = search !== undefined && query.populateHierarchy !== false
    const view = viewOf(query, query.briefRepresentation !== false)
    const shown = await showGroups(context, search ?? { parent: null }, view, { ...parsePage(query), withAncestors })
    return withAncestors ? nested(shown) : shown
  },
  async get(context, { id }) {
    await findGroup(context, id)
    requirePermissions(context, VIEW)
    return (await showGroups(context, { ids: [id] }, { counted: true, access: true }))[0]!
  },
  async create(context, place, body) {
    const parent = await ownerOf(context, place)
    requirePermissions(context, MANAGE)
    const name = demandName(body)
    const representation = { ...statedIn(body), path: pathIn(parent, name) }
    const [made] = await unlessTaken(parent ? SIBLING : TOP, name, () =>
      writers.group.create(context, [{ representation }]),
    )
    return made!.id
  },
  async replace(context, { id }, body) {
    const live = await findGroup(context, id)
    requirePermissions(context, MANAGE)
    const name = demandName(body)
    if (typeof body.id === 'string' && body.id !== id) throw failure('invalid', 'Invalid group id')
    const path = `${getParentPath(live.key[0]!)}${toPathSegment(name)}`
    const set = toReplacement(live, { ...statedIn(body), path })
    await unlessTaken(SIBLING, name, () => writers.group.update(context, [{ live, set }]))
  },
  async delete(context, { id }) {
    const live = await findGroup(context, id)
    requirePermissions(context, MANAGE)
    await writers.group.delete(context, [live])
    describeAdminEvent(context, { representation: { id, name: getNameFromPath(live.key[0]!), subGroups: [] } })
  },
}

/** Moves the group that the body names to the place; what else the body says does not count. */
export async function moveGroup(
  context: WriteContext,
  place: Omit<ObjectAddress, 'id'>,
  { id, ...body }: Representation,
): Promise<void> {
  const parent = await ownerOf(context, place)
  requirePermissions(context, MANAGE)
  demandName(body)
  const live = await getObject(context, 'group', { id: String(id), notFound: 'Could not find child by id' })
  describeAdminEvent(context, { operationType: 'UPDATE' })
  if (parent?.id === live.id) return
  const name = getNameFromPath(live.key[0]!)
  const set = { path: pathIn(parent, name) }
  await unlessTaken(parent ? SIBLING : TOP, name, () => writers.group.update(context, [{ live, set }]))
}

/** The group as whoever made it sees it. */
export async function showNew(context: Context, id: string): Promise<Representation> {
  return (await showGroups(context, { ids: [id] }, { access: true }))[0]!
}

/** The groups that belong to one directly. */
export async function listChildren(context: Context, parent: string, query: Query): Promise<Representation[]> {
  await findGroup(context, parent)
  requirePermissions(context, VIEW)
  const view = viewOf(query, query.briefRepresentation === true)
  return showGroups(context, { ...searchOf(query), parent }, view, parsePage(query, CHILDREN))
}

/** How many groups there are. Keycloak: where a search is stated, those below the top count in any case. */
export async function countAll(context: Context, { search, top }: Query): Promise<number> {
  requirePermissions(context, SEARCH)
  const which = typeof search === 'string' ? { search } : top === true ? { parent: null } : {}
  return countGroups(context.tx, context.realm.number, { ...which, visible: getVisibility(context, VIEW) })
}

/** The group at a path as the wire shows it. Keycloak: of several, the one with the fewest slashes in names. */
export async function getByPath(context: Context, path: string): Promise<Representation> {
  requirePermissions(context, VIEW)
  const found = await showGroups(context, { wirePath: `/${path}` }, { counted: true })
  if (!found.length) throw failure('not_found', 'Group path does not exist')
  return found.reduce((a, b) => (slashesIn(b) < slashesIn(a) ? b : a))
}

/** The group with that id. Throws not_found. */
export function findGroup(context: Context, id: string): Promise<LiveObject> {
  return getObject(context, 'group', { id, notFound: 'Could not find group by id' })
}

function ownerOf(context: Context, { owner }: Omit<ObjectAddress, 'id'>): Promise<LiveObject | undefined> {
  return owner === undefined ? Promise.resolve(undefined) : findGroup(context, owner)
}

function pathIn(parent: LiveObject | undefined, name: string): string {
  return `${parent?.key[0] ?? ''}${toPathSegment(name)}`
}

function slashesIn({ name }: Representation): number {
  return String(name).split('/').length
}

/** What the query looks for; undefined where it asks for no search at all. */
function searchOf({ search, exact, q }: Query): GroupSearch | undefined {
  if (typeof q === 'string' && q.trim() !== '') {
    const asked = Object.entries(parseAttributeQuery(q)).map(([name, value]): [string, string[]] => [name, [value]])
    return asked.length ? { attributes: Object.fromEntries(asked) } : {}
  }
  const text = String(search ?? '').trim()
  if (text === '') return undefined
  return exact === true ? { name: text } : { search: text }
}

function viewOf({ subGroupsCount }: Query, brief: boolean): GroupView {
  return { brief, counted: subGroupsCount !== false, access: true }
}

/** What a body says of a group. Keycloak: groups and roles in it do not count, nor attributes without values. */
function statedIn(body: Representation): Representation {
  const { description, attributes } = omitNulls(body)
  const valued = Object.entries((attributes ?? {}) as Record<string, string[] | null>).filter(([, one]) => one?.length)
  return {
    ...(description !== undefined && { description }),
    ...(attributes !== undefined && { attributes: Object.fromEntries(valued) }),
  }
}

function demandName({ name }: Representation): string {
  if (typeof name !== 'string' || name.trim() === '') throw failure('invalid', 'Group name is missing')
  // In a path a tilde before a slash says that the slash belongs to the name.
  if (name.endsWith('~')) throw failure('invalid', 'A group name does not end in a tilde')
  return name
}

const TOP = (name: string) => `Top level group named '${name}' already exists.`
const SIBLING = (name: string) => `Sibling group named '${name}' already exists.`

/** Says in the words for the place that a name is taken. */
async function unlessTaken<T>(words: (name: string) => string, name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error
    throw failure('conflict', words(name), { cause: error })
  }
}
