// The REST operations on the groups of a user and the members of a group.
import type { Representation } from '../../../kinds/json.ts'
import { viewOf } from '../../../kinds/kind.ts'
import { user as userKind } from '../../../kinds/user.ts'
import { countGroups, type GroupSearch } from '../../../store/groups.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { describeAdminEvent, omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { getVisibility, requirePermissions } from '../../permissions/require-permissions.ts'
import { parsePage } from '../common/list-query.ts'
import { getObject, type Query } from '../common/resource.ts'
import { GROUP_NOT_FOUND } from './default-groups.ts'
import { listGroups } from './group-representations.ts'
import { getLiveGroup } from './groups.ts'
import { listUsers } from './user-representations.ts'
import { DEFAULT_PAGE_SIZE, getLiveUser } from './users.ts'

const VIEW = 'view-users'

/** Lists the groups that a user is a direct member of, by name. */
export async function listGroupsOfUser(context: Context, user: string, query: Query): Promise<Representation[]> {
  await getLiveUser(context, user)
  requirePermissions(context, VIEW)
  const brief = query.briefRepresentation !== false
  return listGroups(context, parseSearch(user, query), { brief, page: parsePage(query) })
}

/** Returns the number of groups that a user is a direct member of. */
export async function countGroupsOfUser(context: Context, user: string, query: Query): Promise<number> {
  await getLiveUser(context, user)
  requirePermissions(context, VIEW)
  const search = { ...parseSearch(user, query), visible: getVisibility(context, VIEW) }
  return countGroups(context.tx, context.realm.number, search)
}

/** Adds a user to a group, or removes the user from it. */
export async function setMembership(
  context: WriteContext,
  { user, group }: { readonly user: string; readonly group: string },
  change: 'add' | 'remove',
): Promise<void> {
  const live = await getLiveUser(context, user)
  requirePermissions(context, 'manage-users')
  const { key } = await getObject(context, 'group', { id: group, notFound: GROUP_NOT_FOUND })
  const { groups = [], username, email } = viewOf(userKind, live.representation)
  if (groups.includes(key[0]!) === (change === 'add')) return omitAdminEvent(context)
  await writers.user.update(context, [{ live, set: {}, relations: { groups: { [change]: [key] } } }])
  describeAdminEvent(context, {
    representation: (await listGroups(context, { ids: [group], visible: 'all' }, {}))[0]!,
    details: { ...(email !== undefined && { email }), username: username! },
  })
}

/** Lists the direct members of a group, by username. */
export async function listMembersOfGroup(context: Context, group: string, query: Query): Promise<Representation[]> {
  await getLiveGroup(context, group)
  requirePermissions(context, VIEW)
  const brief = query.briefRepresentation === true
  return listUsers(context, { group }, { brief, page: parsePage(query, DEFAULT_PAGE_SIZE) })
}

function parseSearch(member: string, { search }: Query): GroupSearch {
  return { member, ...(typeof search === 'string' && search !== '' && { search }) }
}
