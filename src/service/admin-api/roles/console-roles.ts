// The roles of users, groups, clients, client scopes and composite roles in the form in which the admin console lists them.
import { kinds } from '../../../kinds/index.ts'
import { omitUndefined, type Representation } from '../../../kinds/json.ts'
import { type Key, relationFields } from '../../../kinds/kind.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import { type DescribedRole, selectDescribedRoles } from '../../../store/roles.ts'
import { selectEffectiveRoles, selectExpandedRoles } from '../../../store/users/effective-roles.ts'
import { findDefaultRole } from '../../../store/users/role-mappings.ts'
import { hasObjectPermission, loadObjectAccess } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure, ServiceError } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { listGrantableRoleIds } from '../../permissions/privilege-escalation.ts'
import { isPermitted, requirePermissions } from '../../permissions/require-permissions.ts'
import { changeComposites } from './composites.ts'
import {
  groupRoleMappings,
  scopeMappingsOfClientScopes,
  scopeMappingsOfClients,
  userRoleMappings,
} from './role-mapping-owners.ts'
import { loadRoleAccess, removeMappedRoles, requireChangeableMappings } from './role-mappings.ts'
import { getRoleById } from './roles.ts'

/** The owners of role mappings, as the admin console names them. */
const mappingsByOwner = {
  users: userRoleMappings,
  groups: groupRoleMappings,
  clients: scopeMappingsOfClients,
  clientScopes: scopeMappingsOfClientScopes,
} as const

/** A sort of objects that have roles. */
export type RoleOwnerType = keyof typeof mappingsByOwner | 'roles'

/** All sorts of objects that have roles. */
export const roleOwnerTypes: readonly RoleOwnerType[] = ['clientScopes', 'clients', 'groups', 'users', 'roles']

/** An owner of role mappings. */
interface MappedOwner {
  readonly type: keyof typeof mappingsByOwner
  readonly id: string
}

/** An object that has roles. */
export interface RoleOwner {
  readonly type: RoleOwnerType
  readonly id: string
}

/** The permission and the scope for adding roles to a composite role. */
const compositesOfRoles = { manage: 'manage-users', roleScope: 'map-role-composite' } as const

/** Lists a page of the client roles that can be mapped to an owner and are not. Keycloak: those of a composite role are all listed. */
export async function listAvailableClientRoles(
  context: Context,
  { type, id }: RoleOwner,
  { search, first, max }: { readonly search: string; readonly first: number; readonly max: number },
): Promise<Representation[]> {
  const { excluded, canMap } = await findMappable(context, { type, id })
  const roles = await selectDescribedRoles(context.tx, context.realm.number, { search })
  const available = roles.filter((role) => !excluded(role) && canMap({ id: role.id, client: role.client ?? undefined }))
  const ids = available.map((role) => role.id)
  const grantable = await listGrantableRoleIds(context, ids)
  return available
    .filter((role) => grantable.has(role.id))
    .slice(first, first + max)
    .map(toClientRole)
}

/** Returns the owner of role mappings. Keycloak: the messages of errors are not those of its API. */
async function getOwner(context: Context, { type, id }: MappedOwner): Promise<LiveObject> {
  if (type !== 'groups') return mappingsByOwner[type].getOwner(context, id)
  try {
    return await groupRoleMappings.getOwner(context, id)
  } catch (error) {
    throw withMessage(error, 'Could not find group')
  }
}

async function getRole(context: Context, id: string, purpose: 'view' | 'manage'): Promise<LiveObject> {
  try {
    return await getRoleById(context, { id }, purpose)
  } catch (error) {
    throw withMessage(error, 'Could not find role')
  }
}

function withMessage(error: unknown, message: string): unknown {
  return error instanceof ServiceError && error.code === 'not_found' ? failure('not_found', message) : error
}

/** Returns which roles an owner has already, and which of all roles the caller may map to it. */
async function findMappable(context: Context, { type, id }: RoleOwner) {
  if (type === 'roles') {
    requirePermissions(context, 'see-realm')
    const canMap = await loadRoleAccess(context, compositesOfRoles)
    return { excluded: (role: DescribedRole) => role.id === id, canMap }
  }
  const mappings = mappingsByOwner[type]
  const owner = await getOwner(context, { type, id })
  await mappings.requireAccess(context, 'view', owner)
  const keys = new Set(listMappedKeys(owner).map((key) => JSON.stringify(key)))
  const excluded = ({ name, client, clientId }: DescribedRole) =>
    (type === 'clients' && client === id) || keys.has(JSON.stringify(['client', clientId, name]))
  const isMappable =
    type !== 'users' || (await hasObjectPermission(context, { type: 'Users', scope: 'map-roles', objects: [owner] }))
  return { excluded, canMap: isMappable ? await loadRoleAccess(context, mappings) : () => false }
}

/** Lists the effective client roles of an owner. Keycloak: for any role, those of the default role of the realm. */
export async function listEffectiveClientRoles(context: Context, owner: RoleOwner): Promise<Representation[]> {
  const roles =
    owner.type === 'roles' ? await listRolesOfDefaultRole(context) : await listVisibleEffectiveRoles(context, owner)
  return roles.filter(({ client }) => client !== null).map(toClientRole)
}

