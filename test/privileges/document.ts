// The miniature as the document of a realm, and what requests say of its objects.
import { getDefaultRoleName } from '../../src/kinds/built-in/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { AdminRoleName } from '../../src/service/context/admin-permissions.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { DEFAULT, type Declared, LOGIN, MANAGEMENT, PROVIDER, type Setting, type State } from './state.ts'

/** Everybody's. */
export const PASSWORD = 'pw'
/** Hashing shall not take the time that it should take. */
const QUICK = { algorithm: 'pbkdf2-sha256', iterations: 1 }
const credentials = [await hashPassword(PASSWORD, QUICK)]

/** The flow by which anybody would get in. */
export const FLOW = 'anyone'

/** The role that the condition of a flow names. */
export const CONDITION = 'plain'

/** What decides how everybody logs in, by name: a flow each, and a required action. */
export const SETTINGS: Readonly<Record<Setting, string>> = {
  config: 'with a config',
  step: 'with a step',
  flow: 'with nothing',
  action: 'VERIFY_EMAIL',
}

/** What the miniature has of. */
export type Kind = 'user' | 'group' | 'role' | 'client' | 'clientScope' | 'setting'

/** A person whom nothing keeps from logging in. */
export const person = (username: string): Representation => ({
  username,
  email: `${username}@example.org`,
  firstName: 'A',
  lastName: 'B',
  enabled: true,
  credentials,
})

/** The name of the account of a client. */
export const accountOf = (client: string): string => `service-account-${client}`

/** Ids are unique among all realms. */
export const wishedFor = (realm: string) => (kind: Kind, name: string) => `${realm}-${kind}-${name.replace('/', '-')}`

/** The realm as a document. */
export function documentOf(
  realm: string,
  { roles, groups, users, clients, clientScopes, defaultGroups, linked, open }: State,
) {
  const wished = wishedFor(realm)
  const own = (names: Iterable<string>) => [...names].filter((key) => key !== DEFAULT)
  const ofRealm = (keys: Iterable<string>) => own(keys).filter((key) => roles.get(key)!.client === null)
  const ofClients = (keys: Iterable<string>) =>
    Object.groupBy(
      own(keys).filter((key) => roles.get(key)!.client !== null),
      (key) => roles.get(key)!.client!,
    )
  const named = (keys: readonly string[] = []) => keys.map((key) => roles.get(key)!.name)
  const byClient = (keys: Iterable<string>) =>
    Object.fromEntries(Object.entries(ofClients(keys)).map(([client, some]) => [client, named(some)]))
  const roleOf = (key: string) => ({
    id: wished('role', key),
    name: roles.get(key)!.name,
    composites: { realm: ofRealm(roles.get(key)!.parts), client: byClient(roles.get(key)!.parts) },
  })
  const pathOf = (name: string): string => {
    const { parent } = groups.get(name)!
    return `${parent === undefined ? '' : pathOf(parent)}/${name}`
  }
  const inside = (above: string | undefined): object[] =>
    [...groups].flatMap(([name, group]) =>
      group.parent === above
        ? [{ id: wished('group', name), name, realmRoles: ofRealm(group.roles), subGroups: inside(name) }]
        : [],
    )
  const { [MANAGEMENT]: _, ...clientRoles } = ofClients(roles.keys())
  return {
    realm,
    enabled: true,
    accessTokenLifespan: 3600,
    registrationAllowed: open,
    passwordPolicy: `hashAlgorithm(${QUICK.algorithm}) and hashIterations(${QUICK.iterations})`,
    roles: {
      realm: ofRealm(roles.keys()).map(roleOf),
      client: Object.fromEntries(Object.entries(clientRoles).map(([client, keys]) => [client, keys!.map(roleOf)])),
    },
    groups: inside(undefined),
    defaultGroups: [...defaultGroups].map(pathOf),
    clientScopes: [...clientScopes].map(([name, { mapped }]) => ({
      id: wished('clientScope', name),
      name,
      protocol: 'openid-connect',
      protocolMappers: [...mapped].map((key) => mapperOf(key, roles.get(key)!)),
    })),
    clients: [...clients].map(([name, { full, scopes }]) => ({
      id: wished('client', name),
      clientId: name,
      publicClient: name === LOGIN,
      ...(name !== LOGIN && { secret: name }),
      directAccessGrantsEnabled: true,
      serviceAccountsEnabled: users.has(accountOf(name)),
      fullScopeAllowed: full,
      defaultClientScopes: ['roles', ...scopes],
    })),
    scopeMappings: [...clientScopes].map(([name, { scope }]) => ({ clientScope: name, roles: ofRealm(scope) })),
    identityProviders: [{ alias: PROVIDER, providerId: 'oidc', enabled: true, config: provider('first') }],
    authenticationFlows: [
      {
        alias: FLOW,
        providerId: 'basic-flow',
        topLevel: true,
        authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' }],
      },
      ...[SETTINGS.config, SETTINGS.step, SETTINGS.flow].map((alias) => ({
        alias,
        providerId: 'basic-flow',
        topLevel: true,
        authenticationExecutions: [
          {
            ...{ authenticator: 'conditional-user-role', requirement: 'REQUIRED' },
            ...(alias === SETTINGS.config && { authenticatorConfig: SETTINGS.config }),
          },
        ],
      })),
    ],
    authenticatorConfig: [{ alias: SETTINGS.config, config: { condUserRole: CONDITION } }],
    users: [...users].map(([name, user]) => ({
      ...(user.account === undefined
        ? { id: wished('user', name), ...person(name) }
        : { username: name, enabled: true, serviceAccountClientId: user.account }),
      realmRoles: [getDefaultRoleName(realm), ...ofRealm(user.roles)],
      clientRoles: byClient(user.roles),
      groups: [...user.groups].map(pathOf),
      ...(linked.has(name) && {
        federatedIdentities: [{ identityProvider: PROVIDER, userId: name, userName: name }],
      }),
    })),
  }
}

