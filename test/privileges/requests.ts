// The operations of the model as requests to the server.
import { type AdminRole, adminRoles } from '../../src/kinds/admin-roles.ts'
import { CREATED, LOGIN, MANAGEMENT, type ModelRole, type ModelState, PROVIDER } from './model-state.ts'
import type { OperationName, Target } from './operations.ts'
import {
  createProviderConfig,
  createRoleMapper,
  createUser,
  FLOW,
  POLICY,
  SETTINGS,
  toMapperRole,
  toSource,
} from './realm-document.ts'
import type { AdminRequest, TestRealm } from './test-realm.ts'

/** The objects of an operation on the server. */
interface RequestInput {
  readonly realm: TestRealm
  readonly target: Target
  readonly state: ModelState
  /** A name that no object has. */
  readonly unusedName: string
}

const toUserPath = ({ realm, target }: RequestInput): string => `users/${realm.getId('user', target.user)}`
const getGroupId = ({ realm, target }: RequestInput): string => realm.getId('group', target.group)
const toClientPath = ({ realm, target }: RequestInput): string => `clients/${realm.getId('client', target.client)}`
const toClientScopePath = ({ realm, target }: RequestInput): string =>
  `client-scopes/${realm.getId('clientScope', target.clientScope)}`

const getRole = ({ target, state }: RequestInput): ModelRole => state.roles.get(target.role)!

/** Returns the path of the role set that contains the role, below role mappings or scope mappings. */
function toRoleSetPath(input: RequestInput): string {
  const { client } = getRole(input)
  return client === null ? 'realm' : `clients/${input.realm.getId('client', client)}`
}

const toRoleList = ({ realm, target }: RequestInput): object[] => [{ id: realm.getId('role', target.role) }]

function toGroupPath({ target, state }: RequestInput): string {
  const { parent } = state.groups.get(target.group)!
  return `/${parent === undefined ? '' : `${parent}/`}${target.group}`
}

/** Adds a mapper to a client or client scope that adds the role to tokens. */
function toMapperRequest(input: RequestInput, owner: string): AdminRequest {
  return ['POST', `${owner}/protocol-mappers/models`, createRoleMapper(input.unusedName, getRole(input))]
}

function toProviderMapperRequest({ unusedName }: RequestInput, type: string, config: object): AdminRequest {
  return [
    'POST',
    `identity-provider/instances/${PROVIDER}/mappers`,
    {
      name: unusedName,
      identityProviderAlias: PROVIDER,
      identityProviderMapper: type,
      config: { syncMode: 'FORCE', ...config },
    },
  ]
}

/** Adds a mapper to a client that writes a claim. */
function toClaimMapperRequest(
  input: RequestInput,
  { claim, value }: { readonly claim: string; readonly value: string },
): AdminRequest {
  const config = {
    'claim.name': claim,
    'claim.value': value,
    'jsonType.label': 'String',
    'access.token.claim': 'true',
    'id.token.claim': 'true',
    'introspection.token.claim': 'true',
  }
  const protocolMapper = 'oidc-hardcoded-claim-mapper'
  const mapper = { name: input.unusedName, protocol: 'openid-connect', protocolMapper, config }
  return ['POST', `${toClientPath(input)}/protocol-mappers/models`, mapper]
}

/** Returns a client whose secret is its name, with a service account if the client had one. */
function toNewClient({ state, target: { client } }: RequestInput): object {
  return {
    clientId: client,
    secret: client,
    directAccessGrantsEnabled: true,
    fullScopeAllowed: false,
    serviceAccountsEnabled: [...state.users.values()].some(({ account }) => account === client),
    defaultClientScopes: ['roles'],
  }
}

const createUserAgain = ({ target }: RequestInput): AdminRequest => ['POST', 'users', createUser(target.user)]
const createGroupAgain = ({ target }: RequestInput): AdminRequest => ['POST', 'groups', { name: target.group }]
const createRoleAgain = ({ target }: RequestInput): AdminRequest => ['POST', 'roles', { name: target.role }]
const createClientAgain = (input: RequestInput): AdminRequest => ['POST', 'clients', toNewClient(input)]

