// What administrators do: what each operation needs, what power somebody has by it, and what it changes.
import type { AdminRole, Permission } from '../../src/kinds/admin-roles.ts'
import { type Power, powerFrom } from '../../src/service/power.ts'
import type * as privilege from '../../src/service/privilege.ts'
import {
  closure,
  DEFAULT,
  MANAGEMENT,
  ofAnybody,
  ofGroups,
  ofNewcomers,
  ofUser,
  ofUsers,
  powerOfRoles,
  REALM,
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

/** An operation. */
export interface Operation {
  readonly needs: Permission | ((state: State, target: Target) => Permission)
  /** Where the server checks it. */
  readonly check: Check
  /** Whether it can be done at all; if absent it always can. */
  applies?(state: State, target: Target): boolean
  /** What somebody may administer by it, or in whose place. The rule: who does it could give all of that. */
  gives(state: State, target: Target): Power
  perform(state: State, target: Target): void
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

/** Every operation by which somebody could get more. */
export const operations = {
  'give a role to a user': given('manage-users', ({ users }, { user }) => users.get(user)!.roles),
  'give a role to a group': given('manage-users', ({ groups }, { group }) => groups.get(group)!.roles),
  'put a role into another': {
    ...given(
      ({ roles }, { whole }) => (roles.get(whole)!.client === null ? 'manage-realm' : 'manage-clients'),
      ({ roles }, { whole }) => roles.get(whole)!.parts,
    ),
    applies: (state, { whole, role }) => !closure(state, [role]).has(whole) && !state.roles.get(whole)!.parts.has(role),
  },
  'let a user join a group': joined('manage-users', ({ users }, { user }) => users.get(user)!.groups),
  'move a group into another': {
    needs: 'manage-users',
    check: 'demandGroups',
    applies: ({ groups }, { group, moved }) =>
      groups.get(moved)!.parent !== group && !lineOf(groups, group).includes(moved),
    gives: (state, { group }) => powerOfRoles(state, ofGroups(state, [group])),
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
  'make a new secret': asClient('manage-clients'),
  'read a secret': asClient('view-clients'),
  'put a role into the scope of a client': given(
    'manage-clients',
    ({ clients }, { client }) => clients.get(client)!.scope,
  ),
  'put a role into a client scope': given(
    'manage-clients',
    ({ clientScopes }, { clientScope }) => clientScopes.get(clientScope)!.scope,
  ),
  'give a client a client scope': {
    needs: 'manage-clients',
    check: 'demandClientScopes',
    applies: ({ clients }, { client, clientScope }) => !clients.get(client)!.scopes.has(clientScope),
    gives: (state, { clientScope }) => {
      const { scope, mapped } = state.clientScopes.get(clientScope)!
      return powerOfRoles(state, [...scope, ...mapped])
    },
    perform: ({ clients }, { client, clientScope }) => clients.get(client)!.scopes.add(clientScope),
  },
  'let a client show all roles': {
    needs: 'manage-clients',
    check: 'demandAnybody',
    applies: ({ clients }, { client }) => !clients.get(client)!.full,
    gives: (state) => powerOfRoles(state, ofAnybody(state)),
    perform: ({ clients }, { client }) => {
      clients.get(client)!.full = true
    },
  },
  'let a client put a role into tokens': given(
    'manage-clients',
    ({ clients }, { client }) => clients.get(client)!.mapped,
    'demandNamed',
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
  'say how people log in': {
    needs: 'manage-realm',
    check: 'demandAnybody',
    gives: (state) => powerOfRoles(state, ofAnybody(state)),
    perform: ({ users, people }) => {
      for (const user of users.keys()) people.add(user)
    },
  },
  'call a role by a title': {
    needs: 'manage-clients',
    check: 'demandTitles',
    applies: ({ roles }, { whole, title }) =>
      roles.get(whole)!.client === MANAGEMENT && ![...roles.values()].some(({ name }) => name === title),
    gives: (_, { title }) => powerFrom(REALM, [{ client: MANAGEMENT, name: title }]),
    perform: ({ roles }, { whole, title }) => {
      roles.get(whole)!.name = title
    },
  },
} satisfies Record<string, Operation>

/** The name of an operation. */
export type OperationName = keyof typeof operations

function make({ users, people, defaultGroups }: State, name: string, groups: readonly string[] = []): void {
  users.set(name, { roles: new Set([DEFAULT]), groups: new Set([...groups, ...defaultGroups]) })
  people.add(name)
}

function accountOf(users: State['users'], client: string): string | undefined {
  return [...users].find(([, { account }]) => account === client)?.[0]
}

/** A group and those above it. */
function lineOf(groups: State['groups'], name: string): string[] {
  const { parent } = groups.get(name)!
  return [name, ...(parent === undefined ? [] : lineOf(groups, parent))]
}
