// The operations of the model: the permissions that each requires, the permissions that it grants, and what it changes.
import type { AdminRole, Permission } from '../../src/kinds/admin-roles.ts'
import {
  type AdminPermissions,
  canGrant,
  hasPermission,
  toAdminPermissions,
} from '../../src/service/context/admin-permissions.ts'
import type * as privilegeEscalation from '../../src/service/permissions/privilege-escalation.ts'
import { grantedByPolicies } from '../../src/service/policy-evaluation/policy-grants.ts'
import {
  CREATED,
  DEFAULT_ROLE,
  expandRoles,
  getPermissions,
  getRolePermissions,
  LOGIN,
  type LoginSetting,
  listRolesOfAllUsers,
  listRolesOfGroups,
  listRolesOfNewUsers,
  listRolesOfUser,
  listRolesOfUsers,
  MANAGEMENT,
  type ModelClient,
  type ModelState,
  NEWCOMER,
  type Principal,
  REALM,
  recordEditor,
  toRoleKey,
  VISITOR,
} from './model-state.ts'
import { CONDITION } from './realm-document.ts'

/** The objects of an operation, by name. */
export interface Target {
  readonly user: string
  readonly group: string
  readonly movedGroup: string
  readonly role: string
  readonly composite: string
  readonly client: string
  readonly clientScope: string
  /** A name that no user has. */
  readonly newName: string
  /** An admin role that does not exist in the realm. */
  readonly missingRole: AdminRole
}

/** A check of the server. */
export type Check = keyof typeof privilegeEscalation & `require${string}`

/** A reason for which an operation is harmless that is open to all callers with its permission. */
export type Guard = 'verification of tokens' | 'limit of clients' | 'approval'

/** The circumstances of an operation. */
export interface Circumstances {
  /** The admin permissions of the caller. */
  readonly by: AdminPermissions
  /** Whether the server has the guard. */
  readonly guarded: boolean
}

/** An operation. */
export interface Operation {
  /** The required permissions. Absent: it happens without a caller. */
  readonly requires?:
    | Permission
    | readonly Permission[]
    | ((state: ModelState, target: Target) => Permission)
    | undefined
  /** The check by which the server refuses it, or what makes it harmless. Absent: it is always harmless. */
  readonly check?: Check | Guard
  /** It is refused since declared permissions would be restored to another object; it grants nothing itself. */
  readonly grantsNothing?: boolean
  /** Whether the operation is possible. Absent: always. */
  isPossible?(state: ModelState, target: Target, by: Principal): boolean
  /** Returns the admin permissions that it grants to users, or of users as whom callers can then act. Callers must be able to grant them. */
  grants?(state: ModelState, target: Target): AdminPermissions
  perform(state: ModelState, target: Target, circumstances: Circumstances): void
}

/** The caller can then act as the user. */
const takesOverUser = (requires: Permission, check: Check): Operation => ({
  requires,
  check,
  isPossible: (state, { user }) => state.users.get(user)!.account === undefined,
  grants: (state, { user }) => getRolePermissions(state, listRolesOfUser(state, user)),
  perform: ({ controlledUsers }, { user }) => controlledUsers.add(user),
})

/** The caller can then act as the service account of the client. */
const takesOverClient = (requires: Permission): Operation => ({
  requires,
  check: 'requireControlOfClients',
  isPossible: ({ users }, { client }) => findServiceAccount(users, client) !== undefined,
  grants: (state, { client }) =>
    getRolePermissions(state, listRolesOfUser(state, findServiceAccount(state.users, client)!)),
  perform: ({ knownSecrets }, { client }) => knownSecrets.add(client),
})

/** Adds the role to a set of roles. `listAffected`: the roles of users for whom a condition changes if the role is one of its own. */
const grantsRole = (
  requires: Operation['requires'],
  getRoles: (state: ModelState, target: Target) => Set<string>,
  {
    check = 'requireGrantableRoles',
    listAffected = () => [],
  }: { readonly check?: Check; readonly listAffected?: (state: ModelState, target: Target) => Iterable<string> } = {},
): Operation => ({
  requires,
  check,
  isPossible: (state, target) => !getRoles(state, target).has(target.role),
  grants: (state, target) => {
    const affected = isInCondition(state, [target.role]) ? listAffected(state, target) : []
    return getRolePermissions(state, [target.role, ...affected])
  },
  perform: (state, target) => getRoles(state, target).add(target.role),
})

