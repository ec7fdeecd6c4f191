// Sets of roles that something has: list them, those that it can still be given and those that it has in effect, add, take.
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { type Key, relationFields } from '../../../kinds/kind.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import type { ObjectFilter } from '../../../store/object-filter.ts'
import { type RoleHolders, selectEffectiveRoles } from '../../../store/users/effective-roles.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions, type Permission, getVisibility } from '../../permissions/require-permissions.ts'
import { listGrantableRoleIds, requireGrantableRoles } from '../../permissions/privilege-escalation.ts'
import { getObject } from '../common/resource.ts'
import { showRole, showRoles } from './roles.ts'

/** Something that has roles. */
export interface RoleSet {
  readonly view: Permission
  readonly manage: Permission
  /** The object with that id. Throws not_found. */
  find(context: Context, id: string): Promise<LiveObject>
  /** Whose roles are in effect for the object. */
  holders(live: LiveObject): RoleHolders
  /** Whether every role is in effect for the object. */
  readonly everything?: (live: LiveObject) => boolean
  /** Throws forbidden where nobody changes the set of the object. */
  readonly demandChange?: (context: Context, live: LiveObject) => void
  /** What is said of a client that does not exist. */
  readonly clientNotFound: string
}

/** Which roles of which set: those of the realm, or those of the client with that id. */
export interface Roles {
  readonly owner: string
  readonly client?: string
}

/** Throws unless the set is there, and the client where one is named, and the caller may change it. */
export async function reachRoles(context: Context, set: RoleSet, at: Roles): Promise<void> {
  await openChangeable(context, set, at)
}

/** All roles of a set, by what they belong to. */
export async function listAll(context: Context, set: RoleSet, owner: string): Promise<Representation> {
  const { live } = await open(context, set, { owner }, set.view)
  const found = await writers.role.list(context, { keys: keysOf(live) })
  const [realm, ofClients] = [found.filter(({ parent }) => !parent), found.filter(({ parent }) => parent)]
  const byClient = Map.groupBy(ofClients, ({ key }) => key[1]!)
  const clientMappings = [...byClient].map(([client, own]) => {
    const mappings = own.map((one) => showRole(context, one, true))
    return [client, { id: own[0]!.parent!.id, client, mappings }]
  })
  return {
    ...(realm.length && { realmMappings: realm.map((one) => showRole(context, one, true)) }),
    ...(clientMappings.length && { clientMappings: Object.fromEntries(clientMappings) }),
  }
}

/** The roles that are in the set themselves. */
export async function listOwn(context: Context, set: RoleSet, at: Roles): Promise<Representation[]> {
  const { live, client } = await openShown(context, set, at)
  return showRoles(context, { keys: keysThere(live, client) }, true)
}

/** The roles that are not in the set themselves. Keycloak: its own roles are in the scope of a client in any case. */
export async function listAvailable(context: Context, set: RoleSet, at: Roles): Promise<Representation[]> {
  const { live, client } = await open(context, set, at, set.view)
  if (client && live.kind === 'client' && client.id === live.id) return []
  const own = new Set(keysThere(live, client).map((key) => key.at(-1)))
  const others = (await showRoles(context, rolesOf(context, set, client), true)).filter(
    ({ name }) => !own.has(String(name)),
  )
  const ids = await listGrantableRoleIds(
    context,
    others.map(({ id }) => String(id)),
  )
  return others.filter(({ id }) => ids.has(String(id)))
}

/** The roles of the set, and all that they contain. */
export async function listEffective(
  context: Context,
  set: RoleSet,
  at: Roles,
  brief: boolean,
): Promise<Representation[]> {
  const { live, client } = await openShown(context, set, at)
  if (set.everything?.(live)) return showRoles(context, rolesOf(context, set, client), brief)
  const held = await selectEffectiveRoles(context.tx, context.realm.number, { holders: set.holders(live) })
  return showRoles(context, { ids: held.map(({ id }) => id) }, brief, client?.id ?? context.realm.id)
}

