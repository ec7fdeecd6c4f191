// What administrators do: what each operation needs, what power somebody has by it, and what it changes.
import type { AdminRole, Permission } from '../../src/kinds/admin-roles.ts'
import { hasPermission, canGrant, type AdminPermissions, toAdminPermissions } from '../../src/service/context/admin-permissions.ts'
import type * as privilege from '../../src/service/permissions/privilege-escalation.ts'
import { CONDITION } from './document.ts'
import {
  type Client,
  CREATED,
  closure,
  DEFAULT,
  edit,
  keyOf,
  LOGIN,
  MANAGEMENT,
  NEWCOMER,
  ofAnybody,
  ofGroups,
  ofNewcomers,
  ofUser,
  ofUsers,
  type Principal,
  power,
  powerOfRoles,
  REALM,
  type Setting,
  type State,
  VISITOR,
} from './state.ts'

/** What an operation is done to: objects by their names. */
export interface Target {
  readonly user: string
  readonly group: string
  readonly moved: string
  readonly role: string
  readonly whole: string
  readonly client: string
  readonly clientScope: string
  /** A name that no user has yet. */
  readonly fresh: string
  /** How roles can be called that administer, and none is. */
  readonly title: AdminRole
}

/** A check of the rule. */
export type Check = keyof typeof privilege & `demand${string}`

/** What keeps an operation harmless that anybody may do who has its permission. */
export type Guard = 'verification of tokens' | 'limit of clients' | 'approval'

/** Under what an operation is performed. */
export interface Circumstances {
  /** What the caller may administer. */
  readonly by: AdminPermissions
  /** Whether the server has the guard. */
  readonly guarded: boolean
}

/** An operation. */
export interface Operation {
  /** Absent: it happens by itself, at any time. */
  readonly needs?: Permission | readonly Permission[] | ((state: State, target: Target) => Permission) | undefined
  /** Where the server refuses it, or what keeps it harmless; absent: it is harmless by itself. */
  readonly check?: Check | Guard
  /** It is refused so that nobody gets what is declared of another object: alone it grants nothing. */
  readonly grantsNothing?: boolean
  /** Whether it can be done at all; if absent it always can. */
  applies?(state: State, target: Target, by: Principal): boolean
  /** What somebody may administer by it, or in whose place. The rule: who does it could give all of that. Absent: nothing. */
  gives?(state: State, target: Target): AdminPermissions
  perform(state: State, target: Target, circumstances: Circumstances): void
}

/** Somebody can take the place of the user then. */
const asUser = (needs: Permission, check: Check): Operation => ({
  needs,
  check,
  applies: (state, { user }) => state.users.get(user)!.account === undefined,
  gives: (state, { user }) => powerOfRoles(state, ofUser(state, user)),
  perform: ({ people }, { user }) => people.add(user),
})

/** Somebody can act in the name of the client then. */
const asClient = (needs: Permission): Operation => ({
  needs,
  check: 'demandClients',
  applies: ({ users }, { client }) => accountOf(users, client) !== undefined,
  gives: (state, { client }) => powerOfRoles(state, ofUser(state, accountOf(state.users, client)!)),
  perform: ({ secrets }, { client }) => secrets.add(client),
})

/** The role is one of these then. */
const given = (
  needs: Operation['needs'],
  where: (state: State, target: Target) => Set<string>,
  check: Check = 'demandRoles',
): Operation => ({
  needs,
  check,
  applies: (state, target) => !where(state, target).has(target.role),
  gives: (state, { role }) => powerOfRoles(state, [role]),
  perform: (state, target) => where(state, target).add(target.role),
})

/** Whoever does this edits the client. */
const editing = (operation: Operation): Operation => ({
  ...operation,
  perform: (state, target, circumstances) => {
    operation.perform(state, target, circumstances)
    edit(state.clients.get(target.client)!, circumstances.by)
  },
})

/** The group is one of these then. */
const joined = (
  needs: Permission,
  where: (state: State, target: Target) => Set<string>,
  check: Check = 'demandGroups',
): Operation => ({
  needs,
  check,
  applies: (state, target) => !where(state, target).has(target.group),
  gives: (state, { group }) => powerOfRoles(state, ofGroups(state, [group])),
  perform: (state, target) => where(state, target).add(target.group),
})

