// Prevents privilege escalation: no caller grants admin permissions that they lack. One function for each way to grant them.
// objects/privilege-checks.ts finds what a write grants. A caller with all permissions needs no statement.
import type { AdminRole } from '../../kinds/admin-roles.ts'
import type { Key } from '../../kinds/kind.ts'
import { type PolicySubjects, selectPolicySubjects } from '../../store/groups.ts'
import { selectKeys } from '../../store/objects.ts'
import type { RoleName } from '../../store/roles.ts'
import {
  type RoleHolders,
  selectEffectiveRoles,
  selectExpandedRoles,
  selectRolesInUse,
  selectServiceAccountRoles,
} from '../../store/users/effective-roles.ts'
import {
  type AdminPermissions,
  addAdminRoles,
  canGrant,
  listMissingRoles,
  toAdminPermissions,
} from '../context/admin-permissions.ts'
import type { Context } from '../context/context.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { toRoleKey } from '../policy-evaluation/attributes.ts'
import {
  grantedByPolicies,
  listPolicyGrants,
  listRolesOfGroup,
  type PolicyGrants,
} from '../policy-evaluation/policy-grants.ts'
import { findFullAccessRole } from './require-permissions.ts'

/** The parts of a context that decide what its caller may grant. */
type Granter = Pick<Context, 'realm' | 'permissions'>

/** Returns those of the roles that the caller may grant and revoke, by id. One statement, or none. */
export async function listGrantableRoleIds(context: Context, roles: readonly string[]): Promise<Set<string>> {
  const { permissions } = context
  if (permissions.all) return new Set(roles)
  const expanded = await expandRoles(context, roles)
  const toPermissions = await createPermissionLookup(context)
  return new Set(roles.filter((id) => canGrant(permissions, toPermissions(expanded.get(id) ?? []))))
}

/** Throws forbidden unless the caller may grant the roles: to users and groups, in composites, in the scope of clients. One statement, or none. */
export async function requireGrantableRoles(context: Context, roles: readonly string[]): Promise<void> {
  if (context.permissions.all || !roles.length) return
  const expanded = await expandRoles(context, roles)
  const toPermissions = await createPermissionLookup(context)
  const listMissing = (names: readonly RoleName[]) => listMissingRoles(context.permissions, toPermissions(names))
  const missing = listMissing([...expanded.values()].flat())
  if (!missing.length) return
  const unexpanded = [...expanded].flatMap(([id, contained]) => contained.filter((role) => role.id === id))
  throw escalationError(missing, { hidesReason: listMissing(unexpanded).length > 0 })
}

/** Throws forbidden unless the caller may grant the roles of the groups: to members and subgroups. One statement, or none. */
export async function requireGrantableGroups(context: Context, groups: readonly string[]): Promise<void> {
  if (groups.length) await requireGrantableHolders(context, { groups })
}

/** Throws forbidden unless the caller may grant the roles in the scope of client scopes: to clients. One statement, or none. */
export async function requireGrantableClientScopes(context: Context, clientScopes: readonly string[]): Promise<void> {
  if (clientScopes.length) await requireGrantableHolders(context, { clientScopes })
}

/** Throws forbidden unless the caller may grant the default role and the default groups: to new users. One statement, or none. */
export async function requireGrantableDefaults(context: Context): Promise<void> {
  await requireGrantableHolders(context, { newUsers: true })
}

/** Throws forbidden unless the caller may log in as the users, by their password, email address or linked account. One statement, or none. */
export async function requireControlOfUsers(context: Context, users: readonly string[]): Promise<void> {
  if (users.length) await requireGrantableHolders(context, { users })
}

/** Throws forbidden unless the caller may log in as the users of identity providers. One statement, or none. */
export async function requireControlOfIdentityProviders(
  context: Context,
  identityProviders: readonly string[],
): Promise<void> {
  if (identityProviders.length) await requireGrantableHolders(context, { identityProviders })
}

/** Throws forbidden unless the caller may act as the service accounts of the clients, by their credentials. One statement, or none. */
export async function requireControlOfClients(context: Context, clients: readonly string[]): Promise<void> {
  const missing = [...(await findMissingRolesForClients(context, clients)).values()].flat()
  if (missing.length) throw escalationError(missing)
}

/** Returns the clients whose service accounts have roles that the caller may not grant, with these roles. One statement, or none. */
export async function findMissingRolesForClients(
  context: Context,
  clients: readonly string[],
): Promise<Map<string, string[]>> {
  const { tx, realm, permissions } = context
  if (permissions.all || !clients.length) return new Map()
  const stop = findFullAccessRole(realm.name)
  const effective = await selectServiceAccountRoles(tx, realm.number, { clients, stop })
  const toPermissions = await createPermissionLookup(context, { clients })
  const missing = [...Map.groupBy(effective, ({ root }) => root)].map(
    ([client, roles]) => [client, listMissingRoles(permissions, toPermissions(roles))] as const,
  )
  return new Map(missing.filter(([, roles]) => roles.length))
}

/** Throws forbidden unless the caller may log in as any user of the realm: by flows, keys, email and user federation. One statement, or none. */
export async function requireControlOfAllUsers(context: Context): Promise<void> {
  const { tx, realm, permissions } = context
  if (permissions.all) return
  const roles = await selectRolesInUse(tx, realm.number, findFullAccessRole(realm.name))
  await requireGrantable(context, roles, 'all users')
}