/** Puts roles into a set. Throws not_found where one does not exist there. */
export async function addRoles(
  context: WriteContext,
  set: RoleSet,
  at: Roles,
  bodies: readonly Representation[],
): Promise<void> {
  const { live, client } = await openChangeable(context, set, at)
  await change(context, live, client, { add: await keysIn(context, client, bodies) })
}

/** Takes roles out of a set; without a body all that are there. Throws not_found where one does not exist there. */
export async function removeRoles(
  context: WriteContext,
  set: RoleSet,
  at: Roles,
  bodies: readonly Representation[] | undefined,
): Promise<void> {
  const { live, client } = await openChangeable(context, set, at)
  if (bodies) {
    await requireGrantableRoles(context, idsIn(bodies))
    return change(context, live, client, { remove: await keysIn(context, client, bodies) })
  }
  const own = await writers.role.list(context, { keys: keysThere(live, client) })
  await requireGrantableRoles(
    context,
    own.map(({ id }) => id),
  )
  await change(context, live, client, { remove: own.map(({ key }) => key) })
  describeAdminEvent(context, { representation: own.map((one) => showRole(context, one, true)) })
}

/** Keycloak: which roles of a client there are is shown to who may view clients. */
function openShown(context: Context, set: RoleSet, at: Roles) {
  if (at.client !== undefined) requirePermissions(context, 'view-clients')
  return open(context, set, at, set.view)
}

async function openChangeable(context: Context, set: RoleSet, at: Roles) {
  const opened = await open(context, set, at, set.manage)
  set.demandChange?.(context, opened.live)
  return opened
}

async function open(
  context: Context,
  set: RoleSet,
  { owner, client }: Roles,
  permission: Permission,
): Promise<{ live: LiveObject; client: LiveObject | undefined }> {
  const live = await set.find(context, owner)
  requirePermissions(context, permission)
  const found = client === undefined ? undefined : await getObject(context, 'client', { id: client, notFound: set.clientNotFound })
  return { live, client: found }
}

/** All roles of the realm itself, or of the client. */
function rolesOf(context: Context, set: RoleSet, client: LiveObject | undefined): ObjectFilter {
  const where = client ? { parents: { kind: 'client' as const, ids: [client.id] } } : { topLevel: true as const }
  return { ...where, visible: getVisibility(context, set.view) }
}

/** The keys of the roles that the object has itself, of the realm or of the client. */
function keysThere(live: LiveObject, client: LiveObject | undefined): Key[] {
  return keysOf(live).filter((key) => (client ? key[1] === client.key[0] : key.length === 1))
}

function idsIn(bodies: readonly Representation[]): string[] {
  return bodies.map(({ id }) => String(id ?? ''))
}

/** The keys of the roles that bodies name. Throws not_found. */
async function keysIn(
  context: Context,
  client: LiveObject | undefined,
  bodies: readonly Representation[],
): Promise<Key[]> {
  const ids = idsIn(bodies)
  const found = new Map((await writers.role.list(context, { ids })).map((role) => [role.id, role]))
  return ids.map((id) => {
    const role = found.get(id)
    if (!role || role.parent?.id !== client?.id) throw failure('not_found', 'Role not found')
    return role.key
  })
}

async function change(
  context: WriteContext,
  live: LiveObject,
  client: LiveObject | undefined,
  elements: { add?: readonly Key[]; remove?: readonly Key[] },
): Promise<void> {
  const [name] = roleFields(live).find(
    ([, { targetParent: among }]) => among === undefined || among === (client ? 'client' : 'realm'),
  )!
  await writers[live.kind].update(context, [{ live, set: {}, relations: { [name]: elements } }])
}

/** The keys of all roles that the object has itself. */
function keysOf(live: LiveObject): Key[] {
  return roleFields(live).flatMap(([name, field]) => {
    const value = live.representation[name]
    return value == null ? [] : toRelationKeys(field, value)
  })
}

function roleFields({ kind }: LiveObject) {
  return relationFields(kinds[kind]).filter(([, { refersTo }]) => refersTo === 'role')
}