/** Whoever decides how everybody logs in can take anybody's place. */
const asAnybody: Operation = {
  needs: 'manage-realm',
  check: 'demandAnybody',
  gives: (state) => powerOfRoles(state, ofAnybody(state)),
  perform: ({ users, people }) => {
    for (const user of users.keys()) people.add(user)
  },
}

/** A setting of log-in is gone then. */
const without = (setting: Setting): Operation => ({
  ...asAnybody,
  applies: ({ settings }) => settings.has(setting),
  perform: (state, target, circumstances) => {
    state.settings.delete(setting)
    asAnybody.perform(state, target, circumstances)
  },
})

const canCreateUsers = (state: State, by: Principal): boolean =>
  canGrant(power(state, by), powerOfRoles(state, ofNewcomers(state)))

/** Another user has the name then, whose password the caller knows. */
const recreatedUser: Operation = {
  needs: 'manage-users',
  applies: (state, { user }, by) =>
    state.users.get(user)!.account === undefined &&
    ![by.user, VISITOR, NEWCOMER].includes(user) &&
    canCreateUsers(state, by),
  perform: (state, { user }) => {
    state.users.delete(user)
    state.linked.delete(user)
    state.recreated.add(`user ${user}`)
    make(state, user)
  },
}

/** Another client has the name then, whose secret the caller knows. */
const recreatedClient: Operation = {
  needs: 'manage-clients',
  check: 'demandRoles',
  grantsNothing: true,
  gives: (state, { client }) => powerOfRoles(state, rolesOf(state, client)),
  applies: (state, { client }, by) =>
    ![LOGIN, by.client].includes(client) && !client.startsWith(CREATED) && canCreateUsers(state, by),
  perform: (state, { client }, { by }) => {
    for (const [key, role] of state.roles) if (role.client === client) forget(state, key)
    const account = accountOf(state.users, client)
    if (account !== undefined) {
      make(state, account, [], client)
      state.people.delete(account)
    }
    state.clients.set(client, newClient(false))
    edit(state.clients.get(client)!, by)
    state.secrets.add(client)
    state.recreated.add(`client ${client}`)
  },
}

/** Another group has the name then. */
const recreatedGroup: Operation = {
  needs: 'manage-users',
  check: 'demandGroups',
  grantsNothing: true,
  gives: (state, { group }) => powerOfRoles(state, ofGroups(state, below(state.groups, group))),
  perform: ({ groups, users, defaultGroups, recreated }, { group }) => {
    const deleted = below(groups, group)
    for (const name of deleted) groups.delete(name)
    for (const of of [defaultGroups, ...[...users.values()].map((user) => user.groups)])
      for (const name of deleted) of.delete(name)
    groups.set(group, { parent: undefined, roles: new Set() })
    recreated.add(`group ${group}`)
  },
}

/** Another role has the name then. */
const recreatedRole: Operation = {
  needs: 'manage-realm',
  check: 'demandRoles',
  grantsNothing: true,
  applies: ({ roles }, { role }) => roles.get(role)!.client === null && role !== DEFAULT,
  gives: (state, { role }) => powerOfRoles(state, [role, ...ofConditioned(state, closure(state, [role]))]),
  perform: (state, { role }) => {
    forget(state, role)
    state.roles.set(role, { client: null, name: role, parts: new Set() })
    state.recreated.add(`role ${role}`)
  },
}

/** The operation, by those who may still do the rest of it when the object is deleted. */
const stillAllowed = (operation: Operation, needs: Permission): Operation => ({
  ...operation,
  applies(state, target, by) {
    if (operation.applies && !operation.applies(state, target, by)) return false
    const after = structuredClone(state)
    operation.perform(after, target, { by: power(state, by), guarded: true })
    return hasPermission(power(after, by), REALM, needs)
  },
})

/** Everybody's roles, where a condition of a flow names one of these: who decides for whom it holds could take anybody's place. */
const ofConditioned = (state: State, roles: ReadonlySet<string>): Set<string> =>
  state.settings.has('config') && roles.has(CONDITION) ? ofAnybody(state) : new Set()

