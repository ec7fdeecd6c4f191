// The REST operations on the groups of organizations and their members.

import { getNameFromPath, getParentPath, toPathSegment, toWirePath } from '../../../kinds/group.ts'
import { type Representation, readObject, readTexts } from '../../../kinds/json.ts'
import { deriveUuid } from '../../../lib/derive-uuid.ts'
import { type GroupPage, type GroupSearch, type ListedGroup, searchGroups } from '../../../store/groups.ts'
import { requireListPermission, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent, omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { toReplacement } from '../../objects/put-body.ts'
import { parseAttributeQuery, parsePage } from '../common/list-query.ts'
import { type Query, toParent } from '../common/resource.ts'
import { nestGroups } from '../users/group-representations.ts'
import { getGroupName, readDeclaredGroupFields, withGroupConflictMessage } from '../users/groups.ts'
import { listMembersOfOrganizationGroup } from './organization-members.ts'
import { getOrganization, requireOrganizationAccess } from './organizations.ts'

/** Keycloak: the most subgroups of a list, unless the query requests more. */
const DEFAULT_PAGE_SIZE = 10

/** The ids of an organization and of one of its groups. */
export interface GroupAddress {
  readonly organization: string
  readonly group: string
}

/** The ids of an organization and, for a subgroup, of its parent group. */
export interface GroupParentAddress {
  readonly organization: string
  readonly parent?: string
}

/** Lists the groups of an organization that match a query, by name; without a search, those at the top. */
export async function listOrganizationGroups(
  context: Context,
  organization: string,
  query: Query,
): Promise<Representation[]> {
  await requireViewableOrganization(context, organization)
  const search = parseSearch(query)
  const withAncestors = search !== undefined && query.populateHierarchy === true
  const page = { ...parsePage(query), withAncestors }
  const matches = await listGroups(context, { ...(search ?? { parent: null }), organization }, { ...query, page })
  return withAncestors ? nestGroups(matches) : matches
}

/** Lists the direct subgroups of a group, by name. */
export async function listSubgroups(
  context: Context,
  { organization, group }: GroupAddress,
  query: Query,
): Promise<Representation[]> {
  await requireViewableOrganization(context, organization)
  await getLiveGroup(context, { organization, group })
  const search = parseSearch({ search: query.search, exact: query.exact })
  // Keycloak: no subgroup has the empty name.
  if (!search && query.exact === true) return []
  const page = parsePage(query, DEFAULT_PAGE_SIZE)
  return listGroups(context, { ...search, organization, parent: group }, { ...query, page })
}

/** Returns a group of an organization. Throws not_found. */
export async function getOrganizationGroup(
  context: Context,
  { organization, group }: GroupAddress,
  query: Query,
): Promise<Representation> {
  await requireViewableOrganization(context, organization)
  await getLiveGroup(context, { organization, group })
  return getGroupById(context, { organization, group }, { ...query, briefRepresentation: false })
}

/** Returns the group at a path in an organization. Throws not_found. */
export async function getOrganizationGroupByPath(
  context: Context,
  { organization, path }: { readonly organization: string; readonly path: string },
  query: Query,
): Promise<Representation> {
  await requireViewableOrganization(context, organization)
  const wirePath = `/${path.replace(/^\/+/, '')}`
  const [group] = await listGroups(context, { organization, wirePath }, query)
  if (!group) throw failure('not_found', 'Group path does not exist')
  return group
}

/** Throws unless the caller may change groups of the organization, and the parent group belongs to it. */
export async function checkGroupParent(
  context: Context,
  { organization, parent }: GroupParentAddress,
): Promise<{ readonly organization: LiveObject; readonly parent: LiveObject | undefined }> {
  await requireOrganizationAccess(context, 'manage', organization)
  return {
    organization: await getOrganization(context, organization),
    parent: parent === undefined ? undefined : await getLiveGroup(context, { organization, group: parent }),
  }
}

/**
 * Creates a group at the top of an organization or below a group, and returns its representation. Keycloak: if the body has the id of a
 * group, moves that group instead, and ignores the other fields.
 */
export async function createOrMoveGroup(
  context: WriteContext,
  address: GroupParentAddress,
  body: Representation,
): Promise<Representation | undefined> {
  const { organization, parent } = await checkGroupParent(context, address)
  const name = getGroupName(body)
  if (typeof body.id === 'string') {
    await moveGroup(context, { organization, parent }, body.id)
    return undefined
  }
  const representation = { ...readDeclaredGroupFields(body), path: toPath(parent, name) }
  const [created] = await withGroupConflictMessage(context, describeConflict(parent), () =>
    writers.organizationGroup.create(context, [{ parent: toParent(organization), representation }]),
  )
  const group = { organization: organization.id, group: created!.id }
  return getGroupById(context, group, { briefRepresentation: parent === undefined })
}

async function moveGroup(
  context: WriteContext,
  { organization, parent }: { readonly organization: LiveObject; readonly parent: LiveObject | undefined },
  id: string,
): Promise<void> {
  const live = await findGroup(context, id)
  if (!live) {
    if ((await writers.group.list(context, { ids: [id] })).length)
      throw failure('invalid', 'Can only move organization groups')
    throw failure('not_found', parent ? 'Could not find child by id' : 'Could not find group by id')
  }
  if (live.parent?.id !== organization.id) throw notInOrganization()
  describeAdminEvent(context, { operationType: 'UPDATE' })
  if (parent?.id === live.id) return
  const set = { path: toPath(parent, getNameFromPath(getPath(live))) }
  await withGroupConflictMessage(context, describeConflict(parent), () =>
    writers.organizationGroup.update(context, [{ live, set }]),
  )
}

/** Changes the name, description and attributes of a group. */
export async function replaceOrganizationGroup(
  context: WriteContext,
  address: GroupAddress,
  body: Representation,
): Promise<void> {
  const live = await checkManagedGroup(context, address)
  const path = `${getParentPath(getPath(live))}${toPathSegment(getGroupName(body))}`
  const set = toReplacement(live, { ...readDeclaredGroupFields(body), path })
  await writers.organizationGroup.update(context, [{ live, set }])
}

/** Deletes a group with its subgroups. */
export async function deleteOrganizationGroup(context: WriteContext, address: GroupAddress): Promise<void> {
  await writers.organizationGroup.delete(context, [await checkManagedGroup(context, address)])
}

/** Returns a group that the caller may change. Throws forbidden or not_found. */
export async function checkManagedGroup(context: Context, { organization, group }: GroupAddress): Promise<LiveObject> {
  await requireOrganizationAccess(context, 'manage', organization)
  await getOrganization(context, organization)
  return getLiveGroup(context, { organization, group })
}

/** Lists the direct members of a group, by username. */
export async function listGroupMembers(
  context: Context,
  address: GroupAddress,
  query: Query,
): Promise<Representation[]> {
  await requireListPermission(context, 'Users', 'list-users')
  await requireViewableOrganization(context, address.organization)
  await getLiveGroup(context, address)
  return listMembersOfOrganizationGroup(context, address, query)
}

/** Adds a member of the organization to a group, or removes the member from it. */
export async function setGroupMembership(
  context: WriteContext,
  { organization, group, user }: GroupAddress & { readonly user: string },
  change: 'add' | 'remove',
): Promise<void> {
  await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [{ id: user }] })
  const { key } = await checkManagedGroup(context, { organization, group })
  const [live] = await writers.user.list(context, { ids: [user] })
  if (!live) throw failure('not_found', 'User does not exist', { form: 'errorMessage' })
  const { organizations, organizationGroups, username, email } = live.representation
  const [, alias, path] = key
  const isMember = readTexts(readObject(organizationGroups)[alias!]).includes(path!)
  if (change === 'remove' && !isMember) return omitAdminEvent(context)
  if (change === 'add' && !readTexts(organizations).includes(alias!))
    throw failure('invalid', 'User is not member of the organization')
  if (change === 'add' && isMember) throw failure('conflict', 'User is already a member of the group')
  await writers.user.update(context, [{ live, set: {}, relations: { organizationGroups: { [change]: [key] } } }])
  describeAdminEvent(context, {
    representation: await getGroupById(context, { organization, group }, {}),
    details: { ...(email != null && { email: String(email) }), username: String(username) },
  })
}