/** The operation, which also records the caller as the editor of the client. */
const editsClient = (operation: Operation): Operation => ({
  ...operation,
  perform: (state, target, circumstances) => {
    operation.perform(state, target, circumstances)
    recordEditor(state.clients.get(target.client)!, circumstances.by)
  },
})

/** Adds the group to a set of groups. */
const addsToGroup = (
  requires: Permission,
  getGroups: (state: ModelState, target: Target) => Set<string>,
  {
    check = 'requireGrantableGroups',
    listAffected = () => [],
  }: { readonly check?: Check; readonly listAffected?: (state: ModelState, target: Target) => Iterable<string> } = {},
): Operation => ({
  requires,
  check,
  isPossible: (state, target) => !getGroups(state, target).has(target.group),
  grants: (state, target) => {
    const roles = listRolesOfGroups(state, [target.group])
    const affected = isInCondition(state, roles) ? listAffected(state, target) : []
    return getRolePermissions(state, [...roles, ...affected])
  },
  perform: (state, target) => getGroups(state, target).add(target.group),
})

/** The caller controls the login, and can then act as any user. */
const takesOverAllUsers: Operation = {
  requires: 'manage-realm',
  check: 'requireControlOfAllUsers',
  grants: (state) => getRolePermissions(state, listRolesOfAllUsers(state)),
  perform: ({ users, controlledUsers }) => {
    for (const user of users.keys()) controlledUsers.add(user)
  },
}

/** Removes a setting of the login. */
const removesSetting = (setting: LoginSetting): Operation => ({
  ...takesOverAllUsers,
  isPossible: ({ settings }) => settings.has(setting),
  perform: (state, target, circumstances) => {
    state.settings.delete(setting)
    takesOverAllUsers.perform(state, target, circumstances)
  },
})

const canCreateUsers = (state: ModelState, by: Principal): boolean =>
  canGrant(getPermissions(state, by), getRolePermissions(state, listRolesOfNewUsers(state)))

/** Replaces the user by another one, whose password the caller knows. */
const recreatesUser: Operation = {
  requires: 'manage-users',
  isPossible: (state, { user }, by) =>
    state.users.get(user)!.account === undefined &&
    ![by.user, VISITOR, NEWCOMER].includes(user) &&
    canCreateUsers(state, by),
  perform: (state, { user }) => {
    state.users.delete(user)
    state.linkedUsers.delete(user)
    state.recreatedObjects.add(`user ${user}`)
    addUser(state, user)
  },
}

/** Replaces the client by another one, whose secret the caller knows. */
const recreatesClient: Operation = {
  requires: 'manage-clients',
  check: 'requireGrantableRoles',
  grantsNothing: true,
  grants: (state, { client }) => getRolePermissions(state, listClientRoles(state, client)),
  isPossible: (state, { client }, by) =>
    ![LOGIN, by.client].includes(client) && !client.startsWith(CREATED) && canCreateUsers(state, by),
  perform: (state, { client }, { by }) => {
    for (const [key, role] of state.roles) if (role.client === client) deleteRole(state, key)
    const account = findServiceAccount(state.users, client)
    if (account !== undefined) {
      addUser(state, account, { account: client })
      state.controlledUsers.delete(account)
    }
    const recreated = createClient({ fullScopeAllowed: false })
    state.clients.set(client, recreated)
    recordEditor(recreated, by)
    state.knownSecrets.add(client)
    state.recreatedObjects.add(`client ${client}`)
  },
}

/** Replaces the group by another one without roles, members and subgroups. */
const recreatesGroup: Operation = {
  requires: 'manage-users',
  check: 'requireGrantableGroups',
  grantsNothing: true,
  grants: (state, { group }) => {
    const roles = listRolesOfGroups(state, listSubtree(state.groups, group))
    return getRolePermissions(state, [...roles, ...listRolesBehindCondition(state, expandRoles(state, roles))])
  },
  perform: ({ groups, users, defaultGroups, recreatedObjects }, { group }) => {
    const deleted = listSubtree(groups, group)
    for (const name of deleted) groups.delete(name)
    for (const memberships of [defaultGroups, ...[...users.values()].map((user) => user.groups)])
      for (const name of deleted) memberships.delete(name)
    groups.set(group, { parent: undefined, roles: new Set() })
    recreatedObjects.add(`group ${group}`)
  },
}