/** A role that the condition of a flow names is created by those only who could grant what anybody has. */
const unconditionedRole: Operation = {
  ...recreatedRole,
  applies: (state, target, by) =>
    recreatedRole.applies!(state, target, by) &&
    canGrant(power(state, by), powerOfRoles(state, ofConditioned(state, new Set([target.role])))),
}

/** Somebody who could grant everything has deleted the other one, on which nothing stands that the caller may administer. */
const afterDeletion = ({ needs, applies, perform }: Operation): Operation => ({
  needs,
  applies(state, target, by) {
    if (applies && !applies(state, target, by)) return false
    const after = structuredClone(state)
    perform(after, target, { by: power(state, by), guarded: true })
    return canGrant(power(after, by), power(state, by))
  },
  perform,
})

/** A mapper writes a claim then by which the server could know who asks. */
const written = (
  claim: 'sub' | 'azp',
  value: (target: Target) => string,
  applies: NonNullable<Operation['applies']> = () => true,
): Operation => ({
  needs: 'manage-clients',
  check: 'verification of tokens',
  applies: (state, target, by) =>
    applies(state, target, by) && state.clients.get(target.client)!.written[claim] === undefined,
  perform: ({ clients }, target, { by, guarded }) => {
    const client = clients.get(target.client)!
    client.written[claim] = value(target)
    // What tokens are believed to say of their client goes before what its editor could grant.
    if (guarded) edit(client, by)
    else client.believed[claim] = value(target)
  },
})

