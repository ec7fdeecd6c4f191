// The REST operations on roles, which are found by name in the realm or a client, or by id.

import { MASTER } from '../../../kinds/built-in/index.ts'
import { kinds } from '../../../kinds/index.ts'
import { omitUndefined, type Representation, readObject, readTextListMap } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { maskRepresentation } from '../../../kinds/mask-representation.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import type { ObjectFilter } from '../../../store/object-filter.ts'
import { type ListedRole, searchRoles } from '../../../store/roles.ts'
import { findDefaultRole } from '../../../store/users/role-mappings.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import { ADMIN_ROLE, CREATE_REALM_ROLE } from '../../context/admin-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getEventType } from '../../objects/object-events.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { parsePage } from '../common/list-query.ts'
import { type AdminResource, getObject, type ObjectAddress } from '../common/resource.ts'

/** Returns the permissions for roles of clients, or of the realm. */
export const getRolePermissions = (ofClient: boolean): Pick<AdminResource, 'view' | 'search' | 'manage'> =>
  ofClient
    ? { view: 'view-clients', search: 'view-clients', manage: 'manage-clients' }
    : { view: 'view-realm', search: 'list-roles', manage: 'manage-realm' }

/** Throws forbidden unless the caller may view or manage the roles of a client, or of the realm. */
async function requireRoleAccess(context: Context, purpose: 'view' | 'manage', client: string | undefined) {
  if (client === undefined) return requirePermissions(context, getRolePermissions(false)[purpose])
  const scope = purpose === 'view' ? 'view' : 'configure'
  await requireObjectPermission(context, { type: 'Clients', scope, objects: [{ id: client }] })
}

/** Returns the role at an address if the caller may view or manage it. Throws forbidden, not_found. */
export type GetRole = (context: Context, address: ObjectAddress, purpose: 'view' | 'manage') => Promise<LiveObject>

const createRoleOperations = (getRole: GetRole): Pick<AdminResource, 'get' | 'replace' | 'delete'> => ({
  async get(context, address) {
    return toRoleRepresentation(context, await getRole(context, address, 'view'))
  },
  async replace(context, address, body) {
    const live = await getRole(context, address, 'manage')
    await writers.role.update(context, [{ live, set: toReplacement(live, readNamedBody(body)) }])
    describeAdminEvent(context, { resourceType: getEventType(kinds.role, live.parent?.kind) })
  },
  async delete(context, address) {
    await deleteRole(context, await getRole(context, address, 'manage'))
  },
})

/** Deletes a role. Throws invalid for the default role of the realm. */
async function deleteRole(context: WriteContext, live: LiveObject): Promise<void> {
  if ((await findDefaultRole(context.tx, context.realm.number)) === live.id)
    throw failure('invalid', `${live.key.at(-1)} is default role of the realm and cannot be removed.`)
  await writers.role.delete(context, [live])
  describeAdminEvent(context, { resourceType: getEventType(kinds.role, live.parent?.kind) })
}

/** Keycloak: RoleContainerResource. The owner in an address is the id of a client; without it, roles are those of the realm. */
export const roles: AdminResource = {
  ...createRoleOperations(getRoleByName),
  kind: 'role',
  ...getRolePermissions(false),
  async checkAccess(context, { owner }) {
    await requireRoleAccess(context, 'manage', owner)
    await getContainer(context, owner)
  },
  async list(context, { owner }, query) {
    if (owner === undefined) requirePermissions(context, getRolePermissions(false).search!)
    else await requireRoleAccess(context, 'view', owner)
    const { filter } = await getContainer(context, owner)
    const search = String(query.search ?? '').trim()
    // Keycloak: without a search, both `first` and `max` are needed for a page.
    const hasPage = search !== '' || (query.first !== undefined && query.max !== undefined)
    const page = {
      ...(hasPage && parsePage(query)),
      ...(search !== '' && { search, searchDescriptions: true as const }),
    }
    const brief = query.briefRepresentation !== false
    return listRoles(context, { ...filter, ...page }, { brief })
  },
  async create(context, { owner }, body) {
    await requireRoleAccess(context, 'manage', owner)
    const { parent } = await getContainer(context, owner)
    if (parent) refuseAdminClient(context, parent)
    // Keycloak: the role gets a new id, whatever the body declares.
    const { id: _, composites, ...fields } = readNamedBody(body)
    // Keycloak: composites are ignored unless the role is declared as composite.
    const representation = fields.composite === true && composites !== undefined ? { ...fields, composites } : fields
    await requireComposites(context, representation)
    const [role] = await writers.role.create(context, [{ representation, ...(parent && { parent }) }])
    return role!.key.at(-1)!
  },
  // Keycloak: the admin event contains the deleted role, unless it is deleted by its id.
  async delete(context, address) {
    const live = await getRoleByName(context, address, 'manage')
    const { id, name, composite } = toRoleRepresentation(context, live)
    await deleteRole(context, live)
    describeAdminEvent(context, {
      representation: maskRepresentation(kinds.role, omitUndefined({ id, name, composite })),
    })
  },
}

