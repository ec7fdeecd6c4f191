// The REST operations on the default groups of a realm.
import { type Representation, readTexts } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { getObject } from '../common/resource.ts'
import { listGroups } from './group-representations.ts'

/** The message of an error about a group that does not exist. */
export const GROUP_NOT_FOUND = 'Group not found'

/** Lists the default groups of the realm: those of each new user. */
export async function listDefaultGroups(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getCurrentRealm(context)
  const keys = readTexts(representation.defaultGroups).map((path) => [path])
  const groups = await writers.group.list(context, { keys })
  return listGroups(context, { ids: groups.map(({ id }) => id), visible: 'all' }, { brief: true })
}

/** Adds a default group to the realm, or removes it. */
export async function setDefaultGroup(context: WriteContext, id: string, change: 'add' | 'remove'): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const group = await getObject(context, 'group', { id, notFound: GROUP_NOT_FOUND })
  const live = await getCurrentRealm(context)
  await writers.realm.update(context, [{ live, set: {}, relations: { defaultGroups: { [change]: [group.key] } } }])
}