/** Replaces the role by another one, which nobody has. */
const recreatesRole: Operation = {
  requires: 'manage-realm',
  check: 'requireGrantableRoles',
  grantsNothing: true,
  isPossible: ({ roles }, { role }) => roles.get(role)!.client === null && role !== DEFAULT_ROLE,
  grants: (state, { role }) =>
    getRolePermissions(state, [role, ...listRolesBehindCondition(state, expandRoles(state, [role]))]),
  perform: (state, { role }) => {
    deleteRole(state, role)
    state.roles.set(role, { client: null, name: role, composites: new Set() })
    state.recreatedObjects.add(`role ${role}`)
  },
}

/** The operation, if the caller still has the permission after the deletion, which is its first part. */
const ifStillPermitted = (operation: Operation, permission: Permission): Operation => ({
  ...operation,
  isPossible(state, target, by) {
    if (operation.isPossible && !operation.isPossible(state, target, by)) return false
    const after = structuredClone(state)
    operation.perform(after, target, { by: getPermissions(state, by), guarded: true })
    return hasPermission(getPermissions(after, by), REALM, permission)
  },
})

/** Whether the condition of a flow names one of the roles, or one that they contain. */
const isInCondition = (state: ModelState, roles: Iterable<string>): boolean =>
  state.settings.has('config') && expandRoles(state, roles).has(CONDITION)

/** Returns the roles of all users if the condition of a flow names one of these roles: its change decides who can log in as whom. */
const listRolesBehindCondition = (state: ModelState, roles: ReadonlySet<string>): Set<string> =>
  state.settings.has('config') && roles.has(CONDITION) ? listRolesOfAllUsers(state) : new Set()

/** `recreatesRole`, except that callers create the role of a condition only if they could grant the roles of all users. */
const createsRole: Operation = {
  ...recreatesRole,
  isPossible: (state, target, by) => {
    const behindCondition = listRolesBehindCondition(state, new Set([target.role]))
    return (
      recreatesRole.isPossible!(state, target, by) &&
      canGrant(getPermissions(state, by), getRolePermissions(state, behindCondition))
    )
  },
}

/** The second part of a replacement: an administrator with all permissions has deleted the object, from which the caller has no permission. */
const afterDeletionByAdmin = ({ requires, isPossible, perform }: Operation): Operation => ({
  requires,
  isPossible(state, target, by) {
    if (isPossible && !isPossible(state, target, by)) return false
    const after = structuredClone(state)
    perform(after, target, { by: getPermissions(state, by), guarded: true })
    return canGrant(getPermissions(after, by), getPermissions(state, by))
  },
  perform,
})

/** Adds a mapper that writes a claim by which the server could identify the caller. */
const writesClaim = (
  claim: 'sub' | 'azp',
  getValue: (target: Target) => string,
  isPossible: NonNullable<Operation['isPossible']> = () => true,
): Operation => ({
  requires: 'manage-clients',
  check: 'verification of tokens',
  isPossible: (state, target, by) =>
    isPossible(state, target, by) && state.clients.get(target.client)!.claims[claim] === undefined,
  perform: ({ clients }, target, { by, guarded }) => {
    const client = clients.get(target.client)!
    client.claims[claim] = getValue(target)
    // A trusted claim of another client outweighs the limit of the editor.
    if (guarded) recordEditor(client, by)
    else client.trustedClaims[claim] = getValue(target)
  },
})

