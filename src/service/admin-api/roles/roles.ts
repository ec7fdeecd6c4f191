// What REST does with roles: by name in their realm or client, or by id.
import { MASTER } from '../../../kinds/built-in/index.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { maskRepresentation } from '../../../kinds/mask-representation.ts'
import type { ObjectFilter } from '../../../store/object-filter.ts'
import { type ListedRole, searchRoles } from '../../../store/roles.ts'
import { findDefaultRole } from '../../../store/users/role-mappings.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { ADMIN_ROLE, CREATE_REALM_ROLE } from '../../context/admin-permissions.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getEventType } from '../../objects/object-events.ts'
import { toReplacement, omitNulls } from '../../objects/put-body.ts'
import { requirePermissions, getVisibility } from '../../permissions/require-permissions.ts'
import { CLIENT_NOT_FOUND, refuseAdminClient } from '../clients/client-lookup.ts'
import { parsePage } from '../common/list-query.ts'
import { getObject, toNewObject, type ObjectAddress, type AdminResource } from '../common/resource.ts'

/** What roles of the realm, or of clients, are seen and changed by. */
export const rolePermissions = (ofClient: boolean): Pick<AdminResource, 'view' | 'search' | 'manage'> =>
  ofClient
    ? { view: 'view-clients', search: 'view-clients', manage: 'manage-clients' }
    : { view: 'view-realm', search: 'list-roles', manage: 'manage-realm' }

/** A role, however it is found, for who may do this with it. Throws forbidden, not_found. */
export type FindRole = (context: Context, place: ObjectAddress, purpose: 'view' | 'manage') => Promise<LiveObject>

/** What is done with one role. */
const one = (find: FindRole): Pick<AdminResource, 'get' | 'replace' | 'delete'> => ({
  async get(context, place) {
    return showRole(context, await find(context, place, 'view'))
  },
  async replace(context, place, body) {
    const live = await find(context, place, 'manage')
    await replace(context, live, body)
    describeAdminEvent(context, { resourceType: getEventType(kinds.role, live.parent?.kind) })
  },
  async delete(context, place) {
    await end(context, await find(context, place, 'manage'))
  },
})

/** Deletes a role. */
async function end(context: WriteContext, live: LiveObject): Promise<void> {
  await remove(context, live)
  describeAdminEvent(context, { resourceType: getEventType(kinds.role, live.parent?.kind) })
}

/** Keycloak: RoleContainerResource. `owner` is the id of a client; without it, roles of the realm. */
export const roles: AdminResource = {
  ...one(findRole),
  kind: 'role',
  ...rolePermissions(false),
  async checkAccess(context, { owner }) {
    requirePermissions(context, rolePermissions(owner !== undefined).manage)
    await containerOf(context, owner === undefined ? {} : { owner })
  },
  async list(context, place, query) {
    const { search } = rolePermissions(place.owner !== undefined)
    requirePermissions(context, search!)
    const filter = {
      ...(await containerOf(context, place)).filter,
      ...parsePage(query),
      ...(typeof query.search === 'string' && query.search !== '' && { search: query.search.trim() }),
      visible: getVisibility(context, search!),
    }
    const brief = query.briefRepresentation !== false
    return showRoles(context, filter, brief)
  },
  async create(context, place, body) {
    requirePermissions(context, rolePermissions(place.owner !== undefined).manage)
    const { parent } = await containerOf(context, place)
    if (parent) refuseAdminClient(context, parent)
    const [made] = await writers.role.create(context, [{ ...toNewObject(withName(body)), ...(parent && { parent }) }])
    return made!.key.at(-1)!
  },
  // Keycloak: the event says what it was; not where it is deleted by its id.
  async delete(context, place) {
    const live = await findRole(context, place, 'manage')
    const { id, name, composite } = showRole(context, live)
    await end(context, live)
    describeAdminEvent(context, { representation: maskRepresentation(kinds.role, { id, name, composite } as Representation) })
  },
}

/** Keycloak: RoleByIdResource, which neither lists nor makes. */
export const rolesById = one(roleById)

