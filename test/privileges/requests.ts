// The operations of the miniature as requests to the running server.
import type { AdminRole } from '../../src/kinds/admin-roles.ts'
import { FLOW, inMappers, mapperOf, person, provider, SETTINGS, sourceOf } from './document.ts'
import type { OperationName, Target } from './operations.ts'
import { CREATED, LOGIN, MANAGEMENT, PROVIDER, type State } from './state.ts'
import type { World } from './world.ts'

/** A request: below the address of the realm. */
type Request = readonly [method: string, path: string, body?: unknown]

/** What there is to know of the moment. */
interface Moment {
  readonly world: World
  readonly target: Target
  readonly state: State
  /** A name that nothing has. */
  readonly fresh: string
}

const user = ({ world, target }: Moment): string => `users/${world.id('user', target.user)}`
const group = ({ world, target }: Moment): string => world.id('group', target.group)
const client = ({ world, target }: Moment): string => `clients/${world.id('client', target.client)}`
const clientScope = ({ world, target }: Moment): string =>
  `client-scopes/${world.id('clientScope', target.clientScope)}`

const roleOf = ({ target, state }: Moment) => state.roles.get(target.role)!

/** Where in a set of roles the role belongs. */
function among(moment: Moment): string {
  const { client } = roleOf(moment)
  return client === null ? 'realm' : `clients/${moment.world.id('client', client)}`
}
const role = ({ world, target }: Moment): object[] => [{ id: world.id('role', target.role) }]

/** The path of the group. */
function pathOf({ target, state }: Moment): string {
  const { parent } = state.groups.get(target.group)!
  return `/${parent === undefined ? '' : `${parent}/`}${target.group}`
}

function mapper(moment: Moment, owner: string): Request {
  return ['POST', `${owner}/protocol-mappers/models`, mapperOf(moment.fresh, roleOf(moment))]
}

function providerMapper({ fresh }: Moment, type: string, config: object): Request {
  return [
    'POST',
    `identity-provider/instances/${PROVIDER}/mappers`,
    {
      name: fresh,
      identityProviderAlias: PROVIDER,
      identityProviderMapper: type,
      config: { syncMode: 'FORCE', ...config },
    },
  ]
}

