// The groups that a user belongs to, and the users who belong to a group.
import type { Representation } from '../../../kinds/json.ts'
import { countGroups, type GroupSearch } from '../../../store/groups.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { describeAdminEvent, omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions, getVisibility } from '../../permissions/require-permissions.ts'
import { parsePage } from '../common/list-query.ts'
import { getObject, type Query } from '../common/resource.ts'
import { GROUP_NOT_FOUND } from './default-groups.ts'
import { showGroups } from './group-view.ts'
import { findGroup } from './groups.ts'
import { showUsers } from './user-view.ts'
import { findUser, PAGE } from './users.ts'

const VIEW = 'view-users'

/** The groups that a user belongs to themselves, by name. */
export async function listGroupsOf(context: Context, user: string, query: Query): Promise<Representation[]> {
  await findUser(context, user)
  requirePermissions(context, VIEW)
  return showGroups(context, searchOf(user, query), { brief: query.briefRepresentation !== false }, parsePage(query))
}

/** How many groups a user belongs to themselves. */
export async function countGroupsOf(context: Context, user: string, query: Query): Promise<number> {
  await findUser(context, user)
  requirePermissions(context, VIEW)
  return countGroups(context.tx, context.realm.number, { ...searchOf(user, query), visible: getVisibility(context, VIEW) })
}

/** Lets a user belong to a group, or no more. */
export async function setMembership(
  context: WriteContext,
  user: string,
  group: string,
  change: 'add' | 'remove',
): Promise<void> {
  const live = await findUser(context, user)
  requirePermissions(context, 'manage-users')
  const { key } = await getObject(context, 'group', { id: group, notFound: GROUP_NOT_FOUND })
  const groups = (live.representation.groups ?? []) as string[]
  if (groups.includes(key[0]!) === (change === 'add')) return omitAdminEvent(context)
  await writers.user.update(context, [{ live, set: {}, relations: { groups: { [change]: [key] } } }])
  const { username, email } = live.representation as Record<string, string>
  describeAdminEvent(context, {
    representation: (await showGroups(context, { ids: [group], visible: 'all' }, {}))[0]!,
    details: { ...(email !== undefined && { email }), username: username! },
  })
}

/** The users who belong to a group themselves, by name. */
export async function listMembers(context: Context, group: string, query: Query): Promise<Representation[]> {
  await findGroup(context, group)
  requirePermissions(context, VIEW)
  return showUsers(context, { group }, { brief: query.briefRepresentation === true }, parsePage(query, PAGE))
}

function searchOf(member: string, { search }: Query): GroupSearch {
  return { member, ...(typeof search === 'string' && search !== '' && { search }) }
}
