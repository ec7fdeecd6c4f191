// The REST operations on role mappings: the roles that are assigned to users and groups, or are in the scope of clients and client
// scopes.

import { kinds } from '../../../kinds/index.ts'
import { type Representation, readObject, readObjects } from '../../../kinds/json.ts'
import { type Key, relationFields } from '../../../kinds/kind.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import type { ObjectFilter } from '../../../store/object-filter.ts'
import { type RoleHolders, selectEffectiveRoles } from '../../../store/users/effective-roles.ts'
import { loadObjectAccess, requireObjectPermission, type ScopedObject } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { cacheLargeValues } from '../../context/realm-values.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { listGrantableRoleIds, requireGrantableRoles } from '../../permissions/privilege-escalation.ts'
import { isPermitted, type Permission } from '../../permissions/require-permissions.ts'
import { getObject } from '../common/resource.ts'
import { listRoles, toRoleRepresentation } from './roles.ts'

/** A scope of roles: mapping them to users and groups, in the scope of clients, or in composite roles. */
type RoleScope = 'map-role' | 'map-role-client-scope' | 'map-role-composite'

/** The role mappings of a sort of owner, such as users. */
export interface RoleMappings {
  readonly view: Permission
  readonly manage: Permission
  /** Throws forbidden unless the caller may view the owner, or change its role mappings. */
  requireAccess(context: Context, purpose: MappingPurpose, owner: LiveObject): Promise<void>
  /** The scope of roles that a caller needs in order to map them, unless they have the permission to manage all owners. */
  readonly roleScope: RoleScope
  /** Returns the owner with that id. Throws not_found. */
  getOwner(context: Context, id: string): Promise<LiveObject>
  /** Returns the holders from whose roles the effective roles of an owner follow. */
  toHolders(owner: LiveObject): RoleHolders
  /** Whether every role is effective for an owner. */
  readonly hasAllRoles?: (owner: LiveObject) => boolean
  /** Throws forbidden if nobody may change the role mappings of an owner. */
  readonly requireChangeable?: (context: Context, owner: LiveObject) => void
  /** The message of an error about a client that does not exist. */
  readonly clientNotFound: string
  /** Keycloak: roles of clients can be added and removed as if they were realm roles. */
  readonly takesClientRoles?: true
}

/** The ids in the URL of role mappings: of their owner, and, for roles of a client, of the client. */
export interface RoleMappingAddress {
  readonly owner: string
  readonly client?: string
}

/** The live owner of role mappings, and the client whose roles they are about; without a client, those of the realm. */
interface OpenMappings {
  readonly owner: LiveObject
  readonly client: LiveObject | undefined
}

/** The use of role mappings that a caller requests. */
export type MappingPurpose = 'view' | 'manage'

/** Throws unless the owner and the client exist and the caller may change the role mappings. */
export async function requireChangeableMappings(
  context: Context,
  mappings: RoleMappings,
  address: RoleMappingAddress,
): Promise<void> {
  await openChangeable(context, mappings, address)
}

/** Returns all role mappings of an owner: of the realm, and by client id. */
export async function listAllMappings(
  context: Context,
  mappings: RoleMappings,
  ownerId: string,
): Promise<Representation> {
  const { owner } = await open(context, mappings, { owner: ownerId, purpose: 'view' })
  return getCachedMappings(context, String(getNumber(owner)), () => loadAllMappings(context, owner))
}

/** Loads all role mappings of an owner. The result is frozen, since it is cached. */
async function loadAllMappings(context: Context, owner: LiveObject): Promise<Representation> {
  const roles = await writers.role.list(context, { keys: listKeys(owner) })
  const render = (role: LiveObject) => toRoleRepresentation(context, role, true)
  const realmMappings = roles.filter(({ parent }) => !parent).map(render)
  const clientRoles = roles.filter(({ parent }) => parent)
  const clientMappings = [...Map.groupBy(clientRoles, ({ key }) => key[1]!)].map(([client, rolesOfClient]) => [
    client,
    { id: rolesOfClient[0]!.parent!.id, client, mappings: rolesOfClient.map(render) },
  ])
  return Object.freeze({
    ...(realmMappings.length && { realmMappings }),
    ...(clientMappings.length && { clientMappings: Object.fromEntries(clientMappings) }),
  })
}

/** Lists the roles that are mapped directly. */
export async function listDirectRoles(
  context: Context,
  mappings: RoleMappings,
  address: RoleMappingAddress,
): Promise<Representation[]> {
  const target = await openViewable(context, mappings, address)
  return listRoles(context, { keys: listKeysOfContainer(target) }, { brief: true })
}