/** The REST operations on roles by id: neither list nor creation. Keycloak: RoleByIdResource. */
export const rolesById = createRoleOperations(getRoleById)

/** The realm or a client as the container of roles: the filter for its roles, and the parent of a new one. */
interface RoleContainer {
  readonly filter: ObjectFilter
  readonly parent?: { readonly kind: 'client'; readonly id: string; readonly key: Key }
}

async function getContainer(context: Context, clientId: string | undefined): Promise<RoleContainer> {
  if (clientId === undefined) return { filter: { topLevel: true } }
  const { id, key } = await getClient(context, clientId)
  return { filter: { parents: { kind: 'client', ids: [id] } }, parent: { kind: 'client', id, key } }
}

/** Returns the role with that id if the caller may view or manage it. Throws forbidden, not_found. */
export async function getRoleById(
  context: Context,
  { id }: ObjectAddress,
  purpose: 'view' | 'manage',
): Promise<LiveObject> {
  const live = await getObject(context, 'role', { id, notFound: 'Could not find role with id' })
  await requireRoleAccess(context, purpose, live.parent?.id)
  if (purpose === 'manage') refuseAdminRole(context, live)
  return live
}

/** Returns the role with that name in its realm or client if the caller may view or manage it. Throws forbidden, not_found. */
export async function getRoleByName(
  context: Context,
  { id: name, owner }: ObjectAddress,
  purpose: 'view' | 'manage',
): Promise<LiveObject> {
  await requireRoleAccess(context, purpose, owner)
  const { parent } = await getContainer(context, owner)
  const key: Key = parent ? ['client', ...parent.key, name] : [name]
  if (purpose === 'manage') refuseAdminRole(context, { key })
  const [role] = await writers.role.list(context, { keys: [key] })
  if (!role) throw failure('not_found', 'Could not find role')
  return role
}

/**
 * Lists the roles that match a filter, by name; `brief`: without attributes. `container`: the id of the client or realm whose roles
 * are listed; default: all. One statement.
 */
export async function listRoles(
  context: Context,
  filter: ObjectFilter,
  { brief, container }: { readonly brief: boolean; readonly container?: string },
): Promise<Representation[]> {
  const matches = await searchRoles(context.tx, context.realm.number, filter)
  return matches
    .filter((role) => container === undefined || getContainerId(context, role) === container)
    .map((role) => renderRole(context, role, brief))
}

/** Returns the wire representation of a role; `brief`: without attributes. */
export function toRoleRepresentation(
  context: Context,
  { id, key, parent, representation }: LiveObject,
  brief = false,
): Representation {
  const composite = Object.keys(readObject(representation.composites)).length > 0
  const role = { id, name: key.at(-1)!, client: parent?.id ?? null, body: representation, composite }
  return renderRole(context, role, brief)
}

function renderRole(context: Context, role: ListedRole, brief: boolean): Representation {
  const { id, name, client, composite } = role
  const { description, attributes = {} } = role.body
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    composite,
    clientRole: client !== null,
    containerId: getContainerId(context, role),
    ...(!brief && { attributes }),
  }
}

/** Returns the id of the client of a role, or of the realm. */
function getContainerId({ realm }: Context, { client }: ListedRole): string {
  return client ?? realm.id
}

/** Throws forbidden for an admin role. Keycloak: nobody changes such a role, or the roles in it. */
function refuseAdminRole(context: Context, { key }: Pick<LiveObject, 'key'>): void {
  if (key.length > 1) refuseAdminClient(context, { key: key.slice(1, -1) })
  else if (context.realm.name === MASTER && [ADMIN_ROLE, CREATE_REALM_ROLE].includes(key[0]!))
    throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** Throws not_found if the realm lacks a composite of a new role. One statement if there are composites. */
async function requireComposites(context: Context, { composites = {} }: Representation): Promise<void> {
  const keys = toRelationKeys(kinds.role.fields.composites!, composites)
  const live = keys.length ? await writers.role.list(context, { keys }) : []
  const liveKeys = new Set(live.map(({ key }) => JSON.stringify(key)))
  const missing = keys.find((key) => !liveKeys.has(JSON.stringify(key)))
  if (!missing) return
  const container = missing.length === 1 ? 'Realm' : 'Client'
  throw failure('not_found', `${container} Role with name ${missing.at(-1)} does not exist`, { form: 'errorMessage' })
}

/** Returns the fields of a body. Keycloak: attributes without values are ignored. */
function readNamedBody(body: Representation): Representation {
  const { attributes, ...fields } = omitNulls(body)
  if (typeof fields.name !== 'string' || fields.name === '')
    throw failure('invalid', 'role has no name', { form: 'error' })
  const withValues = Object.entries(readTextListMap(attributes)).filter(([, values]) => values.length)
  return { ...fields, ...(attributes !== undefined && { attributes: Object.fromEntries(withValues) }) }
}
