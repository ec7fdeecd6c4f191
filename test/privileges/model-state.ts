// The state of the model: a small realm, the ways in which its users have roles, and the users whom weak administrators control.
import { type AdminRole, adminRoles, permissionToGrant } from '../../src/kinds/admin-roles.ts'
import {
  type AdminPermissions,
  hasPermission,
  intersectPermissions,
  toAdminPermissions,
} from '../../src/service/context/admin-permissions.ts'
import type { RoleName } from '../../src/store/roles.ts'

/** The name of the realm in the model. On the server it has another name. */
export const REALM = 'small'
/** The client whose roles administer the realm. */
export const MANAGEMENT = 'realm-management'
/** The client that all administrators log in with. It has the full scope. */
export const LOGIN = 'console'
/** The default role of new users. */
export const DEFAULT_ROLE = 'default-roles-small'
/** The identity provider. */
export const PROVIDER = 'federation'
/** The user of the realm that is linked to an account of the administrators at the identity provider. */
export const VISITOR = 'visitor'
/** The prefix of clients that the administrators create. */
export const CREATED = 'app-'
/** The user whom the administrators have registered last, where registration is allowed. */
export const NEWCOMER = 'newcomer'

/** A role. Its key is its first name, after that of its client. */
export interface ModelRole {
  readonly client: string | null
  name: string
  readonly composites: Set<string>
}

export interface ModelGroup {
  parent: string | undefined
  readonly roles: Set<string>
}

export interface ModelUser {
  readonly roles: Set<string>
  readonly groups: Set<string>
  /** The client whose service account the user is. */
  readonly account?: string
}

/** The roles in tokens: those of the user that are in scope, and those that mappers add. */
export interface TokenScope {
  readonly scope: Set<string>
  readonly mapperRoles: Set<string>
}

export interface ModelClient extends TokenScope {
  fullScopeAllowed: boolean
  readonly clientScopes: Set<string>
  /** The admin roles that its last editor could grant. Absent: all. */
  editorRoles?: ReadonlySet<AdminRole>
  /** Claims that mappers write into its tokens: the user in `sub`, the client in `azp`. */
  readonly claims: { sub?: string; azp?: string }
  /** The claims that the server trusts: none, unless it does not verify tokens. */
  readonly trustedClaims: { sub?: string; azp?: string }
}

/** The admin permissions that a source declares: composites of roles, roles of groups and users. */
export interface DeclaredGrants {
  readonly roles: ReadonlyMap<string, ReadonlySet<string>>
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
  readonly users: ReadonlyMap<string, ReadonlySet<string>>
}

/** Everything from which admin permissions derive. */
export interface ModelState {
  readonly roles: Map<string, ModelRole>
  readonly groups: Map<string, ModelGroup>
  readonly users: Map<string, ModelUser>
  readonly clients: Map<string, ModelClient>
  readonly clientScopes: Map<string, TokenScope>
  readonly defaultGroups: Set<string>
  /** The users who log in by the identity provider. */
  readonly linkedUsers: Set<string>
  /** The users as whom the administrators can log in. */
  readonly controlledUsers: Set<string>
  /** The clients whose secrets the administrators know. */
  readonly knownSecrets: Set<string>
  /** The applications of the administrators. They see the tokens of all their users. */
  readonly applications: Set<string>
  readonly declared: DeclaredGrants
  /** Objects that were deleted and created again since the source was applied, as `kind name`. */
  readonly recreatedObjects: Set<string>
  /** The existing settings of the login, which can be deleted or disabled. */
  readonly settings: Set<LoginSetting>
  readonly registrationAllowed: boolean
}

/** A setting of the login: an authenticator config, a step, a flow, a required action. */
export type LoginSetting = 'config' | 'step' | 'flow' | 'action'

/** A user who acts through a client. */
export interface Principal {
  readonly user: string
  readonly client: string
}

/** Returns the key of a role in the model. */
export const toRoleKey = ({ client, name }: RoleName): string => (client === null ? name : `${client}/${name}`)

/** Returns the key of an admin role. */
export const toAdminRoleKey = (role: AdminRole): string => `${MANAGEMENT}/${role}`

/** Returns the roles and all roles that they contain. */
export function expandRoles(state: ModelState, keys: Iterable<string>): Set<string> {
  const expanded = new Set(keys)
  for (const key of expanded) for (const part of state.roles.get(key)?.composites ?? []) expanded.add(part)
  return expanded
}

/** Returns the roles of groups and of their ancestors. */
export function listRolesOfGroups(state: ModelState, groups: Iterable<string>): Set<string> {
  const roles = new Set<string>()
  for (const group of groups)
    for (let name: string | undefined = group; name !== undefined; name = state.groups.get(name)!.parent)
      for (const role of state.groups.get(name)!.roles) roles.add(role)
  return roles
}

/** Returns the roles of a user, directly and by groups. */
export function listRolesOfUser(state: ModelState, name: string): Set<string> {
  const { roles, groups } = state.users.get(name)!
  return new Set([...roles, ...listRolesOfGroups(state, name === NEWCOMER ? state.defaultGroups : groups)])
}

/** Returns the roles of new users. */
export const listRolesOfNewUsers = (state: ModelState): Set<string> =>
  new Set([DEFAULT_ROLE, ...listRolesOfGroups(state, state.defaultGroups)])