/** All operations that could grant admin permissions. */
export const operations = {
  'grant a role to a user': grantsRole('manage-users', ({ users }, { user }) => users.get(user)!.roles, {
    listAffected: (state, { user }) => listRolesOfUser(state, user),
  }),
  'grant a role to a group': grantsRole('manage-users', ({ groups }, { group }) => groups.get(group)!.roles, {
    listAffected: listRolesOfAllUsers,
  }),
  'add a composite role': {
    ...grantsRole(
      ({ roles }, { composite }) => (roles.get(composite)!.client === null ? 'manage-realm' : 'manage-clients'),
      ({ roles }, { composite }) => roles.get(composite)!.composites,
    ),
    isPossible: (state, { composite, role }) =>
      isChangeable(state, composite) &&
      !expandRoles(state, [role]).has(composite) &&
      !state.roles.get(composite)!.composites.has(role),
    grants: (state, { role }) =>
      getRolePermissions(state, [role, ...listRolesBehindCondition(state, expandRoles(state, [role]))]),
  },
  'add a user to a group': addsToGroup('manage-users', ({ users }, { user }) => users.get(user)!.groups, {
    listAffected: (state, { user }) => listRolesOfUser(state, user),
  }),
  'move a group below another': {
    requires: 'manage-users',
    check: 'requireGrantableGroups',
    isPossible: ({ groups }, { group, movedGroup }) =>
      groups.get(movedGroup)!.parent !== group && !listAncestors(groups, group).includes(movedGroup),
    grants: (state, { group, movedGroup }) => {
      const { parent } = state.groups.get(movedGroup)!
      const roles = listRolesOfGroups(state, parent === undefined ? [group] : [group, parent])
      return getRolePermissions(state, [...roles, ...listRolesBehindCondition(state, expandRoles(state, roles))])
    },
    perform: ({ groups }, { group, movedGroup }) => {
      groups.get(movedGroup)!.parent = group
    },
  },
  'add a default group': addsToGroup('manage-realm', ({ defaultGroups }) => defaultGroups),
  'create a user in a group': {
    requires: 'manage-users',
    check: 'requireGrantableGroups',
    grants: (state, { group }) =>
      getRolePermissions(state, [...listRolesOfNewUsers(state), ...listRolesOfGroups(state, [group])]),
    perform: (state, { group, newName }) => addUser(state, newName, { groups: [group] }),
  },
  'create a user': {
    requires: 'manage-users',
    check: 'requireGrantableDefaults',
    grants: (state) => getRolePermissions(state, listRolesOfNewUsers(state)),
    perform: (state, { newName }) => addUser(state, newName),
  },
  'set a password': takesOverUser('manage-users', 'requireControlOfUsers'),
  'change an email address': takesOverUser('manage-users', 'requireControlOfUsers'),
  'link a federated identity': {
    ...takesOverUser('manage-users', 'requireControlOfUsers'),
    isPossible: ({ users, linkedUsers }, { user }) => users.get(user)!.account === undefined && !linkedUsers.has(user),
    perform: ({ linkedUsers, controlledUsers }, { user }) => {
      linkedUsers.add(user)
      controlledUsers.add(user)
    },
  },
  'impersonate a user': takesOverUser('impersonation', 'requireControlOfUsers'),
  'regenerate a client secret': editsClient(takesOverClient('manage-clients')),
  'read a client secret': takesOverClient('view-clients'),
  'add a scope mapping to a client': editsClient(
    grantsRole('manage-clients', ({ clients }, { client }) => clients.get(client)!.scope),
  ),
  'add a scope mapping to a client scope': grantsRole(
    'manage-clients',
    ({ clientScopes }, { clientScope }) => clientScopes.get(clientScope)!.scope,
  ),
  'add a client scope to a client': editsClient({
    requires: 'manage-clients',
    check: 'requireGrantableClientScopes',
    isPossible: ({ clients }, { client, clientScope }) => !clients.get(client)!.clientScopes.has(clientScope),
    grants: (state, { clientScope }) => {
      const { scope, mapperRoles } = state.clientScopes.get(clientScope)!
      return getRolePermissions(state, [...scope, ...mapperRoles])
    },
    perform: ({ clients }, { client, clientScope }) => clients.get(client)!.clientScopes.add(clientScope),
  }),
  'allow the full scope for a client': editsClient({
    requires: 'manage-clients',
    check: 'requireControlOfAllUsers',
    isPossible: ({ clients }, { client }) => !clients.get(client)!.fullScopeAllowed,
    grants: (state) => getRolePermissions(state, listRolesOfAllUsers(state)),
    perform: ({ clients }, { client }) => {
      clients.get(client)!.fullScopeAllowed = true
    },
  }),
  'add a role mapper to a client': editsClient(
    grantsRole('manage-clients', ({ clients }, { client }) => clients.get(client)!.mapperRoles, {
      check: 'requireGrantableNames',
    }),
  ),
  'add a role mapper to a client scope': grantsRole(
    'manage-clients',
    ({ clientScopes }, { clientScope }) => clientScopes.get(clientScope)!.mapperRoles,
    { check: 'requireGrantableNames' },
  ),
  'add a role mapper to an identity provider': grantsRole(
    'manage-identity-providers',
    ({ users }) => users.get(VISITOR)!.roles,
    { check: 'requireGrantableNames' },
  ),
  'add a group mapper to an identity provider': addsToGroup(
    'manage-identity-providers',
    ({ users }) => users.get(VISITOR)!.groups,
    { check: 'requireGrantableNames' },
  ),
  'change an identity provider': {
    requires: 'manage-identity-providers',
    check: 'requireControlOfIdentityProviders',
    grants: (state) => getRolePermissions(state, listRolesOfUsers(state, state.linkedUsers)),
    perform: ({ linkedUsers, controlledUsers }) => {
      for (const user of linkedUsers) controlledUsers.add(user)
    },
  },
  'bind a browser flow': takesOverAllUsers,
  'bind a registration flow': takesOverAllUsers,
  'change the text of an email with a link': takesOverAllUsers,
  'delete an authenticator config': removesSetting('config'),
  'delete a step of a flow': removesSetting('step'),
  'delete a flow': removesSetting('flow'),
  'disable a required action': removesSetting('action'),
  'delete a user and create another': recreatesUser,
  'delete a group and create another': ifStillPermitted(recreatesGroup, 'manage-users'),
  'delete a role and create another': ifStillPermitted(recreatesRole, 'manage-realm'),
  'delete a client and create another': ifStillPermitted(recreatesClient, 'manage-clients'),
  'create a group after a deletion': afterDeletionByAdmin(recreatesGroup),
  'create a role after a deletion': afterDeletionByAdmin(createsRole),
  'create a client after a deletion': afterDeletionByAdmin(recreatesClient),
  'overwrite a user by partial import': {
    ...recreatesUser,
    requires: ['manage-realm', 'manage-users'],
    check: 'requireControlOfUsers',
    grantsNothing: true,
    grants: (state, { user }) => getRolePermissions(state, listRolesOfUser(state, user)),
  },
  'overwrite a client by partial import': {
    ...recreatesClient,
    requires: ['manage-realm', 'manage-clients'],
    check: 'requireControlOfClients',
    grants: (state, { client }) => {
      const account = findServiceAccount(state.users, client)
      const accountRoles = account === undefined ? [] : listRolesOfUser(state, account)
      return getRolePermissions(state, [...listClientRoles(state, client), ...accountRoles])
    },
  },
  'apply the source again': {
    check: 'approval',
    // The source would move a declared group back, which is not modelled.
    isPossible: ({ groups, declared }) =>
      [...declared.groups.keys()].every((name) => groups.get(name)!.parent === undefined),
    perform: ({ roles, groups, users, declared }, _, { guarded }) => {
      // Declared roles can only be lost by recreating an object, and then the plan needs an approval.
      if (guarded) return
      for (const [key, composites] of declared.roles) {
        const [name = '', client = null] = key.split('/').reverse()
        if (!roles.has(key)) roles.set(key, { client, name, composites: new Set() })
        for (const composite of composites) roles.get(key)!.composites.add(composite)
      }
      for (const [name, declaredRoles] of declared.groups)
        for (const role of declaredRoles) groups.get(name)!.roles.add(role)
      for (const [name, declaredRoles] of declared.users)
        for (const role of declaredRoles) users.get(name)!.roles.add(role)
    },
  },
  // Tokens of users contain their session, and thereby the user.
  'write the subject of tokens with a mapper': writesClaim(
    'sub',
    ({ user }) => user,
    ({ users }, { client }) => findServiceAccount(users, client) !== undefined,
  ),
  'write the client of tokens with a mapper': writesClaim('azp', () => LOGIN),
  'create an application': {
    requires: 'manage-clients',
    check: 'limit of clients',
    perform: ({ clients, applications }, { newName }, { by, guarded }) => {
      const clientId = `${CREATED}${newName}`
      const client = createClient({ fullScopeAllowed: true })
      clients.set(clientId, client)
      if (guarded) recordEditor(client, by)
      applications.add(clientId)
    },
  },
  // The policy is that of no permission: what it would give is tested in test/admin/fine-grained-privileges.test.ts.
  'let a policy about administrators name a user': {
    requires: 'manage-authorization',
    check: 'requireGrantablePolicies',
    grantsNothing: true,
    grants: () =>
      toAdminPermissions(
        REALM,
        grantedByPolicies.map((name) => ({ client: MANAGEMENT, name })),
      ),
    perform: () => undefined,
  },
  'import a missing admin role': {
    requires: ['manage-realm', 'manage-clients'],
    check: 'requireGrantableRoleNames',
    grantsNothing: true,
    isPossible: ({ roles }, { missingRole }) => !roles.has(toRoleKey({ client: MANAGEMENT, name: missingRole })),
    grants: (_, { missingRole }) => toAdminPermissions(REALM, [{ client: MANAGEMENT, name: missingRole }]),
    perform: ({ roles }, { missingRole }) => {
      const role = { client: MANAGEMENT, name: missingRole }
      roles.set(toRoleKey(role), { ...role, composites: new Set() })
    },
  },
} satisfies Record<string, Operation>