const deletions = new Map<string, (input: RequestInput) => AdminRequest>([
  ['user', (input) => ['DELETE', toUserPath(input)]],
  ['group', (input) => ['DELETE', `groups/${getGroupId(input)}`]],
  ['role', ({ realm, target }) => ['DELETE', `roles-by-id/${realm.getId('role', target.role)}`]],
  ['client', (input) => ['DELETE', toClientPath(input)]],
])

/** The deletion of an object before another one with its name is created, by the caller or by an administrator with all permissions. */
interface Deletion {
  readonly toRequest: (input: RequestInput) => AdminRequest
  readonly isByCaller: boolean
}

/** Returns the deletion that belongs to an operation. */
export function findDeletion(name: OperationName): Deletion | undefined {
  const [, deleted, created = ''] =
    /^(?:delete an? (\w+) and create another|create an? (\w+) after a deletion)$/.exec(name) ?? []
  const toRequest = deletions.get(deleted ?? created)
  return toRequest && { toRequest, isByCaller: deleted !== undefined }
}

/** The request of each operation. */
export const requests: Readonly<Record<OperationName, (input: RequestInput) => AdminRequest>> = {
  'grant a role to a user': (input) => [
    'POST',
    `${toUserPath(input)}/role-mappings/${toRoleSetPath(input)}`,
    toRoleList(input),
  ],
  'grant a role to a group': (input) => [
    'POST',
    `groups/${getGroupId(input)}/role-mappings/${toRoleSetPath(input)}`,
    toRoleList(input),
  ],
  'add a composite role': (input) => [
    'POST',
    `roles-by-id/${input.realm.getId('role', input.target.composite)}/composites`,
    toRoleList(input),
  ],
  'add a user to a group': (input) => ['PUT', `${toUserPath(input)}/groups/${getGroupId(input)}`],
  'move a group below another': (input) => [
    'POST',
    `groups/${getGroupId(input)}/children`,
    { id: input.realm.getId('group', input.target.movedGroup), name: input.target.movedGroup },
  ],
  'add a default group': (input) => ['PUT', `default-groups/${getGroupId(input)}`],
  'create a user in a group': (input) => [
    'POST',
    'users',
    { ...createUser(input.target.newName), groups: [toGroupPath(input)] },
  ],
  'create a user': (input) => ['POST', 'users', createUser(input.target.newName)],
  'set a password': (input) => [
    'PUT',
    `${toUserPath(input)}/reset-password`,
    { type: 'password', value: 'pw', temporary: false },
  ],
  'change an email address': (input) => [
    'PUT',
    toUserPath(input),
    { ...createUser(input.target.user), email: `${input.unusedName}@example.org`, credentials: undefined },
  ],
  'link a federated identity': (input) => [
    'POST',
    `${toUserPath(input)}/federated-identity/${PROVIDER}`,
    { userId: input.unusedName, userName: input.unusedName },
  ],
  'impersonate a user': (input) => ['POST', `${toUserPath(input)}/impersonation`],
  'regenerate a client secret': (input) => ['POST', `${toClientPath(input)}/client-secret`],
  'read a client secret': (input) => ['GET', `${toClientPath(input)}/client-secret`],
  'add a scope mapping to a client': (input) => [
    'POST',
    `${toClientPath(input)}/scope-mappings/${toRoleSetPath(input)}`,
    toRoleList(input),
  ],
  'add a scope mapping to a client scope': (input) => [
    'POST',
    `${toClientScopePath(input)}/scope-mappings/${toRoleSetPath(input)}`,
    toRoleList(input),
  ],
  'add a client scope to a client': (input) => [
    'PUT',
    `${toClientPath(input)}/default-client-scopes/${input.realm.getId('clientScope', input.target.clientScope)}`,
  ],
  'allow the full scope for a client': (input) => [
    'PUT',
    toClientPath(input),
    { clientId: input.target.client, fullScopeAllowed: true },
  ],
  'add a role mapper to a client': (input) => toMapperRequest(input, toClientPath(input)),
  'add a role mapper to a client scope': (input) => toMapperRequest(input, toClientScopePath(input)),
  'add a role mapper to an identity provider': (input) =>
    toProviderMapperRequest(input, 'oidc-hardcoded-role-idp-mapper', { role: toMapperRole(getRole(input)) }),
  'add a group mapper to an identity provider': (input) =>
    toProviderMapperRequest(input, 'oidc-hardcoded-group-idp-mapper', { group: toGroupPath(input) }),
  'change an identity provider': (input) => [
    'PUT',
    `identity-provider/instances/${PROVIDER}`,
    { alias: PROVIDER, providerId: 'oidc', enabled: true, config: createProviderConfig(input.unusedName) },
  ],
  'bind a browser flow': () => ['PUT', '', { browserFlow: FLOW }],
  'bind a registration flow': () => ['PUT', '', { registrationFlow: FLOW }],
  'change the text of an email with a link': ({ unusedName }) => [
    'POST',
    'localization/en',
    { passwordResetBodyHtml: `<img src="https://${unusedName}.example.org/?{0}">` },
  ],
  'delete an authenticator config': ({ realm }) => [
    'DELETE',
    `authentication/config/${realm.getId('setting', 'config')}`,
  ],
  'delete a step of a flow': ({ realm }) => ['DELETE', `authentication/executions/${realm.getId('setting', 'step')}`],
  'delete a flow': ({ realm }) => ['DELETE', `authentication/flows/${realm.getId('setting', 'flow')}`],
  'disable a required action': () => [
    'PUT',
    `authentication/required-actions/${SETTINGS.action}`,
    { alias: SETTINGS.action, name: SETTINGS.action, providerId: SETTINGS.action, enabled: false },
  ],
  'delete a user and create another': createUserAgain,
  'delete a group and create another': createGroupAgain,
  'delete a role and create another': createRoleAgain,
  'delete a client and create another': createClientAgain,
  'create a group after a deletion': createGroupAgain,
  'create a role after a deletion': createRoleAgain,
  'create a client after a deletion': createClientAgain,
  'overwrite a user by partial import': (input) => [
    'POST',
    'partialImport',
    { ifResourceExists: 'OVERWRITE', users: [createUser(input.target.user)] },
  ],
  'overwrite a client by partial import': (input) => [
    'POST',
    'partialImport',
    { ifResourceExists: 'OVERWRITE', clients: [toNewClient(input)] },
  ],
  'apply the source again': ({ realm, unusedName, state }) => [
    'POST',
    '/regent/v1/apply',
    toSource(realm.name, unusedName, state.declared),
  ],
  'write the subject of tokens with a mapper': (input) =>
    toClaimMapperRequest(input, {
      claim: 'sub',
      value: input.realm.getId('user', input.target.user),
    }),
  'write the client of tokens with a mapper': (input) => toClaimMapperRequest(input, { claim: 'azp', value: LOGIN }),
  'create an application': ({ target: { newName } }) => [
    'POST',
    'clients',
    { clientId: `${CREATED}${newName}`, secret: `${CREATED}${newName}`, directAccessGrantsEnabled: true },
  ],
  // The description changes the policy also if it names the user already: a request without changes is allowed.
  'let a policy about administrators name a user': ({ realm, target, unusedName }) => [
    'PUT',
    `${realm.policies}/policy/user/${realm.getId('policy', POLICY)}`,
    { name: POLICY, description: unusedName, users: [realm.getId('user', target.user)] },
  ],
  'import a missing admin role': ({ target: { missingRole } }) => [
    'POST',
    'partialImport',
    { roles: { client: { [MANAGEMENT]: [{ name: missingRole }] } } },
  ],
}

/** By admin role, a request that only callers with that role, or a role that contains it, may send. It changes nothing. */
export const attempts = {
  'view-users': (realm: TestRealm): AdminRequest => ['GET', `users/${realm.getId('user', 'admin')}`],
  'view-clients': (realm: TestRealm): AdminRequest => ['GET', `clients/${realm.getId('client', 'shop')}`],
  'manage-users': (): AdminRequest => ['POST', 'users', {}],
  'manage-clients': (): AdminRequest => ['POST', 'clients', {}],
  'manage-realm': (): AdminRequest => ['POST', 'roles', {}],
  'manage-identity-providers': (): AdminRequest => ['POST', 'identity-provider/instances', {}],
} as const satisfies Partial<Record<AdminRole, (realm: TestRealm) => AdminRequest>>

/** The roles with attempts. */
export const attemptRoles = adminRoles.filter((role) => isAttemptRole(role))

function isAttemptRole(role: AdminRole): role is keyof typeof attempts {
  return Object.hasOwn(attempts, role)
}