/** Every operation by which somebody could get more. */
export const operations = {
  'give a role to a user': given('manage-users', ({ users }, { user }) => users.get(user)!.roles),
  'give a role to a group': given('manage-users', ({ groups }, { group }) => groups.get(group)!.roles),
  'put a role into another': {
    ...given(
      ({ roles }, { whole }) => (roles.get(whole)!.client === null ? 'manage-realm' : 'manage-clients'),
      ({ roles }, { whole }) => roles.get(whole)!.parts,
    ),
    applies: (state, { whole, role }) =>
      isOrdinary(state, whole) && !closure(state, [role]).has(whole) && !state.roles.get(whole)!.parts.has(role),
    gives: (state, { role }) => powerOfRoles(state, [role, ...ofConditioned(state, closure(state, [role]))]),
  },
  'let a user join a group': joined('manage-users', ({ users }, { user }) => users.get(user)!.groups),
  'move a group into another': {
    needs: 'manage-users',
    check: 'demandGroups',
    applies: ({ groups }, { group, moved }) =>
      groups.get(moved)!.parent !== group && !lineOf(groups, group).includes(moved),
    gives: (state, { group, moved }) => {
      const { parent } = state.groups.get(moved)!
      return powerOfRoles(state, ofGroups(state, parent === undefined ? [group] : [group, parent]))
    },
    perform: ({ groups }, { group, moved }) => {
      groups.get(moved)!.parent = group
    },
  },
  'let newcomers join a group': joined('manage-realm', ({ defaultGroups }) => defaultGroups),
  'make a user in a group': {
    needs: 'manage-users',
    check: 'demandGroups',
    gives: (state, { group }) => powerOfRoles(state, [...ofNewcomers(state), ...ofGroups(state, [group])]),
    perform: (state, { group, fresh }) => make(state, fresh, [group]),
  },
  'make a user': {
    needs: 'manage-users',
    check: 'demandNewcomers',
    gives: (state) => powerOfRoles(state, ofNewcomers(state)),
    perform: (state, { fresh }) => make(state, fresh),
  },
  'set a password': asUser('manage-users', 'demandUsers'),
  'change a mail address': asUser('manage-users', 'demandUsers'),
  'link an account elsewhere': {
    ...asUser('manage-users', 'demandUsers'),
    applies: ({ users, linked }, { user }) => users.get(user)!.account === undefined && !linked.has(user),
    perform: ({ linked, people }, { user }) => {
      linked.add(user)
      people.add(user)
    },
  },
  'act in place of a user': asUser('impersonation', 'demandUsers'),
  'make a new secret': editing(asClient('manage-clients')),
  'read a secret': asClient('view-clients'),
  'put a role into the scope of a client': editing(
    given('manage-clients', ({ clients }, { client }) => clients.get(client)!.scope),
  ),
  'put a role into a client scope': given(
    'manage-clients',
    ({ clientScopes }, { clientScope }) => clientScopes.get(clientScope)!.scope,
  ),
  'give a client a client scope': editing({
    needs: 'manage-clients',
    check: 'demandClientScopes',
    applies: ({ clients }, { client, clientScope }) => !clients.get(client)!.scopes.has(clientScope),
    gives: (state, { clientScope }) => {
      const { scope, mapped } = state.clientScopes.get(clientScope)!
      return powerOfRoles(state, [...scope, ...mapped])
    },
    perform: ({ clients }, { client, clientScope }) => clients.get(client)!.scopes.add(clientScope),
  }),
  'let a client show all roles': editing({
    needs: 'manage-clients',
    check: 'demandAnybody',
    applies: ({ clients }, { client }) => !clients.get(client)!.full,
    gives: (state) => powerOfRoles(state, ofAnybody(state)),
    perform: ({ clients }, { client }) => {
      clients.get(client)!.full = true
    },
  }),
  'let a client put a role into tokens': editing(
    given('manage-clients', ({ clients }, { client }) => clients.get(client)!.mapped, 'demandNamed'),
  ),
  'let a client scope put a role into tokens': given(
    'manage-clients',
    ({ clientScopes }, { clientScope }) => clientScopes.get(clientScope)!.mapped,
    'demandNamed',
  ),
  'let a provider give a role': given(
    'manage-identity-providers',
    ({ users }) => users.get(VISITOR)!.roles,
    'demandNamed',
  ),
  'let a provider let people join a group': joined(
    'manage-identity-providers',
    ({ users }) => users.get(VISITOR)!.groups,
    'demandNamed',
  ),
  'say who vouches for people': {
    needs: 'manage-identity-providers',
    check: 'demandProviders',
    gives: (state) => powerOfRoles(state, ofUsers(state, state.linked)),
    perform: ({ linked, people }) => {
      for (const user of linked) people.add(user)
    },
  },
  'say how people log in': asAnybody,
  'bind a registration flow': asAnybody,
  'change the text of an email with a link': asAnybody,
  'delete an authenticator config': without('config'),
  'delete a step of a flow': without('step'),
  'delete a flow': without('flow'),
  'disable a required action': without('action'),
  'delete a user and create another': recreatedUser,
  'delete a group and create another': stillAllowed(recreatedGroup, 'manage-users'),
  'delete a role and create another': stillAllowed(recreatedRole, 'manage-realm'),
  'delete a client and create another': stillAllowed(recreatedClient, 'manage-clients'),
  'create a group after a deletion': afterDeletion(recreatedGroup),
  'create a role after a deletion': afterDeletion(unconditionedRole),
  'create a client after a deletion': afterDeletion(recreatedClient),
  'overwrite a user by partial import': {
    ...recreatedUser,
    needs: ['manage-realm', 'manage-users'],
    check: 'demandUsers',
    grantsNothing: true,
    gives: (state, { user }) => powerOfRoles(state, ofUser(state, user)),
  },
  'overwrite a client by partial import': {
    ...recreatedClient,
    needs: ['manage-realm', 'manage-clients'],
    check: 'demandClients',
    gives: (state, { client }) => {
      const account = accountOf(state.users, client)
      return powerOfRoles(state, [...rolesOf(state, client), ...(account === undefined ? [] : ofUser(state, account))])
    },
  },
  'apply the source again': {
    check: 'approval',
    // What moved is another story: the source would correct that.
    applies: ({ groups, declared }) =>
      [...declared.groups.keys()].every((name) => groups.get(name)!.parent === undefined),
    perform: ({ roles, groups, users, declared }, _, { guarded }) => {
      // Nobody can remove a declared role but by recreating an object: then the plan waits for an approval.
      if (guarded) return
      for (const [key, parts] of declared.roles) {
        const [name = '', client = null] = key.split('/').reverse()
        if (!roles.has(key)) roles.set(key, { client, name, parts: new Set() })
        for (const part of parts) roles.get(key)!.parts.add(part)
      }
      for (const [name, held] of declared.groups) for (const role of held) groups.get(name)!.roles.add(role)
      for (const [name, held] of declared.users) for (const role of held) users.get(name)!.roles.add(role)
    },
  },
  // Tokens of users name their session, and with it their user.
  'write the subject of tokens by a mapper': written(
    'sub',
    ({ user }) => user,
    ({ users }, { client }) => accountOf(users, client) !== undefined,
  ),
  'write the client of tokens by a mapper': written('azp', () => LOGIN),
  'create an application': {
    needs: 'manage-clients',
    check: 'limit of clients',
    perform: ({ clients, applications }, { fresh }, { by, guarded }) => {
      const client = `${CREATED}${fresh}`
      clients.set(client, newClient(true))
      if (guarded) edit(clients.get(client)!, by)
      applications.add(client)
    },
  },
  'import a role with a title': {
    needs: ['manage-realm', 'manage-clients'],
    check: 'demandTitles',
    grantsNothing: true,
    applies: ({ roles }, { title }) => !roles.has(keyOf({ client: MANAGEMENT, name: title })),
    gives: (_, { title }) => toAdminPermissions(REALM, [{ client: MANAGEMENT, name: title }]),
    perform: ({ roles }, { title }) => {
      roles.set(keyOf({ client: MANAGEMENT, name: title }), { client: MANAGEMENT, name: title, parts: new Set() })
    },
  },
} satisfies Record<string, Operation>

