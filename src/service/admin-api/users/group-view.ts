// How groups show: by name, with the path in which a slash is a slash, each alone or inside of what it belongs to.
import { getNameFromPath, toWirePath } from '../../../kinds/group.ts'
import type { Representation } from '../../../kinds/json.ts'
import { type ListedGroup, type GroupPage, type GroupSearch, searchGroups } from '../../../store/groups.ts'
import type { Context } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { isPermitted, getVisibility } from '../../permissions/require-permissions.ts'

/** How much of a group shows. */
export interface GroupView {
  /** Without attributes and roles. */
  readonly brief?: boolean
  /** With the number of groups that belong to it. */
  readonly counted?: boolean
  /** With what the caller may do with it. */
  readonly access?: boolean
}

/** The groups that are looked for and may be seen, by name. Statements: one, and another for their roles unless in brief. */
export async function showGroups(
  context: Context,
  search: GroupSearch,
  view: GroupView,
  page: GroupPage = {},
): Promise<Representation[]> {
  const seen = { visible: getVisibility(context, 'view-users'), ...search }
  const found = await searchGroups(context.tx, context.realm.number, { search: seen, page })
  const ids = found.map(({ id }) => id)
  const whole = view.brief ? [] : await writers.group.list(context, { ids })
  const byId = new Map(whole.map((live) => [live.id, live]))
  return found.map((group) => show(context, group, byId.get(group.id), view))
}

/** Groups inside of those that they belong to, as far as these are among them. */
export function nested(shown: readonly Representation[]): Representation[] {
  const byId = new Map(shown.map((group) => [group.id, group]))
  const top: Representation[] = []
  for (const group of shown) {
    const above = byId.get(group.parentId ?? null)
    if (above) (above.subGroups as Representation[]).push(group)
    else top.push(group)
  }
  return top
}

function show(
  context: Context,
  { id, path, body, parent, subGroups }: ListedGroup,
  live: LiveObject | undefined,
  view: GroupView,
): Representation {
  const { realmRoles = [], clientRoles = {} } = live?.representation ?? {}
  const { description, attributes = {} } = body
  return {
    id,
    name: getNameFromPath(path),
    ...(description !== undefined && { description }),
    path: toWirePath(path),
    ...(parent !== null && { parentId: parent }),
    ...(view.counted && { subGroupCount: subGroups }),
    subGroups: [],
    ...(!view.brief && { attributes, realmRoles, clientRoles }),
    ...(view.access && { access: accessOf(context) }),
  }
}

function accessOf(context: Context): Representation {
  const [view, manage] = [isPermitted(context, 'view-users'), isPermitted(context, 'manage-users')]
  return { view, viewMembers: view, manageMembers: manage, manage, manageMembership: manage }
}
