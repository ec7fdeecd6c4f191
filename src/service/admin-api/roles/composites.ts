// What roles contain, and who has them.
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getEventType } from '../../objects/object-events.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { requireGrantableRoles } from '../../permissions/privilege-escalation.ts'
import { CLIENT_NOT_FOUND } from '../clients/client-lookup.ts'
import { parsePage } from '../common/list-query.ts'
import { getObject, type ObjectAddress, type Query } from '../common/resource.ts'
import { showGroups } from '../users/group-view.ts'
import { showUsers } from '../users/user-view.ts'
import { type FindRole, findRole, roleById, showRoles } from './roles.ts'

/** How a role is found: by name where it belongs, or by id. */
export type Find = FindRole

/** Roles by name in their realm or client. */
export const byName: Find = findRole

/** Roles by id. */
export const byId: Find = roleById

/** The roles that a role contains, by name: a page of them, those with that part in their name. */
export async function listParts(context: Context, find: Find, place: ObjectAddress, query: Query): Promise<Representation[]> {
  const keys = partsOf(await find(context, place, 'view'))
  const { search } = query
  const text = typeof search === 'string' && search !== '' ? { search } : {}
  return showRoles(context, { keys, ...text, ...parsePage(query) }, true)
}

/** The roles of the realm that a role contains. */
export async function listRealmParts(context: Context, find: Find, place: ObjectAddress): Promise<Representation[]> {
  const keys = partsOf(await find(context, place, 'view')).filter((key) => key.length === 1)
  return showRoles(context, { keys }, true)
}

/** The roles of a client that a role contains. */
export async function listClientParts(
  context: Context,
  find: Find,
  place: ObjectAddress,
  client: string,
): Promise<Representation[]> {
  const live = await find(context, place, 'view')
  const { key } = await getClient(context, client)
  const keys = partsOf(live).filter(([, parent]) => parent === key[0])
  return showRoles(context, { keys }, true)
}

/** Throws unless the role is there and the caller may change what it contains. */
export async function reachRole(context: Context, find: Find, place: ObjectAddress): Promise<void> {
  await find(context, place, 'manage')
}

/** Lets a role contain others, or no more. Throws not_found where one of them does not exist. */
export async function changeParts(
  context: WriteContext,
  find: Find,
  place: ObjectAddress,
  change: 'add' | 'remove',
  bodies: readonly Representation[],
): Promise<void> {
  const live = await find(context, place, 'manage')
  const ids = bodies.map(({ id }) => String(id ?? ''))
  const found = await writers.role.list(context, { ids })
  if (new Set(ids).size > found.length) throw failure('not_found', 'Could not find composite role')
  if (change === 'remove') await requireGrantableRoles(context, ids)
  const keys = found.map(({ key }) => key)
  await writers.role.update(context, [{ live, set: {}, relations: { composites: { [change]: keys } } }])
  describeAdminEvent(context, { resourceType: getEventType(kinds.role, live.parent?.kind) })
}

/** The users who have a role themselves, by name. */
export async function listUsersWith(
  context: Context,
  find: Find,
  place: ObjectAddress,
  query: Query,
): Promise<Representation[]> {
  const { id } = await find(context, place, 'view')
  requirePermissions(context, 'list-users')
  const view = { brief: query.briefRepresentation === true, access: true }
  return showUsers(context, { role: id }, view, parsePage(query))
}

/** The groups that have a role themselves, by name. */
export async function listGroupsWith(
  context: Context,
  find: Find,
  place: ObjectAddress,
  query: Query,
): Promise<Representation[]> {
  const { id } = await find(context, place, 'view')
  requirePermissions(context, 'list-groups')
  return showGroups(context, { role: id }, { brief: query.briefRepresentation !== false }, parsePage(query))
}

function partsOf({ representation }: LiveObject): Key[] {
  const { composites } = representation
  return composites == null ? [] : toRelationKeys(kinds.role.fields.composites!, composites)
}
