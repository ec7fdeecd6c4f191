// The miniature as the document of a realm, and what requests say of its objects.
import type { Representation } from '../../src/kinds/kind.ts'
import { hashPassword } from '../../src/service/passwords.ts'
import type { NamedRole } from '../../src/service/power.ts'
import { DEFAULT, LOGIN, MANAGEMENT, PROVIDER, type State } from './state.ts'

/** Everybody's. */
export const PASSWORD = 'pw'
/** Hashing shall not take the time that it should take. */
const QUICK = { algorithm: 'pbkdf2-sha256', iterations: 1 }
const credentials = [await hashPassword(PASSWORD, QUICK)]

/** The flow by which anybody would get in. */
export const FLOW = 'anyone'

/** What the miniature has of. */
export type Kind = 'user' | 'group' | 'role' | 'client' | 'clientScope'

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
    ],
    users: [...users].map(([name, user]) => ({
      ...(user.account === undefined
        ? { id: wished('user', name), ...person(name) }
        : { username: name, enabled: true, serviceAccountClientId: user.account }),
      // Whoever is stated to have none has not even the role that everybody has.
      ...(ofRealm(user.roles).length && { realmRoles: ofRealm(user.roles) }),
      clientRoles: byClient(user.roles),
      groups: [...user.groups].map(pathOf),
      ...(linked.has(name) && {
        federatedIdentities: [{ identityProvider: PROVIDER, userId: name, userName: name }],
      }),
    })),
  }
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
export const mapperOf = (name: string, role: NamedRole): Representation => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-role-mapper',
  config: { role: inMappers(role) },
})

/** A role as mappers name it. */
export const inMappers = ({ client, name }: NamedRole): string => (client === null ? name : `${client}.${name}`)