/** The name of an operation. */
export type OperationName = keyof typeof operations

/** The names of all operations. */
export const operationNames = Object.keys(operations).filter((name) => isOperationName(name))

/** Whether there is an operation with this name. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name)
}

/** The operations by which administrators would gain permissions if nothing prevented it. */
export const escalations = operationNames.filter((name) => {
  const { check, grantsNothing }: Operation = operations[name]
  return check !== undefined && !grantsNothing
})

/** Returns the check by which the server refuses the operation; undefined if it is harmless for another reason. */
export function findCheck(name: OperationName): Check | undefined {
  const { check }: Operation = operations[name]
  return check === undefined || isGuard(check) ? undefined : check
}

function isGuard(check: Check | Guard): check is Guard {
  return check === 'verification of tokens' || check === 'limit of clients' || check === 'approval'
}

/** Adds a user with the default role and groups; `account`: the client whose service account the user is. */
function addUser(
  { users, controlledUsers, defaultGroups }: ModelState,
  name: string,
  { groups = [], account }: { readonly groups?: readonly string[]; readonly account?: string } = {},
): void {
  users.set(name, {
    roles: new Set([DEFAULT_ROLE]),
    groups: new Set([...groups, ...defaultGroups]),
    ...(account !== undefined && { account }),
  })
  controlledUsers.add(name)
}

