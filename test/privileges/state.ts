// A realm in miniature: who has which roles, by which ways, and whom administrators with few roles can act as.
import { type AdminRole, adminRoles, permissionToGrant } from '../../src/kinds/admin-roles.ts'
import { hasPermission, type AdminRoleName, type AdminPermissions, toAdminPermissions, intersectPermissions } from '../../src/service/context/admin-permissions.ts'

/** The realm's name here; on a server it has another one. */
export const REALM = 'small'
/** The client whose roles administer the realm. */
export const MANAGEMENT = 'realm-management'
/** The client that every administrator logs in at: it shows all of their roles. */
export const LOGIN = 'console'
/** The role that everybody new gets. */
export const DEFAULT = 'default-roles-small'
/** The identity provider, and the administrators' account in the realm that goes with the one that they have there. */
export const PROVIDER = 'elsewhere'
export const VISITOR = 'visitor'
/** What the names of applications begin with that the administrators create. */
export const CREATED = 'app-'
/** Where anybody may register: whoever of the administrators does so last. */
export const NEWCOMER = 'newcomer'

/** A role. Its key, by which others know it, is the name that it began with, behind that of its client. */
export interface Role {
  readonly client: string | null
  name: string
  readonly parts: Set<string>
}

export interface Group {
  parent: string | undefined
  readonly roles: Set<string>
}

export interface User {
  readonly roles: Set<string>
  readonly groups: Set<string>
  /** The client whose account this is. */
  readonly account?: string
}

/** What tokens show: roles that are in scope, and those that mappers put into them. */
export interface Scope {
  readonly scope: Set<string>
  readonly mapped: Set<string>
}

export interface Client extends Scope {
  full: boolean
  readonly scopes: Set<string>
  /** The admin roles that its last editor could grant; absent: all. */
  limit?: ReadonlySet<AdminRole>
  /** Claims that mappers write into its tokens: the user whom `sub` names, the client that `azp` names. */
  readonly written: { sub?: string; azp?: string }
  /** The claims of these that the server believes: none, unless its verification is missing. */
  readonly believed: { sub?: string; azp?: string }
}

/** What a source declares, as far as it grants admin permissions: parts of roles, roles of groups and users. */
export interface Declared {
  readonly roles: ReadonlyMap<string, ReadonlySet<string>>
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
  readonly users: ReadonlyMap<string, ReadonlySet<string>>
}

/** Everything that power comes from. */
export interface State {
  readonly roles: Map<string, Role>
  readonly groups: Map<string, Group>
  readonly users: Map<string, User>
  readonly clients: Map<string, Client>
  readonly clientScopes: Map<string, Scope>
  readonly defaultGroups: Set<string>
  /** Who logs in by the provider. */
  readonly linked: Set<string>
  /** Whom the administrators can act as: by a password or in another way, and by the secret of a client. */
  readonly people: Set<string>
  readonly secrets: Set<string>
  /** The applications that they run: each sees the tokens of everybody who uses it. */
  readonly applications: Set<string>
  readonly declared: Declared
  /** Objects that were deleted and created again since the source was applied: each as kind and name. */
  readonly recreated: Set<string>
  /** Settings of log-in that are there and can be deleted or switched off. */
  readonly settings: Set<Setting>
  /** Whether anybody may register. */
  readonly open: boolean
}

/** What decides how everybody logs in: an authenticator config, a step, a flow, a required action. */
export type Setting = 'config' | 'step' | 'flow' | 'action'

/** Somebody by a client. */
export interface Principal {
  readonly user: string
  readonly client: string
}

export const keyOf = ({ client, name }: AdminRoleName): string => (client === null ? name : `${client}/${name}`)

/** The key of a role that administers. */
export const administering = (role: AdminRole): string => `${MANAGEMENT}/${role}`

/** The roles and all that they contain. */
export function closure(state: State, keys: Iterable<string>): Set<string> {
  const all = new Set(keys)
  for (const key of all) for (const part of state.roles.get(key)?.parts ?? []) all.add(part)
  return all
}

/** The roles of groups and of those above them. */
export function ofGroups(state: State, groups: Iterable<string>): Set<string> {
  const found = new Set<string>()
  for (const group of groups)
    for (let at: string | undefined = group; at !== undefined; at = state.groups.get(at)!.parent)
      for (const role of state.groups.get(at)!.roles) found.add(role)
  return found
}

/** The roles that a user is given, in whatever way. */
export function ofUser(state: State, name: string): Set<string> {
  const { roles, groups } = state.users.get(name)!
  return new Set([...roles, ...ofGroups(state, name === NEWCOMER ? state.defaultGroups : groups)])
}