async function requireViewableOrganization(context: Context, organization: string): Promise<void> {
  await requireOrganizationAccess(context, 'view', organization)
  await getOrganization(context, organization)
}

async function findGroup(context: Context, id: string): Promise<LiveObject | undefined> {
  const [group] = await writers.organizationGroup.list(context, { ids: [id] })
  return group
}

/** Returns a group of an organization. Throws not_found, and invalid if it is a group of the realm or of another organization. */
async function getLiveGroup(context: Context, { organization, group }: GroupAddress): Promise<LiveObject> {
  const live = await findGroup(context, group)
  if (live?.parent?.id === organization) return live
  if (live || (await writers.group.list(context, { ids: [group] })).length) throw notInOrganization()
  throw failure('not_found', 'Group does not exist', { form: 'errorMessage' })
}

const notInOrganization = () => failure('invalid', 'Group does not belong to the organization')

async function getGroupById(
  context: Context,
  { organization, group }: GroupAddress,
  view: Query,
): Promise<Representation> {
  return (await listGroups(context, { organization, ids: [group] }, view))[0]!
}

/** Returns the groups that a search finds, by name. One statement, and another one with their roles unless they are brief. */
async function listGroups(
  context: Context,
  search: GroupSearch & { readonly organization: string },
  { page, briefRepresentation, subGroupsCount }: Query & { readonly page?: GroupPage },
): Promise<Representation[]> {
  const matches = await searchGroups(context.tx, context.realm.number, { search, page })
  const isFull = briefRepresentation === false && matches.length > 0
  const full = isFull ? await writers.organizationGroup.list(context, { ids: matches.map(({ id }) => id) }) : []
  const fullById = new Map(full.map((live) => [live.id, live]))
  return matches.map((group) => ({
    ...toBriefGroup(search.organization, group),
    ...(subGroupsCount === true && { subGroupCount: group.subGroups }),
    subGroups: [],
    ...toRoles(fullById.get(group.id)),
  }))
}