/** Whether the role is not an admin role: REST does not change these. */
const isChangeable = ({ roles }: ModelState, key: string): boolean => roles.get(key)!.client !== MANAGEMENT

/** Returns the roles of a client. */
const listClientRoles = ({ roles }: ModelState, client: string): string[] =>
  [...roles].flatMap(([key, role]) => (role.client === client ? [key] : []))

const createClient = ({ fullScopeAllowed }: Pick<ModelClient, 'fullScopeAllowed'>): ModelClient => ({
  fullScopeAllowed,
  scope: new Set(),
  mapperRoles: new Set(),
  clientScopes: new Set(),
  claims: {},
  trustedClaims: {},
})

/** Deletes a role and all its grants. Mappers still name it. */
function deleteRole({ roles, groups, users, clients, clientScopes }: ModelState, key: string): void {
  roles.delete(key)
  for (const { composites } of roles.values()) composites.delete(key)
  for (const holder of [...groups.values(), ...users.values()]) holder.roles.delete(key)
  for (const { scope } of [...clients.values(), ...clientScopes.values()]) scope.delete(key)
}

function findServiceAccount(users: ModelState['users'], client: string): string | undefined {
  return [...users].find(([, { account }]) => account === client)?.[0]
}

/** Returns a group and its descendants. */
const listSubtree = (groups: ModelState['groups'], group: string): string[] =>
  [...groups.keys()].filter((name) => listAncestors(groups, name).includes(group))

/** Returns a group and its ancestors. */
function listAncestors(groups: ModelState['groups'], name: string): string[] {
  const { parent } = groups.get(name)!
  return [name, ...(parent === undefined ? [] : listAncestors(groups, parent))]
}
