// The REST operations on the roles of composite roles, and on the users and groups with a role.

import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import { requireListPermission, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getEventType } from '../../objects/object-events.ts'
import { requireGrantableRoles } from '../../permissions/privilege-escalation.ts'
import { isPermitted } from '../../permissions/require-permissions.ts'
import { getClient } from '../common/client-lookup.ts'
import { parsePage } from '../common/list-query.ts'
import type { ObjectAddress, Query } from '../common/resource.ts'
import { listGroups } from '../users/group-representations.ts'
import { listUsers } from '../users/user-representations.ts'
import { type GetRole, getRolePermissions, listRoles } from './roles.ts'

/** A role in a URL, and the function that gets it: by name or by id. */
export interface RoleLookup {
  readonly getRole: GetRole
  readonly address: ObjectAddress
}

/** Lists the roles of a composite role by name: a page of those that match the search of the query. */
export async function listComposites(
  context: Context,
  { getRole, address }: RoleLookup,
  query: Query,
): Promise<Representation[]> {
  const keys = listCompositeKeys(await getRole(context, address, 'view'))
  const search = typeof query.search === 'string' && query.search !== '' ? { search: query.search } : {}
  return listRoles(context, { keys, ...search, ...parsePage(query) }, { brief: true })
}

/** Lists the realm roles of a composite role. */
export async function listRealmComposites(
  context: Context,
  { getRole, address }: RoleLookup,
): Promise<Representation[]> {
  const keys = listCompositeKeys(await getRole(context, address, 'view')).filter((key) => key.length === 1)
  return listRoles(context, { keys }, { brief: true })
}

/** Lists the roles of a client in a composite role. */
export async function listClientComposites(
  context: Context,
  { getRole, address }: RoleLookup,
  clientId: string,
): Promise<Representation[]> {
  const role = await getRole(context, address, 'view')
  const { key } = await getClient(context, clientId)
  const keys = listCompositeKeys(role).filter(([, client]) => client === key[0])
  return listRoles(context, { keys }, { brief: true })
}

/** Throws unless the role exists and the caller may change the roles in it. */
export async function requireChangeableRole(context: Context, { getRole, address }: RoleLookup): Promise<void> {
  await getRole(context, address, 'manage')
}

/** Adds roles to a composite role, or removes them. Throws not_found if one of them does not exist. */
export async function changeComposites(
  context: WriteContext,
  { getRole, address }: RoleLookup,
  { change, bodies }: { readonly change: 'add' | 'remove'; readonly bodies: readonly Representation[] },
): Promise<void> {
  const live = await getRole(context, address, 'manage')
  const ids = bodies.map(({ id }) => String(id ?? ''))
  const roles = await writers.role.list(context, { ids })
  if (new Set(ids).size > roles.length) throw failure('not_found', 'Could not find composite role')
  if (!isPermitted(context, getRolePermissions(live.parent !== undefined).manage)) {
    const objects = roles.map(({ id, parent }) => ({ id, client: parent?.id }))
    await requireObjectPermission(context, { type: 'Roles', scope: 'map-role-composite', objects })
  }
  if (change === 'remove') await requireGrantableRoles(context, ids)
  const keys = roles.map(({ key }) => key)
  await writers.role.update(context, [{ live, set: {}, relations: { composites: { [change]: keys } } }])
  describeAdminEvent(context, { resourceType: getEventType(kinds.role, live.parent?.kind) })
}

/** Lists the users with a direct mapping of a role, by name. */
export async function listUsersWithRole(
  context: Context,
  { getRole, address }: RoleLookup,
  query: Query,
): Promise<Representation[]> {
  const { id } = await getRole(context, address, 'view')
  await requireListPermission(context, 'Users', 'list-users')
  const brief = query.briefRepresentation === true
  return listUsers(context, { role: id }, { brief, withAccess: true, page: parsePage(query) })
}

/** Lists the groups with a direct mapping of a role, by name. */
export async function listGroupsWithRole(
  context: Context,
  { getRole, address }: RoleLookup,
  query: Query,
): Promise<Representation[]> {
  const { id } = await getRole(context, address, 'view')
  await requireListPermission(context, 'Groups', 'list-groups')
  const isBrief = query.briefRepresentation ?? query.full !== true
  return listGroups(context, { role: id }, { brief: isBrief !== false, page: parsePage(query) })
}

function listCompositeKeys({ representation }: LiveObject): Key[] {
  const { composites } = representation
  return composites == null ? [] : toRelationKeys(kinds.role.fields.composites!, composites)
}
