// The wire representations of groups: with their name and path, alone or nested in their parents.

import { getNameFromPath, toWirePath } from '../../../kinds/group.ts'
import type { Representation } from '../../../kinds/json.ts'
import { type GroupPage, type GroupSearch, type ListedGroup, searchGroups } from '../../../store/groups.ts'
import { getObjectVisibility, loadObjectAccess, type ObjectAccess } from '../../authorization/object-permissions.ts'
import type { Context } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'

/** Options that select the parts of a group's representation. */
export interface GroupView {
  /** Without attributes and roles. */
  readonly brief?: boolean
  /** With the number of subgroups. */
  readonly withSubGroupCount?: boolean
  /** With the permissions of the caller. */
  readonly withAccess?: boolean
}

/** Lists the groups that match a search and are visible to the caller, by name. One statement; one more unless `brief`. */
export async function listGroups(
  context: Context,
  search: GroupSearch,
  { page = {}, ...view }: GroupView & { readonly page?: GroupPage },
): Promise<Representation[]> {
  const visibleSearch = { visible: search.visible ?? (await getObjectVisibility(context, 'Groups')), ...search }
  const matches = await searchGroups(context.tx, context.realm.number, { search: visibleSearch, page })
  const ids = matches.map(({ id }) => id)
  const liveGroups = view.brief ? [] : await writers.group.list(context, { ids })
  const liveById = new Map(liveGroups.map((live) => [live.id, live]))
  const access = view.withAccess ? await loadObjectAccess(context, { type: 'Groups', objects: matches }) : undefined
  return matches.map((group) => toRepresentation({ group, live: liveById.get(group.id), access }, view))
}

/** Returns the groups as trees: each is moved into the `subGroups` of its parent if the parent is among them. */
export function nestGroups(groups: readonly Representation[]): Representation[] {
  const subGroups = Map.groupBy(groups, ({ parentId }) => parentId)
  const ids = new Set(groups.map(({ id }) => id))
  const nest = (group: Representation): Representation => ({
    ...group,
    subGroups: (subGroups.get(group.id) ?? []).map(nest),
  })
  return groups.filter(({ parentId }) => !ids.has(parentId ?? null)).map(nest)
}

function toRepresentation(
  {
    group,
    live,
    access,
  }: {
    readonly group: ListedGroup
    readonly live: LiveObject | undefined
    readonly access: ObjectAccess | undefined
  },
  view: GroupView,
): Representation {
  const { id, path, body, parent, subGroups } = group
  const { realmRoles = [], clientRoles = {} } = live?.representation ?? {}
  const { description, attributes = {} } = body
  return {
    id,
    name: getNameFromPath(path),
    ...(description !== undefined && { description }),
    path: toWirePath(path),
    ...(parent !== null && { parentId: parent }),
    ...(view.withSubGroupCount && { subGroupCount: subGroups }),
    subGroups: [],
    ...(!view.brief && { attributes, realmRoles, clientRoles }),
    ...(access && { access: toAccess(access, group) }),
  }
}

function toAccess(access: ObjectAccess, group: ListedGroup): Representation {
  return {
    view: access('view', group),
    viewMembers: access('view-members', group),
    manageMembers: access('manage-members', group),
    manage: access('manage', group),
    manageMembership: access('manage-membership', group),
  }
}
