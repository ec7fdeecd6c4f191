// The model as the document of a realm, and parts of it for requests.
import { getDefaultRoleName } from '../../src/kinds/built-in/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import type { RoleName } from '../../src/store/roles.ts'
import {
  DEFAULT_ROLE,
  type DeclaredGrants,
  LOGIN,
  type LoginSetting,
  MANAGEMENT,
  type ModelState,
  PROVIDER,
} from './model-state.ts'

/** The password of all users. */
export const PASSWORD = 'pw'
/** A policy about administrators that no permission has. */
export const POLICY = 'appointed'
const FAST_HASHING = { algorithm: 'pbkdf2-sha256', iterations: 1 }
const credentials = [await hashPassword(PASSWORD, FAST_HASHING)]

/** A flow that lets every user in. */
export const FLOW = 'anyone'

/** The role in the condition of a flow. */
export const CONDITION = 'plain'

/** The settings of the login by name: flows, and a required action. */
export const SETTINGS: Readonly<Record<LoginSetting, string>> = {
  config: 'with a config',
  step: 'with a step',
  flow: 'with nothing',
  action: 'VERIFY_EMAIL',
}

/** The kinds of objects in the model. */
export type ModelKind = 'user' | 'group' | 'role' | 'client' | 'clientScope' | 'setting' | 'policy'

/** Creates a user who can log in. */
export const createUser = (username: string): Representation => ({
  username,
  email: `${username}@example.org`,
  firstName: 'A',
  lastName: 'B',
  enabled: true,
  credentials,
})

/** Returns the name of the service account of a client. */
export const toServiceAccountName = (client: string): string => `service-account-${client}`

/** Returns a function that creates ids which are unique among all realms. */
export const createIds =
  (realm: string) =>
  (kind: ModelKind, name: string): string =>
    `${realm}-${kind}-${name.replace('/', '-')}`