function toBriefGroup(organization: string, { id, path, body: { description = null }, parent }: ListedGroup) {
  return {
    id,
    name: getNameFromPath(path),
    ...(description !== null && { description }),
    path: toWirePath(path),
    // Keycloak: the groups at the top are below a group that is the organization.
    parentId: parent ?? deriveUuid(`groups of ${organization}`),
  }
}

function toRoles(live: LiveObject | undefined): Representation {
  if (!live) return {}
  const { attributes = {}, realmRoles = [], clientRoles = {} } = live.representation
  return { attributes, realmRoles, clientRoles }
}

/** Returns the search that a query requests; undefined if it requests none. Keycloak: attributes take precedence. */
function parseSearch({ search, exact, q }: Query): GroupSearch | undefined {
  if (typeof q === 'string' && q.trim() !== '') {
    const attributes = Object.entries(parseAttributeQuery(q)).map(([name, value]) => [name, [value]])
    return attributes.length ? { attributes: Object.fromEntries(attributes) } : {}
  }
  const text = String(search ?? '').trim()
  if (text === '') return undefined
  return exact === true ? { name: text } : { prefix: text }
}

const getPath = ({ key }: LiveObject): string => key.at(-1)!

const toPath = (parent: LiveObject | undefined, name: string): string =>
  `${parent ? getPath(parent) : ''}${toPathSegment(name)}`

const describeConflict = (parent: LiveObject | undefined): string =>
  parent ? 'Sibling group with the given name already exists' : 'Group with the given name already exists.'
