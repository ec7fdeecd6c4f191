// The REST operations on the groups of a user and the members of a group.

import type { Representation } from '../../../kinds/json.ts'
import { viewOf } from '../../../kinds/kind.ts'
import { user as userKind } from '../../../kinds/user.ts'
import { countGroups, type GroupSearch } from '../../../store/groups.ts'
import { getObjectVisibility, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent, omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { parsePage } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'
import { GROUP_NOT_FOUND } from './default-groups.ts'
import { listGroups } from './group-representations.ts'
import { getLiveGroup } from './groups.ts'
import { listUsers } from './user-representations.ts'
import { DEFAULT_PAGE_SIZE, getLiveUser, getViewableUser } from './users.ts'

/** Lists the groups that a user is a direct member of, by name. */
export async function listGroupsOfUser(context: Context, user: string, query: Query): Promise<Representation[]> {
  await getViewableUser(context, user)
  const brief = query.briefRepresentation !== false
  return listGroups(context, parseSearch(user, query), { brief, page: parsePage(query) })
}

/** Returns the number of groups that a user is a direct member of. */
export async function countGroupsOfUser(context: Context, user: string, query: Query): Promise<number> {
  await getViewableUser(context, user)
  const search = { ...parseSearch(user, query), visible: await getObjectVisibility(context, 'Groups') }
  return countGroups(context.tx, context.realm.number, search)
}

/** Adds a user to a group, or removes the user from it. */
export async function setMembership(
  context: WriteContext,
  { user, group }: { readonly user: string; readonly group: string },
  change: 'add' | 'remove',
): Promise<void> {
  const live = await getLiveUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'manage-group-membership', objects: [live] })
  const { id, key } = await getJoinableGroup(context, group)
  await requireObjectPermission(context, { type: 'Groups', scope: 'manage-membership', objects: [{ id }] })
  const { groups = [], username, email } = viewOf(userKind, live.representation)
  if (groups.includes(key[0]!) === (change === 'add')) return omitAdminEvent(context)
  await writers.user.update(context, [{ live, set: {}, relations: { groups: { [change]: [key] } } }])
  describeAdminEvent(context, {
    representation: (await listGroups(context, { ids: [group], visible: 'all' }, {}))[0]!,
    details: { ...(email !== undefined && { email }), username: username! },
  })
}

/** Returns a group of the realm. Throws not_found, and invalid if it is a group of an organization. */
async function getJoinableGroup(context: Context, id: string): Promise<LiveObject> {
  const [group] = await writers.group.list(context, { ids: [id] })
  if (group) return group
  if ((await writers.organizationGroup.list(context, { ids: [id] })).length)
    throw failure('invalid', 'Cannot access organization related group via non Organization API.')
  throw failure('not_found', GROUP_NOT_FOUND)
}

/** Lists the direct members of a group, by username. */
export async function listMembersOfGroup(context: Context, group: string, query: Query): Promise<Representation[]> {
  await requireObjectPermission(context, {
    type: 'Groups',
    scope: 'view-members',
    objects: [await getLiveGroup(context, group)],
  })
  const brief = query.briefRepresentation === true
  return listUsers(context, { group }, { brief, page: parsePage(query, DEFAULT_PAGE_SIZE) })
}

function parseSearch(member: string, { search }: Query): GroupSearch {
  return { member, ...(typeof search === 'string' && search !== '' && { search }) }
}