/** Lists the roles that can be mapped but are not. Keycloak: the roles of a client itself are always in its scope. */
export async function listAvailableRoles(
  context: Context,
  mappings: RoleMappings,
  address: RoleMappingAddress,
): Promise<Representation[]> {
  const { owner, client } = await open(context, mappings, { ...address, purpose: 'view' })
  if (client && owner.kind === 'client' && client.id === owner.id) return []
  const mapped = new Set(listKeysOfContainer({ owner, client }).map((key) => key.at(-1)))
  const roles = await listRoles(context, toRoleFilter(client), { brief: true })
  const available = roles.filter(({ name }) => !mapped.has(String(name)))
  const grantable = await listGrantableRoleIds(
    context,
    available.map(({ id }) => String(id)),
  )
  const access = await loadRoleAccess(context, { ...mappings, manage: mappings.view })
  return available.filter(({ id }) => grantable.has(String(id)) && access({ id: String(id), client: client?.id }))
}

/** Effective roles. Their owner, as it was read, is part of the key: changes of users do not change the revision of the realm. */
const getCachedRoles = cacheLargeValues<readonly Representation[]>(({ length }) => length)
/** Responses of `listAllMappings`. The key is the number of the owner, as above. */
const getCachedMappings = cacheLargeValues<Representation>(countRoles)

function countRoles({ realmMappings, clientMappings }: Representation): number {
  const ofClients = Object.values(readObject(clientMappings)).map((client) => readObjects(readObject(client).mappings))
  return [readObjects(realmMappings), ...ofClients].flat().length
}

const numbers = new WeakMap<LiveObject, number>()
let lastNumber = 0

/** Returns a number for an object that was read. The next time that it is read from the store, it gets another number. */
function getNumber(object: LiveObject): number {
  const number = numbers.get(object) ?? ++lastNumber
  numbers.set(object, number)
  return number
}

/** Lists the effective roles: those that are mapped, and all roles of composite ones; `brief`: without attributes. */
export async function listEffectiveRoles(
  context: Context,
  mappings: RoleMappings,
  { brief, ...address }: RoleMappingAddress & { readonly brief: boolean },
): Promise<readonly Representation[]> {
  const { owner, client } = await openViewable(context, mappings, address)
  if (mappings.hasAllRoles?.(owner)) return listRoles(context, toRoleFilter(client), { brief })
  const container = client?.id ?? context.realm.id
  const key = `${getNumber(owner)} ${container} ${brief}`
  return getCachedRoles(context, key, async () => {
    const roles = await selectEffectiveRoles(context.tx, context.realm.number, { holders: mappings.toHolders(owner) })
    const listed = await listRoles(context, { ids: roles.map(({ id }) => id) }, { brief, container })
    return Object.freeze(listed.map((role) => Object.freeze(role)))
  })
}

/** Adds role mappings. Throws not_found if a role does not exist in the realm or client. */
export async function addRoles(
  context: WriteContext,
  mappings: RoleMappings,
  { bodies, ...address }: RoleMappingAddress & { readonly bodies: readonly Representation[] },
): Promise<void> {
  const target = await openChangeable(context, mappings, address)
  const roles = await getRoles(context, mappings, { ...target, bodies })
  await requireMappableRoles(context, mappings, roles)
  await updateMappings(context, toContainer(target), { add: roles.map(({ key }) => key) })
}

/** Removes role mappings; without bodies all of them. Throws not_found if a role does not exist in the realm or client. */
export async function removeRoles(
  context: WriteContext,
  mappings: RoleMappings,
  { bodies, ...address }: RoleMappingAddress & { readonly bodies: readonly Representation[] | undefined },
): Promise<void> {
  const target = await openChangeable(context, mappings, address)
  if (bodies) {
    const declaredRoles = await getRoles(context, mappings, { ...target, bodies })
    await requireGrantableRoles(
      context,
      declaredRoles.map(({ id }) => id),
    )
    await requireMappableRoles(context, mappings, declaredRoles)
    return updateMappings(context, toContainer(target), { remove: declaredRoles.map(({ key }) => key) })
  }
  const roles = await writers.role.list(context, { keys: listKeysOfContainer(target) })
  await requireGrantableRoles(
    context,
    roles.map(({ id }) => id),
  )
  await requireMappableRoles(context, mappings, roles)
  await updateMappings(context, toContainer(target), { remove: roles.map(({ key }) => key) })
  describeAdminEvent(context, { representation: roles.map((role) => toRoleRepresentation(context, role, true)) })
}

/** Removes mappings of roles of the realm and of clients. Roles that do not exist are ignored. */
export async function removeMappedRoles(
  context: WriteContext,
  mappings: RoleMappings,
  { owner: ownerId, roleIds }: { readonly owner: string; readonly roleIds: readonly string[] },
): Promise<void> {
  const { owner } = await openChangeable(context, mappings, { owner: ownerId })
  const roles = await writers.role.list(context, { ids: roleIds })
  await requireGrantableRoles(
    context,
    roles.map(({ id }) => id),
  )
  await requireMappableRoles(context, mappings, roles)
  for (const container of ['realm', 'client'] as const) {
    const keys = roles.filter(({ parent }) => (container === 'client') === (parent !== undefined)).map(({ key }) => key)
    if (keys.length) await updateMappings(context, { owner, container }, { remove: keys })
  }
}

/** Keycloak: the mapped roles of a client are visible only to callers who may view clients. */
async function openViewable(
  context: Context,
  mappings: RoleMappings,
  address: RoleMappingAddress,
): Promise<OpenMappings> {
  if (address.client !== undefined)
    await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id: address.client }] })
  return open(context, mappings, { ...address, purpose: 'view' })
}