/** Throws forbidden unless the caller may grant all permissions that policies about administrators can give: to change these policies. No statement. */
export function requireGrantablePolicies({ realm, permissions }: Granter): void {
  const granted = addAdminRoles({ all: false, realms: new Map() }, realm.name, grantedByPolicies)
  const missing = listMissingRoles(permissions, granted)
  if (missing.length) throw escalationError(missing)
}

/** Throws forbidden unless the caller may grant the roles and groups that mappers name. Names of nothing are ignored. Statements: four at most. */
export async function requireGrantableNames(
  context: Context,
  { roles, groups }: { readonly roles: readonly string[]; readonly groups: readonly string[] },
): Promise<void> {
  const { tx, realm, permissions } = context
  if (permissions.all) return
  const selectIds = async (kind: 'role' | 'group', keys: readonly Key[]) =>
    keys.length ? (await selectKeys(tx, realm.number, { kind, filter: { keys } })).map(({ id }) => id) : []
  // Keycloak: the slash at the beginning of a path is optional, and spaces around settings of components do not count.
  const groupKeys = groups.flatMap((path): Key[] => [[path], [`/${path.trim().replace(/^\//, '')}`]])
  const roleKeys = roles.flatMap((name) => [...parseRoleKeys(name), ...parseRoleKeys(name.trim())])
  await requireGrantableRoles(context, await selectIds('role', roleKeys))
  await requireGrantableGroups(context, await selectIds('group', groupKeys))
}

/** Throws forbidden unless the caller may grant roles with these names. No statement. */
export function requireGrantableRoleNames(granter: Granter, roles: readonly RoleName[]): void {
  const missing = findMissing(granter, roles)
  if (missing.length) throw escalationError(missing)
}

/** Returns the keys of roles that a text may mean. Keycloak: `role`, or `client.role`, where names may contain dots. */
export function parseRoleKeys(text: string): Key[] {
  const splits = [...text.matchAll(/\./g)].map(
    ({ index }): Key => ['client', text.slice(0, index), text.slice(index + 1)],
  )
  return [[text], ...splits]
}

/** Returns the roles and all roles that they contain, by the id of the first. */
async function expandRoles({ tx, realm }: Context, roles: readonly string[]) {
  if (!roles.length) return new Map<string, never[]>()
  const expanded = await selectExpandedRoles(tx, realm.number, { roles, stop: findFullAccessRole(realm.name) })
  return Map.groupBy(expanded, ({ root }) => root)
}

async function requireGrantableHolders(context: Context, holders: RoleHolders): Promise<void> {
  const { tx, realm, permissions } = context
  if (permissions.all) return
  const stop = findFullAccessRole(realm.name)
  const roles = await selectEffectiveRoles(tx, realm.number, { holders, stop })
  // The users of an identity provider may be any.
  await requireGrantable(context, roles, holders.identityProviders ? 'all users' : holders)
}

/** Throws forbidden unless the caller may grant the roles, and what policies give to their holders. */
async function requireGrantable(
  context: Context,
  roles: readonly RoleName[],
  holders: PolicySubjects | 'all users',
): Promise<void> {
  const toPermissions = await createPermissionLookup(context, holders)
  const missing = listMissingRoles(context.permissions, toPermissions(roles))
  if (missing.length) throw escalationError(missing)
}

/**
 * Returns a function that returns the admin permissions of roles, with those that policies give to the roles and to the holders. One
 * statement if there are holders and policies for groups or users, or none.
 */
async function createPermissionLookup(
  context: Context,
  holders: PolicySubjects | 'all users' = {},
): Promise<(roles: readonly RoleName[]) => AdminPermissions> {
  const { name } = context.realm
  const policies = await context.findAdminPolicies(context)
  if (!policies) return (roles) => toAdminPermissions(name, roles)
  const grants = listPolicyGrants(policies)
  const ofHolders = await listRolesOfHolders(context, grants, holders)
  return (roles) => {
    const ofRoles = roles.flatMap((role) => [...(grants.roles.get(JSON.stringify(toRoleKey(role))) ?? [])])
    return addAdminRoles(toAdminPermissions(name, roles), name, [...ofRoles, ...ofHolders])
  }
}

/** Returns the admin roles that policies give to users and members of groups. One statement, or none. */
async function listRolesOfHolders(
  { tx, realm }: Context,
  grants: PolicyGrants,
  holders: PolicySubjects | 'all users',
): Promise<AdminRole[]> {
  if (holders === 'all users')
    return [...grants.users.values(), ...grants.groups.values()].flatMap((roles) => [...roles])
  if (!grants.users.size && !grants.groups.size) return []
  const { users = [], clients = [], groups = [] } = holders
  if (!users.length && !clients.length && !groups.length) return []
  const subjects = await selectPolicySubjects(tx, realm.number, { users, clients, groups })
  return subjects.flatMap(({ username, path }) => [
    ...(username === null ? [] : (grants.users.get(username) ?? [])),
    ...(path === null ? [] : listRolesOfGroup(grants, path)),
  ])
}

/** Returns the admin roles that the granter would need in order to grant these roles. */
function findMissing({ realm, permissions }: Granter, roles: readonly RoleName[]): string[] {
  return listMissingRoles(permissions, toAdminPermissions(realm.name, roles))
}

/** `hidesReason`: Keycloak refuses as well, without a reason. */
function escalationError(missing: readonly string[], { hidesReason = false } = {}): ServiceError {
  const roles = [...new Set(missing)].sort().join(', ')
  const reason = `This grants more admin permissions than you have: you lack ${roles}`
  return failure('forbidden', 'HTTP 403 Forbidden', { reason, ...(hidesReason && { hidesReason }) })
}