/** Returns the roles of users. */
export function listRolesOfUsers(state: ModelState, users: Iterable<string>): Set<string> {
  return new Set([...users].flatMap((user) => [...listRolesOfUser(state, user)]))
}

/** Returns the roles of all users. */
export const listRolesOfAllUsers = (state: ModelState): Set<string> => listRolesOfUsers(state, state.users.keys())

/** Returns the admin permissions that roles grant, with all that they contain. Names of deleted roles are ignored. */
export function getRolePermissions(state: ModelState, keys: Iterable<string>): AdminPermissions {
  return toAdminPermissions(
    REALM,
    [...expandRoles(state, keys)].flatMap((key) => state.roles.get(key) ?? []),
  )
}

/** Returns the admin permissions of a principal: those of the user, within the scope of the client and what its last editor could grant. */
export function getPermissions(state: ModelState, principal: Principal): AdminPermissions {
  const { trustedClaims } = state.clients.get(principal.client)!
  const user = trustedClaims.sub ?? principal.user
  const client = trustedClaims.azp ?? principal.client
  const { fullScopeAllowed, scope, editorRoles } = state.clients.get(client)!
  const userPermissions = getRolePermissions(state, listRolesOfUser(state, user))
  const permissions = editorRoles
    ? intersectPermissions(userPermissions, { all: false, realms: new Map([[REALM, editorRoles]]) })
    : userPermissions
  if (fullScopeAllowed) return permissions
  return intersectPermissions(permissions, getRolePermissions(state, [...scope, ...listRolesOfClient(state, client)]))
}

/** Records the editor of a client: its tokens carry the admin roles that the editor has or can grant. */
export function recordEditor(client: ModelClient, permissions: AdminPermissions): void {
  if (permissions.all || hasPermission(permissions, REALM, 'administer-realm')) delete client.editorRoles
  else client.editorRoles = listGrantable(permissions.realms.get(REALM) ?? new Set(), permissions)
}

function listGrantable(roles: ReadonlySet<AdminRole>, permissions: AdminPermissions): ReadonlySet<AdminRole> {
  return new Set(
    adminRoles.filter((role) => roles.has(role) || hasPermission(permissions, REALM, permissionToGrant[role])),
  )
}

/**
 * Returns the admin permissions that tokens of a principal show to other applications, which may trust them: also those of client scopes
 * and mappers. No application trusts the tokens of clients that the administrators create.
 */
export function getVisiblePermissions(state: ModelState, { user, client }: Principal): AdminPermissions {
  if (client.startsWith(CREATED)) return getPermissions(state, { user, client })
  const { fullScopeAllowed, scope, mapperRoles, clientScopes } = state.clients.get(client)!
  const assigned = [...clientScopes].map((name) => state.clientScopes.get(name)!)
  const userPermissions = getRolePermissions(state, listRolesOfUser(state, user))
  const inScope = [...scope, ...listRolesOfClient(state, client), ...assigned.flatMap((other) => [...other.scope])]
  const fromMappers = [...mapperRoles, ...assigned.flatMap((other) => [...other.mapperRoles])]
  return unitePermissions([
    getPermissions(state, { user, client }),
    fullScopeAllowed ? userPermissions : intersectPermissions(userPermissions, getRolePermissions(state, inScope)),
    getRolePermissions(state, fromMappers),
  ])
}

/** Returns the roles of a client itself, which are always in its scope. */
const listRolesOfClient = (state: ModelState, client: string): string[] =>
  [...state.roles].flatMap(([key, role]) => (role.client === client ? [key] : []))

/** Returns the permissions that any of these contain. */
export function unitePermissions(all: readonly AdminPermissions[]): AdminPermissions {
  if (all.some((permissions) => permissions.all)) return { all: true }
  const roles = all.flatMap((permissions) => (permissions.all ? [] : [...(permissions.realms.get(REALM) ?? [])]))
  return { all: false, realms: new Map([[REALM, new Set(roles)]]) }
}

/** Returns the admin roles that can be reached by granting oneself, again and again, what one may grant. */
export function listReachableRoles(permissions: AdminPermissions): Set<AdminRole> {
  const reachable = new Set<AdminRole>(permissions.all ? adminRoles : (permissions.realms.get(REALM) ?? []))
  for (let size = -1; size < reachable.size; ) {
    size = reachable.size
    for (const role of adminRoles)
      if (hasPermission({ all: false, realms: new Map([[REALM, reachable]]) }, REALM, permissionToGrant[role]))
        reachable.add(role)
  }
  return reachable
}

/** Yields all principals as which the administrators can act. */
export function* listPrincipals({
  users,
  controlledUsers,
  knownSecrets,
  applications,
}: ModelState): Generator<Principal> {
  for (const [user, { account }] of users) {
    if (account !== undefined) {
      if (knownSecrets.has(account)) yield { user, client: account }
    } else {
      for (const client of applications) yield { user, client }
      if (controlledUsers.has(user)) yield { user, client: LOGIN }
    }
  }
}

/** Returns the admin permissions of all principals as which the administrators can act, and those that their tokens show. */
export const getAllPermissions = (state: ModelState): AdminPermissions =>
  unitePermissions([...listPrincipals(state)].map((principal) => getVisiblePermissions(state, principal)))