async function openChangeable(
  context: Context,
  mappings: RoleMappings,
  address: RoleMappingAddress,
): Promise<OpenMappings> {
  const changeable = await open(context, mappings, { ...address, purpose: 'manage' })
  mappings.requireChangeable?.(context, changeable.owner)
  return changeable
}

/** Returns the owner and the client of an address. Throws not_found, forbidden. */
async function open(
  context: Context,
  { getOwner, requireAccess, clientNotFound }: RoleMappings,
  { owner: ownerId, client: clientId, purpose }: RoleMappingAddress & { readonly purpose: MappingPurpose },
): Promise<OpenMappings> {
  const owner = await getOwner(context, ownerId)
  await requireAccess(context, purpose, owner)
  if (clientId === undefined) return { owner, client: undefined }
  return { owner, client: await getObject(context, 'client', { id: clientId, notFound: clientNotFound }) }
}

function toContainer({ owner, client }: OpenMappings) {
  return { owner, container: client ? ('client' as const) : ('realm' as const) }
}

/** Returns the filter for all roles of the client, or of the realm itself. */
function toRoleFilter(client: LiveObject | undefined): ObjectFilter {
  return client ? { parents: { kind: 'client', ids: [client.id] } } : { topLevel: true }
}

/** Returns the keys of the directly mapped roles of the client, or of the realm itself. */
function listKeysOfContainer({ owner, client }: OpenMappings): Key[] {
  return listKeys(owner).filter((key) => (client ? key[1] === client.key[0] : key.length === 1))
}

/** Returns the roles in bodies. @throws not_found, also for a body whose name is that of another role than its id */
async function getRoles(
  context: Context,
  { takesClientRoles }: RoleMappings,
  { client, bodies }: OpenMappings & { readonly bodies: readonly Representation[] },
): Promise<LiveObject[]> {
  // Keycloak: if bodies have names, only these count in the scope mappings of a client; in those of the realm, only the id does.
  if (takesClientRoles && client && bodies.every(({ name = null }) => name !== null))
    return getRolesByName(context, client, bodies)
  const ids = bodies.map(({ id }) => String(id ?? ''))
  const rolesById = new Map((await writers.role.list(context, { ids })).map((role) => [role.id, role]))
  return bodies.map(({ name = null }, at) => {
    const role = rolesById.get(ids[at]!)
    const isInContainer = role?.parent?.id === client?.id && (name === null || name === role?.key.at(-1))
    if (!role || !(isInContainer || takesClientRoles)) throw failure('not_found', 'Role not found')
    return role
  })
}

/** Returns the roles of a client with the names in bodies. Throws not_found. */
async function getRolesByName(
  context: Context,
  client: LiveObject,
  bodies: readonly Representation[],
): Promise<LiveObject[]> {
  const keys = bodies.map(({ name }): Key => ['client', ...client.key, String(name ?? '')])
  const rolesByName = new Map((await writers.role.list(context, { keys })).map((role) => [role.key.at(-1), role]))
  return keys.map((key) => {
    const role = rolesByName.get(key.at(-1))
    if (!role) throw failure('not_found', 'Role not found')
    return role
  })
}

/** Throws forbidden unless the caller may map all of the roles. Statements: see `hasObjectPermission`. */
async function requireMappableRoles(
  context: Context,
  mappings: RoleMappings,
  roles: readonly LiveObject[],
): Promise<void> {
  const access = await loadRoleAccess(context, mappings)
  if (!roles.every(({ id, parent }) => access({ id, client: parent?.id })))
    throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** Returns whether the caller may map a role: each with the permission to manage all owners, else those with the scope. */
export async function loadRoleAccess(
  context: Context,
  { manage, roleScope }: { readonly manage: Permission; readonly roleScope: RoleScope },
): Promise<(role: ScopedObject) => boolean> {
  if (isPermitted(context, manage)) return () => true
  const access = await loadObjectAccess(context, { type: 'Roles', objects: [] })
  return (role) => access(roleScope, role)
}

async function updateMappings(
  context: WriteContext,
  { owner, container }: { readonly owner: LiveObject; readonly container: 'realm' | 'client' },
  change: { add?: readonly Key[]; remove?: readonly Key[] },
): Promise<void> {
  const [field] = listRoleFields(owner).find(
    ([, { targetParent }]) => targetParent === undefined || targetParent === container,
  )!
  await writers[owner.kind].update(context, [{ live: owner, set: {}, relations: { [field]: change } }])
}

/** Returns the keys of all directly mapped roles of an owner. */
function listKeys(owner: LiveObject): Key[] {
  return listRoleFields(owner).flatMap(([name, field]) => {
    const value = owner.representation[name]
    return value == null ? [] : toRelationKeys(field, value)
  })
}

function listRoleFields({ kind }: LiveObject) {
  return relationFields(kinds[kind]).filter(([, { refersTo }]) => refersTo === 'role')
}