/** Where the roles are: which of all are meant, and what a new one belongs to. */
async function containerOf(
  context: Context,
  { owner }: Omit<ObjectAddress, 'id'>,
): Promise<{ filter: ObjectFilter; parent?: { kind: 'client'; id: string; key: Key } }> {
  if (owner === undefined) return { filter: { topLevel: true } }
  const { id, key } = await getClient(context, owner)
  return { filter: { parents: { kind: 'client', ids: [id] } }, parent: { kind: 'client', id, key } }
}

/** The role with that id. */
export async function roleById(context: Context, { id }: ObjectAddress, purpose: 'view' | 'manage'): Promise<LiveObject> {
  const live = await getObject(context, 'role', { id, notFound: 'Could not find role with id' })
  requirePermissions(context, rolePermissions(live.parent !== undefined)[purpose])
  if (purpose === 'manage') refuseAdministrationRole(context, live)
  return live
}

/** The role of that name in its realm or client. */
export async function findRole(
  context: Context,
  { id: name, ...place }: ObjectAddress,
  purpose: 'view' | 'manage',
): Promise<LiveObject> {
  requirePermissions(context, rolePermissions(place.owner !== undefined)[purpose])
  const { parent } = await containerOf(context, place)
  const [found] = await writers.role.list(context, { keys: [parent ? ['client', ...parent.key, name] : [name]] })
  if (!found) throw failure('not_found', 'Could not find role')
  if (purpose === 'manage') refuseAdministrationRole(context, found)
  return found
}

/** The roles that are looked for, by name, in brief without attributes; of these only those of the container, where one is named. One statement. */
export async function showRoles(
  context: Context,
  filter: ObjectFilter,
  brief: boolean,
  container?: string,
): Promise<Representation[]> {
  const found = await searchRoles(context.tx, context.realm.number, filter)
  const there = container === undefined ? found : found.filter((role) => containerOfRole(context, role) === container)
  return there.map((role) => show(context, role, brief))
}

/** A role as it shows; in brief without attributes. */
export function showRole(
  context: Context,
  { id, key, parent, representation }: LiveObject,
  brief = false,
): Representation {
  const composite = Object.keys((representation.composites ?? {}) as Representation).length > 0
  return show(context, { id, name: key.at(-1)!, client: parent?.id ?? null, body: representation, composite }, brief)
}

function show(context: Context, role: ListedRole, brief: boolean): Representation {
  const { id, name, client, composite } = role
  const { description, attributes = {} } = role.body
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    composite,
    clientRole: client !== null,
    containerId: containerOfRole(context, role),
    ...(!brief && { attributes }),
  }
}

/** Id of what the role belongs to: its client, or the realm. */
function containerOfRole({ realm }: Context, { client }: ListedRole): string {
  return client ?? realm.id
}

async function replace(context: WriteContext, live: LiveObject, body: Representation): Promise<void> {
  await writers.role.update(context, [{ live, set: toReplacement(live, withName(body)) }])
}

async function remove(context: WriteContext, live: LiveObject): Promise<void> {
  if ((await findDefaultRole(context.tx, context.realm.number)) === live.id) {
    throw failure('invalid', `${live.key.at(-1)} is default role of the realm and cannot be removed.`)
  }
  await writers.role.delete(context, [live])
}

/** Throws forbidden where the role administers a realm. Keycloak: nobody changes such a role, or what it contains. */
function refuseAdministrationRole(context: Context, { key }: LiveObject): void {
  if (key.length > 1) refuseAdminClient(context, { key: key.slice(1, -1) })
  else if (context.realm.name === MASTER && [ADMIN_ROLE, CREATE_REALM_ROLE].includes(key[0]!))
    throw failure('forbidden', 'HTTP 403 Forbidden')
}

function withName(body: Representation): Representation {
  const stated = omitNulls(body)
  if (typeof stated.name !== 'string' || stated.name === '') throw failure('invalid', 'role has no name', { form: 'error' })
  return stated
}