/** Returns the document of the realm. */
export function toRealmDocument(realm: string, state: ModelState) {
  const { clients, clientScopes, roles, users } = state
  const toId = createIds(realm)
  return {
    realm,
    enabled: true,
    accessTokenLifespan: 3600,
    registrationAllowed: state.registrationAllowed,
    passwordPolicy: `hashAlgorithm(${FAST_HASHING.algorithm}) and hashIterations(${FAST_HASHING.iterations})`,
    roles: toRoles(state, toId),
    groups: toGroups(state, toId, undefined),
    defaultGroups: [...state.defaultGroups].map((name) => toGroupPath(state, name)),
    clientScopes: [...clientScopes].map(([name, { mapperRoles }]) => ({
      id: toId('clientScope', name),
      name,
      protocol: 'openid-connect',
      protocolMappers: [...mapperRoles].map((key) => createRoleMapper(key, roles.get(key)!)),
    })),
    clients: [...clients].map(([name, client]) => ({
      id: toId('client', name),
      clientId: name,
      publicClient: name === LOGIN,
      ...(name !== LOGIN && { secret: name }),
      directAccessGrantsEnabled: true,
      serviceAccountsEnabled: users.has(toServiceAccountName(name)),
      fullScopeAllowed: client.fullScopeAllowed,
      defaultClientScopes: ['roles', ...client.clientScopes],
    })),
    scopeMappings: [...clientScopes].map(([name, { scope }]) => ({
      clientScope: name,
      roles: listRealmRoles(state, scope),
    })),
    identityProviders: [{ alias: PROVIDER, providerId: 'oidc', enabled: true, config: createProviderConfig('first') }],
    authenticationFlows: [
      createFlow(FLOW, { authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' }),
      ...[SETTINGS.config, SETTINGS.step, SETTINGS.flow].map((alias) =>
        createFlow(alias, {
          authenticator: 'conditional-user-role',
          requirement: 'REQUIRED',
          ...(alias === SETTINGS.config && { authenticatorConfig: SETTINGS.config }),
        }),
      ),
    ],
    authenticatorConfig: [{ alias: SETTINGS.config, config: { condUserRole: CONDITION } }],
    users: toUsers(realm, state),
  }
}

type ToId = ReturnType<typeof createIds>

function createFlow(alias: string, execution: Representation): Representation {
  return { alias, providerId: 'basic-flow', topLevel: true, authenticationExecutions: [execution] }
}

function toUsers(realm: string, state: ModelState): Representation[] {
  const toId = createIds(realm)
  return [...state.users].map(([name, { account, roles, groups }]) => ({
    ...(account === undefined
      ? { id: toId('user', name), ...createUser(name) }
      : { username: name, enabled: true, serviceAccountClientId: account }),
    realmRoles: [getDefaultRoleName(realm), ...listRealmRoles(state, roles)],
    clientRoles: groupClientRoles(state, roles),
    groups: [...groups].map((group) => toGroupPath(state, group)),
    ...(state.linkedUsers.has(name) && {
      federatedIdentities: [{ identityProvider: PROVIDER, userId: name, userName: name }],
    }),
  }))
}

function toRoles(state: ModelState, toId: ToId) {
  const toRole = (key: string) => {
    const { name, composites } = state.roles.get(key)!
    return {
      id: toId('role', key),
      name,
      composites: { realm: listRealmRoles(state, composites), client: groupClientRoles(state, composites) },
    }
  }
  const ownKeys = [...state.roles.keys()].filter((key) => key !== DEFAULT_ROLE)
  const keysByClient = Map.groupBy(ownKeys, (key) => state.roles.get(key)!.client)
  return {
    realm: (keysByClient.get(null) ?? []).map(toRole),
    client: Object.fromEntries(
      [...keysByClient].flatMap(([client, keys]) =>
        client === null || client === MANAGEMENT ? [] : [[client, keys.map(toRole)]],
      ),
    ),
  }
}

/** Returns the keys of those roles that are realm roles, which are their names, without the default role. */
function listRealmRoles({ roles }: ModelState, keys: Iterable<string>): string[] {
  return [...keys].filter((key) => key !== DEFAULT_ROLE && roles.get(key)!.client === null)
}

/** Returns the names of those roles that are client roles, by client. */
function groupClientRoles({ roles }: ModelState, keys: Iterable<string>): Record<string, string[]> {
  const clientRoles = [...keys].flatMap((key) => {
    const { client, name } = roles.get(key)!
    return client === null ? [] : [{ client, name }]
  })
  const byClient = Map.groupBy(clientRoles, ({ client }) => client)
  return Object.fromEntries([...byClient].map(([client, group]) => [client, group.map(({ name }) => name)]))
}

function toGroupPath(state: ModelState, name: string): string {
  const { parent } = state.groups.get(name)!
  return `${parent === undefined ? '' : toGroupPath(state, parent)}/${name}`
}

/** Returns the groups below a parent, or at the top, with their subgroups. */
function toGroups(state: ModelState, toId: ToId, parent: string | undefined): object[] {
  return [...state.groups]
    .filter(([, group]) => group.parent === parent)
    .map(([name, { roles }]) => ({
      id: toId('group', name),
      name,
      realmRoles: listRealmRoles(state, roles),
      subGroups: toGroups(state, toId, name),
    }))
}

/** Returns a request to apply what the source declares. */
export function toSource(realm: string, revision: string, { roles, groups, users }: DeclaredGrants) {
  const declaredRoles = [...roles].map(([key, composites]) => {
    const [name, client] = key.split('/').reverse()
    return { client, role: { name, composites: splitKeys(composites) } }
  })
  const document = {
    realm,
    roles: {
      realm: declaredRoles.flatMap(({ client, role }) => (client === undefined ? [role] : [])),
      client: Object.fromEntries(
        declaredRoles.flatMap(({ client, role }) => (client === undefined ? [] : [[client, [role]]])),
      ),
    },
    clients: [{ clientId: 'robot', serviceAccountsEnabled: true }],
    groups: [...groups].map(([name, keys]) => ({ name, realmRoles: [...keys] })),
    users: [...users].map(([username, keys]) => {
      const { realm: realmRoles, client: clientRoles } = splitKeys(keys)
      const isServiceAccount = username === toServiceAccountName('robot')
      return { username, realmRoles, clientRoles, ...(isServiceAccount && { serviceAccountClientId: 'robot' }) }
    }),
  }
  const file = { file: 'realm.json', text: JSON.stringify(document), values: [{}] }
  return { name: `source of ${realm}`, revision, files: [file] }
}

/** Splits keys into the names of realm roles, and of client roles by client. */
function splitKeys(keys: Iterable<string>) {
  const names = [...keys].map((key) => key.split('/'))
  const clientRoles = names.flatMap(([client, name]) => (name === undefined ? [] : [{ client: client!, name }]))
  const byClient = Map.groupBy(clientRoles, ({ client }) => client)
  return {
    realm: names.flatMap(([name, clientRole]) => (clientRole === undefined ? [name!] : [])),
    client: Object.fromEntries([...byClient].map(([client, group]) => [client, group.map(({ name }) => name)])),
  }
}

/** Creates the config of the identity provider at a host. */
export const createProviderConfig = (host: string): Record<string, string> => ({
  clientId: 'regent',
  clientSecret: 'secret',
  issuer: `https://${host}.example.org`,
  authorizationUrl: `https://${host}.example.org/authorize`,
  tokenUrl: `https://${host}.example.org/token`,
})

/** Creates a mapper that adds a role to tokens. */
export const createRoleMapper = (name: string, role: RoleName): Representation => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-role-mapper',
  config: { role: toMapperRole(role) },
})

/** Returns the name of a role in the config of mappers. */
export const toMapperRole = ({ client, name }: RoleName): string => (client === null ? name : `${client}.${name}`)
