// The initial state of the model: administrators with few roles, and stronger users, with every source of admin permissions.
import { type AdminRole, adminRoles } from '../../src/kinds/admin-roles.ts'
import { builtInObjects } from '../../src/kinds/built-in/index.ts'
import { readObject, readTexts } from '../../src/kinds/json.ts'
import {
  DEFAULT_ROLE,
  LOGIN,
  MANAGEMENT,
  type ModelClient,
  type ModelRole,
  type ModelState,
  type ModelUser,
  NEWCOMER,
  REALM,
  toAdminRoleKey,
  toRoleKey,
  VISITOR,
} from './model-state.ts'

const builtInRoles = new Map(
  builtInObjects(REALM).flatMap((object) =>
    object.kind === 'role' ? [[JSON.stringify(object.key), object] as const] : [],
  ),
)

/** The generated parts of an initial state. */
export interface InitialRealm {
  /** The admin roles of each weak administrator. */
  readonly administrators: readonly (readonly AdminRole[])[]
  /** The admin roles that stronger users have. */
  readonly strongRoles: readonly AdminRole[]
  /** An admin role that does not exist in the realm. */
  readonly missingRole: AdminRole
  readonly registrationAllowed: boolean
  readonly defaultGroup: 'admins' | 'others'
  /** The version of its fine-grained admin permissions, which give strong users some of the permissions that they have. */
  readonly version: 1 | 2
}

/** Creates the initial state. */
export function createState(initial: InitialRealm): ModelState {
  const { administrators, strongRoles, registrationAllowed, defaultGroup } = initial
  const strong = strongRoles.map(toAdminRoleKey)
  const weakAdministrators = administrators.map((roles, at): [string, ModelUser] => [
    `weak-${at}`,
    createUser(roles.map(toAdminRoleKey), ['crew']),
  ])
  return {
    roles: createRoles(initial, strong),
    declared: {
      roles: new Map([
        ['strong', new Set(strong)],
        ['nested', new Set(['strong'])],
        ['robot/part', new Set(['nested'])],
      ]),
      groups: new Map([['admins', new Set(['strong'])]]),
      users: new Map([
        ['admin', new Set(['strong'])],
        ['service-account-robot', new Set(['robot/part'])],
      ]),
    },
    recreatedObjects: new Set(),
    settings: new Set(['config', 'step', 'flow', 'action']),
    groups: new Map([
      ['admins', { parent: undefined, roles: new Set(['strong']) }],
      ['inner', { parent: 'admins', roles: new Set() }],
      ['crew', { parent: undefined, roles: new Set() }],
      ['others', { parent: undefined, roles: new Set(['plain']) }],
    ]),
    users: new Map([
      ...weakAdministrators,
      ['admin', createUser(['strong'])],
      ['member', createUser([], ['inner'])],
      ['ann', createUser([], ['others'])],
      [VISITOR, createUser()],
      ...(registrationAllowed ? [[NEWCOMER, createUser([], [defaultGroup])] as const] : []),
      ['service-account-robot', { ...createUser(['robot/part']), account: 'robot' }],
      ['service-account-job', { ...createUser(), account: 'job' }],
    ]),
    clients: new Map([
      [LOGIN, createClient({ fullScopeAllowed: true })],
      ['shop', createClient({ fullScopeAllowed: false, clientScopes: ['narrow'] })],
      ['robot', createClient({ fullScopeAllowed: true })],
      ['idle', createClient({ fullScopeAllowed: false })],
      ['job', createClient({ fullScopeAllowed: true })],
    ]),
    clientScopes: new Map([
      ['narrow', { scope: new Set(), mapperRoles: new Set() }],
      ['wide', { scope: new Set(['nested']), mapperRoles: new Set() }],
      ['mapping', { scope: new Set(), mapperRoles: new Set(strong.slice(0, 1)) }],
    ]),
    defaultGroups: new Set([defaultGroup]),
    linkedUsers: new Set(['admin', VISITOR]),
    controlledUsers: new Set([
      ...weakAdministrators.map(([name]) => name),
      VISITOR,
      ...(registrationAllowed ? [NEWCOMER] : []),
    ]),
    registrationAllowed,
    knownSecrets: new Set(['shop', 'job']),
    applications: new Set(['shop']),
  }
}

function createRoles({ administrators, missingRole }: InitialRealm, strong: readonly string[]): Map<string, ModelRole> {
  const roles = new Map<string, ModelRole>()
  const addRole = (client: string | null, name: string, composites: Iterable<string> = []) =>
    roles.set(toRoleKey({ client, name }), { client, name, composites: new Set(composites) })
  addRole(null, DEFAULT_ROLE)
  addRole(null, 'plain')
  addRole(null, 'strong', strong)
  addRole(null, 'nested', ['strong'])
  addRole('shop', 'keeper')
  addRole('robot', 'part', ['nested'])
  // Roles of the administrators are first, since commands choose first objects more often.
  for (const name of new Set([...administrators.flat(), ...adminRoles]))
    if (name !== 'create-realm' && name !== missingRole) addRole(MANAGEMENT, name, listComposites(name, missingRole))
  return roles
}

function createUser(roles: readonly string[] = [], groups: readonly string[] = []): ModelUser {
  return { roles: new Set([DEFAULT_ROLE, ...roles]), groups: new Set(groups) }
}

function createClient({
  fullScopeAllowed,
  clientScopes = [],
}: {
  readonly fullScopeAllowed: boolean
  readonly clientScopes?: readonly string[]
}): ModelClient {
  return {
    fullScopeAllowed,
    scope: new Set(),
    mapperRoles: new Set(),
    clientScopes: new Set(clientScopes),
    claims: {},
    trustedClaims: {},
  }
}

/** Returns the keys of the roles that a built-in admin role contains, except for the missing one. */
function listComposites(name: AdminRole, missingRole: AdminRole): string[] {
  const { representation } = builtInRoles.get(JSON.stringify(['client', MANAGEMENT, name]))!
  const composites = readTexts(readObject(readObject(representation.composites).client)[MANAGEMENT])
  return composites
    .filter((composite) => composite !== missingRole)
    .map((composite) => toRoleKey({ client: MANAGEMENT, name: composite }))
}