/** What a source declares of the realm, as a request to apply it. */
export function sourceOf(realm: string, revision: string, { roles, groups, users }: Declared) {
  const parts = (keys: Iterable<string>) => {
    const named = [...keys].map((key) => key.split('/') as [string] | [string, string])
    const ofClients = Map.groupBy(
      named.filter((one) => one.length === 2),
      ([client]) => client,
    )
    return {
      realm: named.flatMap((one) => (one.length === 1 ? one : [])),
      client: Object.fromEntries([...ofClients].map(([client, own]) => [client, own.map(([, name]) => name)])),
    }
  }
  const declared = [...roles].map(([key, contained]) => {
    const [name, client] = key.split('/').reverse()
    return { client, role: { name, composites: parts(contained) } }
  })
  const document = {
    realm,
    roles: {
      realm: declared.flatMap(({ client, role }) => (client === undefined ? [role] : [])),
      client: Object.fromEntries(
        declared.flatMap(({ client, role }) => (client === undefined ? [] : [[client, [role]]])),
      ),
    },
    clients: [{ clientId: 'robot', serviceAccountsEnabled: true }],
    groups: [...groups].map(([name, held]) => ({ name, realmRoles: [...held] })),
    users: [...users].map(([username, held]) => ({
      username,
      realmRoles: parts(held).realm,
      clientRoles: parts(held).client,
      ...(username === accountOf('robot') && { serviceAccountClientId: 'robot' }),
    })),
  }
  const file = { file: 'realm.json', text: JSON.stringify(document), values: [{}] }
  return { name: `source of ${realm}`, revision, files: [file] }
}

/** The settings of the provider, at some host. */
export const provider = (host: string): Record<string, string> => ({
  clientId: 'regent',
  clientSecret: 'secret',
  issuer: `https://${host}.example.org`,
  authorizationUrl: `https://${host}.example.org/authorize`,
  tokenUrl: `https://${host}.example.org/token`,
})

/** A mapper that puts a role into tokens. */
export const mapperOf = (name: string, role: AdminRoleName): Representation => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-role-mapper',
  config: { role: inMappers(role) },
})

/** A role as mappers name it. */
export const inMappers = ({ client, name }: AdminRoleName): string => (client === null ? name : `${client}.${name}`)
