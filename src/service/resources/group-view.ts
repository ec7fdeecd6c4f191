// How groups show: by name, with the path in which a slash is a slash, each alone or inside of what it belongs to.
import { nameOf, wirePath } from '../../kinds/group.ts'
import type { Representation } from '../../kinds/kind.ts'
import { type GroupPage, type GroupPlace, type GroupSearch, searchGroups } from '../../store/groups.ts'
import { may, visibleTo } from '../administrators.ts'
import type { Context } from '../context.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import { present } from '../present.ts'

/** How much of a group shows. */
export interface GroupView {
  /** Without attributes and roles. */
  readonly brief?: boolean
  /** With the number of groups that belong to it. */
  readonly counted?: boolean
  /** With what the caller may do with it. */
  readonly access?: boolean
}

/** The groups that are looked for and may be seen, by name. Statements: two, or one where there are none. */
export async function showGroups(
  context: Context,
  search: GroupSearch,
  view: GroupView,
  page: GroupPage = {},
): Promise<Representation[]> {
  const seen = { visible: visibleTo(context, 'view-users'), ...search }
  const places = await searchGroups(context.tx, context.realm.number, seen, page)
  if (!places.length) return []
  const found = await writers.group.list(context, { ids: places.map(({ id }) => id) })
  const byId = new Map(found.map((live) => [live.id, live]))
  return places.map((place) => show(context, byId.get(place.id)!, place, view))
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

function show(context: Context, live: LiveObject, place: GroupPlace, view: GroupView): Representation {
  const { description, attributes, realmRoles = [], clientRoles = {} } = present(context.vault, live)
  const [path] = live.key as [string]
  return {
    id: live.id,
    name: nameOf(path),
    ...(description !== undefined && { description }),
    path: wirePath(path),
    ...(place.parent !== null && { parentId: place.parent }),
    ...(view.counted && { subGroupCount: place.subGroups }),
    subGroups: [],
    ...(!view.brief && { attributes: attributes!, realmRoles, clientRoles }),
    ...(view.access && { access: accessOf(context) }),
  }
}

function accessOf(context: Context): Representation {
  const [view, manage] = [may(context, 'view-users'), may(context, 'manage-users')]
  return { view, viewMembers: view, manageMembers: manage, manage, manageMembership: manage }
}