/** The name of an operation. */
export type OperationName = keyof typeof operations

/** The operations by which administrators would get more, if nothing kept them from it. */
export const growing = (Object.keys(operations) as OperationName[]).filter((name) => {
  const { check, grantsNothing }: Operation = operations[name]
  return check !== undefined && !grantsNothing
})

const guards = ['verification of tokens', 'limit of clients', 'approval']

/** Where the server refuses the operation to who is weaker; undefined where it is kept harmless in another way. */
export function checkOf(name: OperationName): Check | undefined {
  const { check }: Operation = operations[name]
  return check === undefined || guards.includes(check) ? undefined : (check as Check)
}

/** Makes a user as everybody new is; `account`: the client whose account it is. */
function make(
  { users, people, defaultGroups }: State,
  name: string,
  groups: readonly string[] = [],
  account?: string,
): void {
  const more = account === undefined ? {} : { account }
  users.set(name, { roles: new Set([DEFAULT]), groups: new Set([...groups, ...defaultGroups]), ...more })
  people.add(name)
}

/** Whether the role is none of those that administer the realm: these nobody changes over REST. */
const isOrdinary = ({ roles }: State, key: string): boolean => roles.get(key)!.client !== MANAGEMENT

/** The roles of a client itself. */
const rolesOf = ({ roles }: State, client: string): string[] =>
  [...roles].flatMap(([key, role]) => (role.client === client ? [key] : []))

const newClient = (full: boolean): Client => ({
  ...{ full, scope: new Set(), mapped: new Set(), scopes: new Set(), written: {}, believed: {} },
})

/** Deletes a role, wherever it is granted. Mappers go on naming it. */
function forget({ roles, groups, users, clients, clientScopes }: State, key: string): void {
  roles.delete(key)
  for (const { parts } of roles.values()) parts.delete(key)
  for (const holder of [...groups.values(), ...users.values()]) holder.roles.delete(key)
  for (const { scope } of [...clients.values(), ...clientScopes.values()]) scope.delete(key)
}

function accountOf(users: State['users'], client: string): string | undefined {
  return [...users].find(([, { account }]) => account === client)?.[0]
}

/** A group and those below it. */
const below = (groups: State['groups'], group: string): string[] =>
  [...groups.keys()].filter((name) => lineOf(groups, name).includes(group))

/** A group and those above it. */
function lineOf(groups: State['groups'], name: string): string[] {
  const { parent } = groups.get(name)!
  return [name, ...(parent === undefined ? [] : lineOf(groups, parent))]
}