function claimMapper({ fresh }: Moment, owner: string, claim: string, value: string): Request {
  const config = {
    ...{ 'claim.name': claim, 'claim.value': value, 'jsonType.label': 'String' },
    ...{ 'access.token.claim': 'true', 'id.token.claim': 'true', 'introspection.token.claim': 'true' },
  }
  const mapper = { name: fresh, protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper', config }
  return ['POST', `${owner}/protocol-mappers/models`, mapper]
}

/** A client whose secret is its name. */
function newClient({ state, target: { client } }: Moment): object {
  const serviceAccountsEnabled = [...state.users.values()].some(({ account }) => account === client)
  return {
    ...{ clientId: client, secret: client, directAccessGrantsEnabled: true, fullScopeAllowed: false },
    ...{ serviceAccountsEnabled, defaultClientScopes: ['roles'] },
  }
}

const newUserAgain = (at: Moment): Request => ['POST', 'users', person(at.target.user)]
const newGroupAgain = (at: Moment): Request => ['POST', 'groups', { name: at.target.group }]
const newRoleAgain = (at: Moment): Request => ['POST', 'roles', { name: at.target.role }]
const newClientAgain = (at: Moment): Request => ['POST', 'clients', newClient(at)]

const deletion = {
  user: (at: Moment): Request => ['DELETE', user(at)],
  group: (at: Moment): Request => ['DELETE', `groups/${group(at)}`],
  role: (at: Moment): Request => ['DELETE', `roles-by-id/${at.world.id('role', at.target.role)}`],
  client: (at: Moment): Request => ['DELETE', client(at)],
}

/** The deletion before an object of the same name is created, and whether the caller does it or somebody who can grant everything. */
export function deletionOf(name: OperationName): { request: (moment: Moment) => Request; own: boolean } | undefined {
  const [, own, created] =
    /^(?:delete an? (\w+) and create another|create an? (\w+) after a deletion)$/.exec(name) ?? []
  const kind = (own ?? created) as keyof typeof deletion | undefined
  return kind && { request: deletion[kind], own: own !== undefined }
}

/** What each operation is on the wire. */
export const requests: Readonly<Record<OperationName, (moment: Moment) => Request>> = {
  'give a role to a user': (at) => ['POST', `${user(at)}/role-mappings/${among(at)}`, role(at)],
  'give a role to a group': (at) => ['POST', `groups/${group(at)}/role-mappings/${among(at)}`, role(at)],
  'put a role into another': (at) => [
    'POST',
    `roles-by-id/${at.world.id('role', at.target.whole)}/composites`,
    role(at),
  ],
  'let a user join a group': (at) => ['PUT', `${user(at)}/groups/${group(at)}`],
  'move a group into another': (at) => [
    'POST',
    `groups/${group(at)}/children`,
    { id: at.world.id('group', at.target.moved), name: at.target.moved },
  ],
  'let newcomers join a group': (at) => ['PUT', `default-groups/${group(at)}`],
  'make a user in a group': (at) => ['POST', 'users', { ...person(at.target.fresh), groups: [pathOf(at)] }],
  'make a user': (at) => ['POST', 'users', person(at.target.fresh)],
  'set a password': (at) => ['PUT', `${user(at)}/reset-password`, { type: 'password', value: 'pw', temporary: false }],
  'change a mail address': (at) => [
    'PUT',
    user(at),
    { ...person(at.target.user), email: `${at.fresh}@example.org`, credentials: undefined },
  ],
  'link an account elsewhere': (at) => [
    'POST',
    `${user(at)}/federated-identity/${PROVIDER}`,
    { userId: at.fresh, userName: at.fresh },
  ],
  'act in place of a user': (at) => ['POST', `${user(at)}/impersonation`],
  'make a new secret': (at) => ['POST', `${client(at)}/client-secret`],
  'read a secret': (at) => ['GET', `${client(at)}/client-secret`],
  'put a role into the scope of a client': (at) => ['POST', `${client(at)}/scope-mappings/${among(at)}`, role(at)],
  'put a role into a client scope': (at) => ['POST', `${clientScope(at)}/scope-mappings/${among(at)}`, role(at)],
  'give a client a client scope': (at) => [
    'PUT',
    `${client(at)}/default-client-scopes/${at.world.id('clientScope', at.target.clientScope)}`,
  ],
  'let a client show all roles': (at) => ['PUT', client(at), { clientId: at.target.client, fullScopeAllowed: true }],
  'let a client put a role into tokens': (at) => mapper(at, client(at)),
  'let a client scope put a role into tokens': (at) => mapper(at, clientScope(at)),
  'let a provider give a role': (at) =>
    providerMapper(at, 'oidc-hardcoded-role-idp-mapper', { role: inMappers(roleOf(at)) }),
  'let a provider let people join a group': (at) =>
    providerMapper(at, 'oidc-hardcoded-group-idp-mapper', { group: pathOf(at) }),
  'say who vouches for people': (at) => [
    'PUT',
    `identity-provider/instances/${PROVIDER}`,
    { alias: PROVIDER, providerId: 'oidc', enabled: true, config: provider(at.fresh) },
  ],
  'say how people log in': () => ['PUT', '', { browserFlow: FLOW }],
  'bind a registration flow': () => ['PUT', '', { registrationFlow: FLOW }],
  'change the text of an email with a link': ({ fresh }) => [
    'POST',
    'localization/en',
    { passwordResetBodyHtml: `<img src="https://${fresh}.example.org/?{0}">` },
  ],
  'delete an authenticator config': ({ world }) => ['DELETE', `authentication/config/${world.id('setting', 'config')}`],
  'delete a step of a flow': ({ world }) => ['DELETE', `authentication/executions/${world.id('setting', 'step')}`],
  'delete a flow': ({ world }) => ['DELETE', `authentication/flows/${world.id('setting', 'flow')}`],
  'disable a required action': () => [
    'PUT',
    `authentication/required-actions/${SETTINGS.action}`,
    { alias: SETTINGS.action, name: SETTINGS.action, providerId: SETTINGS.action, enabled: false },
  ],
  'delete a user and create another': newUserAgain,
  'delete a group and create another': newGroupAgain,
  'delete a role and create another': newRoleAgain,
  'delete a client and create another': newClientAgain,
  'create a group after a deletion': newGroupAgain,
  'create a role after a deletion': newRoleAgain,
  'create a client after a deletion': newClientAgain,
  'overwrite a user by partial import': (at) => [
    'POST',
    'partialImport',
    { ifResourceExists: 'OVERWRITE', users: [person(at.target.user)] },
  ],
  'overwrite a client by partial import': (at) => [
    'POST',
    'partialImport',
    { ifResourceExists: 'OVERWRITE', clients: [newClient(at)] },
  ],
  'apply the source again': ({ world, fresh, state }) => [
    'POST',
    '/regent/v1/apply',
    sourceOf(world.realm, fresh, state.declared),
  ],
  'write the subject of tokens by a mapper': (at) =>
    claimMapper(at, client(at), 'sub', at.world.id('user', at.target.user)),
  'write the client of tokens by a mapper': (at) => claimMapper(at, client(at), 'azp', LOGIN),
  'create an application': ({ target: { fresh } }) => [
    'POST',
    'clients',
    { clientId: `${CREATED}${fresh}`, secret: `${CREATED}${fresh}`, directAccessGrantsEnabled: true },
  ],
  'import a role with a title': ({ target: { title } }) => [
    'POST',
    'partialImport',
    { roles: { client: { [MANAGEMENT]: [{ name: title }] } } },
  ],
}

/** What only those can do who have a role, or another that gives as much: it is refused to all others, and changes nothing. */
export const attempts = {
  'view-users': (world: World): Request => ['GET', `users/${world.id('user', 'boss')}`],
  'view-clients': (world: World): Request => ['GET', `clients/${world.id('client', 'shop')}`],
  'manage-users': (): Request => ['POST', 'users', {}],
  'manage-clients': (): Request => ['POST', 'clients', {}],
  'manage-realm': (): Request => ['POST', 'roles', {}],
  'manage-identity-providers': (): Request => ['POST', 'identity-provider/instances', {}],
} as const satisfies Partial<Record<AdminRole, (world: World) => Request>>