/** The roles that everybody new gets. */
export const ofNewcomers = (state: State): Set<string> => new Set([DEFAULT, ...ofGroups(state, state.defaultGroups)])

/** The roles that any of these users has. */
export function ofUsers(state: State, users: Iterable<string>): Set<string> {
  return new Set([...users].flatMap((user) => [...ofUser(state, user)]))
}

/** The roles that anybody has. */
export const ofAnybody = (state: State): Set<string> => ofUsers(state, state.users.keys())

/** What roles let administer, with all that they contain. A mapper may name a role that is deleted. */
export function powerOfRoles(state: State, keys: Iterable<string>): AdminPermissions {
  return toAdminPermissions(
    REALM,
    [...closure(state, keys)].flatMap((key) => state.roles.get(key) ?? []),
  )
}

/**
 * What a principal may administer: as much of the power of the user as the client has in its scope, and as its last editor
 * could grant.
 */
export function power(state: State, principal: Principal): AdminPermissions {
  const { believed } = state.clients.get(principal.client)!
  const { user, client } = {
    user: believed.sub ?? principal.user,
    client: believed.azp ?? principal.client,
  }
  const { full, scope, limit } = state.clients.get(client)!
  const held = powerOfRoles(state, ofUser(state, user))
  const limited = limit ? intersectPermissions(held, { all: false, realms: new Map([[REALM, limit]]) }) : held
  return full ? limited : intersectPermissions(limited, powerOfRoles(state, [...scope, ...ofClient(state, client)]))
}

/** Somebody with the power edits the client: its tokens carry the admin roles that they have or can grant. */
export function edit(client: Client, power: AdminPermissions): void {
  if (power.all || hasPermission(power, REALM, 'administer-realm')) delete client.limit
  else client.limit = grantable(power.realms.get(REALM) ?? new Set(), power)
}

function grantable(held: ReadonlySet<AdminRole>, power: AdminPermissions): ReadonlySet<AdminRole> {
  return new Set(adminRoles.filter((role) => held.has(role) || hasPermission(power, REALM, permissionToGrant[role])))
}

/**
 * What tokens of a principal show, which others than the server may believe: with client scopes, and what mappers put into
 * them. Nobody else believes tokens of applications that the administrators create.
 */
export function shown(state: State, { user, client }: Principal): AdminPermissions {
  if (client.startsWith(CREATED)) return power(state, { user, client })
  const { full, scope, mapped, scopes } = state.clients.get(client)!
  const others = [...scopes].map((name) => state.clientScopes.get(name)!)
  const held = powerOfRoles(state, ofUser(state, user))
  const inScope = [...scope, ...ofClient(state, client), ...others.flatMap((one) => [...one.scope])]
  const put = [...mapped, ...others.flatMap((one) => [...one.mapped])]
  return together([
    power(state, { user, client }),
    full ? held : intersectPermissions(held, powerOfRoles(state, inScope)),
    powerOfRoles(state, put),
  ])
}

/** The roles of a client itself, which are in its scope in any case. */
const ofClient = (state: State, client: string): string[] =>
  [...state.roles].flatMap(([key, role]) => (role.client === client ? [key] : []))

/** All of the powers. */
export function together(powers: readonly AdminPermissions[]): AdminPermissions {
  if (powers.some(({ all }) => all)) return { all: true }
  const roles = powers.flatMap((one) => (one.all ? [] : [...(one.realms.get(REALM) ?? [])]))
  return { all: false, realms: new Map([[REALM, new Set(roles)]]) }
}

/** The roles that somebody with the power could have by giving what they may give, again and again: what it amounts to. */
export function reach(power: AdminPermissions): Set<AdminRole> {
  const own = power.all ? adminRoles : (power.realms.get(REALM) ?? [])
  const found = new Set<AdminRole>(own)
  for (let before = -1; before < found.size; ) {
    before = found.size
    for (const role of adminRoles)
      if (hasPermission({ all: false, realms: new Map([[REALM, found]]) }, REALM, permissionToGrant[role])) found.add(role)
  }
  return found
}

/** All whom the administrators can act as. */
export function* principals({ users, people, secrets, applications }: State): Generator<Principal> {
  for (const [user, { account }] of users) {
    if (account !== undefined) {
      if (secrets.has(account)) yield { user, client: account }
    } else {
      for (const client of applications) yield { user, client }
      if (people.has(user)) yield { user, client: LOGIN }
    }
  }
}

/** What all whom the administrators can act as let them administer, or show that they may. */
export const powerOfAll = (state: State): AdminPermissions => together([...principals(state)].map((one) => shown(state, one)))