/** Lists all effective roles of an owner: realm roles, then client roles. */
export async function listAllEffectiveRoles(context: Context, owner: RoleOwner): Promise<Representation[]> {
  return (await listVisibleEffectiveRoles(context, owner)).map(({ id, name, description, client, clientId }) =>
    omitUndefined({
      id,
      name,
      description: description ?? undefined,
      clientRole: client !== null,
      client: clientId ?? undefined,
      clientId: client ?? undefined,
    }),
  )
}

/** Lists the roles of a composite role: of the realm, and by client id. */
export async function listCompositesByClient(context: Context, id: string): Promise<Representation> {
  const role = await getRole(context, id, 'view')
  const composites = await writers.role.list(context, { keys: listMappedKeys(role) })
  const ids = composites.map((composite) => composite.id)
  const roles = await filterVisible(context, await selectDescribedRoles(context.tx, context.realm.number, { ids }))
  const realmMappings = roles.filter(({ client }) => client === null).map((r) => toComposite(r, context.realm.id))
  const clientRoles = roles.filter(({ client }) => client !== null)
  const clientMappings = [...Map.groupBy(clientRoles, ({ clientId }) => clientId!)].map(([client, ofClient]) => [
    client,
    { id: ofClient[0]!.client, client, mappings: ofClient.map((r) => toComposite(r, client)) },
  ])
  return {
    ...(realmMappings.length && { realmMappings }),
    ...(clientMappings.length && { clientMappings: Object.fromEntries(clientMappings) }),
  }
}

/** Throws unless the owner exists and the caller may change its roles. */
export async function requireChangeableRoles(context: Context, { type, id }: RoleOwner): Promise<void> {
  if (type === 'roles') await getRole(context, id, 'manage')
  else await requireChangeableMappings(context, mappingsByOwner[type], { owner: id })
}

/** Removes roles of the realm and of clients from an owner. Keycloak: roles that do not exist are ignored. */
export async function removeRolesOfOwner(
  context: WriteContext,
  { type, id }: RoleOwner,
  roleIds: readonly string[],
): Promise<void> {
  if (type !== 'roles') return removeMappedRoles(context, mappingsByOwner[type], { owner: id, roleIds })
  const bodies = (await writers.role.list(context, { ids: roleIds })).map((role) => ({ id: role.id }))
  await changeComposites(context, { getRole: getRoleById, address: { id } }, { change: 'remove', bodies })
}

async function listVisibleEffectiveRoles(context: Context, { type, id }: RoleOwner): Promise<DescribedRole[]> {
  const { tx, realm } = context
  const ids = await findEffectiveIds(context, { type, id })
  return filterVisible(context, await selectDescribedRoles(tx, realm.number, { ids }))
}

async function findEffectiveIds(context: Context, { type, id }: RoleOwner): Promise<string[]> {
  if (type === 'roles') {
    await getRole(context, id, 'view')
    return expandRoles(context, [id])
  }
  const mappings = mappingsByOwner[type]
  const owner = await getOwner(context, { type, id })
  await mappings.requireAccess(context, 'view', owner)
  if (type === 'clients') {
    // Only mapped roles count here, and not the roles of the client itself, which are in its scope in any case.
    const mapped = await writers.role.list(context, { keys: listMappedKeys(owner) })
    return expandRoles(
      context,
      mapped.map((role) => role.id),
    )
  }
  const holders = mappings.toHolders(owner)
  return (await selectEffectiveRoles(context.tx, context.realm.number, { holders })).map((role) => role.id)
}

async function listRolesOfDefaultRole(context: Context): Promise<DescribedRole[]> {
  requirePermissions(context, 'list-roles')
  const { tx, realm } = context
  const defaultRole = await findDefaultRole(tx, realm.number)
  const ids = defaultRole === undefined ? [] : await expandRoles(context, [defaultRole])
  return filterVisible(context, await selectDescribedRoles(tx, realm.number, { ids }))
}

/** Returns the ids of roles and of all their composites. */
async function expandRoles({ tx, realm }: Context, roles: readonly string[]): Promise<string[]> {
  const expanded = await selectExpandedRoles(tx, realm.number, { roles, stop: undefined })
  return [...new Set(expanded.map(({ id }) => id))]
}

/** Returns the roles that the caller may view: those of the realm, or of a client. */
async function filterVisible(context: Context, roles: readonly DescribedRole[]): Promise<DescribedRole[]> {
  const canViewRealmRoles = isPermitted(context, 'view-realm')
  const objects = [...new Set(roles.flatMap(({ client }) => client ?? []))].map((id) => ({ id }))
  const access = await loadObjectAccess(context, { type: 'Clients', objects, scopes: ['view'] })
  return roles.filter(({ client }) => (client === null ? canViewRealmRoles : access('view', { id: client })))
}

/** Returns the keys of all directly mapped roles of an owner, or of the composites of a role. */
function listMappedKeys({ kind, representation }: LiveObject): Key[] {
  return relationFields(kinds[kind])
    .filter(([, { refersTo }]) => refersTo === 'role')
    .flatMap(([name, field]) => {
      const value = representation[name]
      return value == null ? [] : toRelationKeys(field, value)
    })
}

function toClientRole({ id, name, description, client, clientId }: DescribedRole): Representation {
  return omitUndefined({ id, role: name, client: clientId, clientId: client, description: description ?? undefined })
}

function toComposite({ id, name, description, composite, client }: DescribedRole, containerId: string): Representation {
  return omitUndefined({
    id,
    name,
    description: description ?? undefined,
    composite,
    clientRole: client !== null,
    containerId,
  })
}
