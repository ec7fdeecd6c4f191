// The groups that everybody new belongs to.
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { getObject } from '../common/resource.ts'
import { showGroups } from './group-view.ts'

/** What is said of a group that somebody shall belong to, and that does not exist. */
export const GROUP_NOT_FOUND = 'Group not found'

/** The groups that everybody new belongs to. */
export async function listDefaultGroups(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'view-realm')
  const realm = await getCurrentRealm(context)
  const paths = (realm.representation.defaultGroups ?? []) as string[]
  const found = await writers.group.list(context, { keys: paths.map((path) => [path]) })
  return showGroups(context, { ids: found.map(({ id }) => id), visible: 'all' }, { brief: true })
}

/** Lets everybody new belong to a group, or no more. */
export async function setDefaultGroup(context: WriteContext, id: string, change: 'add' | 'remove'): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const group = await getObject(context, 'group', { id, notFound: GROUP_NOT_FOUND })
  const live = await getCurrentRealm(context)
  await writers.realm.update(context, [{ live, set: {}, relations: { defaultGroups: { [change]: [group.key] } } }])
}
