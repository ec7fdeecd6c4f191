import * as z from 'zod'
import { objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { anyRepresentation } from '../../kinds/json-schema.ts'
import { parsePage } from '../../service/admin-api/common/list-query.ts'
import { listConsents, revokeConsent } from '../../service/admin-api/users/consents.ts'
import { addIdentity, listIdentities, removeIdentity } from '../../service/admin-api/users/federated-identities.ts'
import { listUsersWithFailures } from '../../service/admin-api/users/login-failures.ts'
import { listLoginNames } from '../../service/admin-api/users/user-body.ts'
import {
  countGroupsOfUser,
  listGroupsOfUser,
  listMembersOfGroup,
  setMembership,
} from '../../service/admin-api/users/user-groups.ts'
import { parseDirectorySearch } from '../../service/admin-api/users/user-search.ts'
import {
  countMatchingUsers,
  createPasswordHasher,
  DEFAULT_PAGE_SIZE,
  getUser,
  listUnmanagedAttributes,
  users,
} from '../../service/admin-api/users/users.ts'
import type { Context } from '../../service/context/context.ts'
import { refuseNamesOfDirectories } from '../../service/federation/directory-login.ts'
import { importMatchingUsers } from '../../service/federation/directory-search.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import { type BodyForm, objectBody } from '../body.ts'
import { recordEvent } from '../event.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import {
  type Call,
  getParameter,
  type Operation,
  operationId,
  readBodyAfter,
  tagged,
  type UntaggedOperation,
} from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { representationOf } from '../representations.ts'
import {
  alreadySoResponse,
  badRequest,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { credentialOperations } from './user-credentials.ts'

const kind = kinds.user
const { view, search, manage } = users

const USERS = '/admin/realms/{realm}/users'
const USER = `${USERS}/{user-id}`

const DATE = 'a day (yyyy-MM-dd) or a time in milliseconds since 1970'
const filters = z.object({
  search: z
    .string()
    .optional()
    .describe(
      'Texts that the username, first name, last name or email must contain: prefixes by default, `*` for any text, quotes for exact matches, or `id:` and ids, separated by spaces. With it, the other name filters are ignored.',
    ),
  username: z.string().optional().describe('Part of the username, in any case.'),
  firstName: z.string().optional().describe('Part of the first name, in any case.'),
  lastName: z.string().optional().describe('Part of the last name, in any case.'),
  email: z.string().optional().describe('Part of the email address, in any case.'),
  exact: queryFlag.describe(
    'Whether `username`, `firstName`, `lastName` and `email` must match exactly. Default: false.',
  ),
  enabled: queryFlag.describe('Only users that are enabled, or that are not.'),
  emailVerified: queryFlag.describe('Only users whose email address is verified, or is not.'),
  createdAfter: z.string().optional().describe(`Only users created from this time on: ${DATE}.`),
  createdBefore: z.string().optional().describe(`Only users created until this time, which is included: ${DATE}.`),
  idpAlias: z.string().optional().describe('Alias of an identity provider to which users are linked.'),
  idpUserId: z.string().optional().describe('User id at an identity provider.'),
  q: z.string().optional().describe('Attributes as `name:value`, separated by spaces. All must match.'),
})
const brief = queryFlag.describe('Whether to return only the basic fields, without attributes. Default: false.')
const lockoutStatus = z.object({
  disabled: z.boolean().describe('Whether the user is locked out temporarily.'),
  numFailures: z.int().describe('Number of login failures.'),
  lastFailure: z.int().describe('Time of the last failure, in milliseconds since 1970.'),
  lastIPFailure: z.string().describe('IP address of the last failure, or `n/a`.'),
})
/** Returns a list of users, for which users of directories are imported if those of the realm are fewer than requested. */
const withDirectories = (listOfRealm: UntaggedOperation): UntaggedOperation => ({
  ...listOfRealm,
  async handle(call) {
    const response = await listOfRealm.handle(call)
    const realm = getParameter(call, 'realm')
    const { hasUserStores } = await call.service.cache.getRealm(realm)
    const search = hasUserStores ? parseDirectorySearch(call.query) : undefined
    const { max = Number.POSITIVE_INFINITY, first = 0 } = parsePage(call.query, DEFAULT_PAGE_SIZE)
    const listed = Array.isArray(response.body) ? response.body.length : 0
    if (!search || listed >= max) return response
    await importMatchingUsers(call.service, realm, { ...search, limit: first + max })
    return listOfRealm.handle(call)
  },
})
const listQuery = filters.extend({ briefRepresentation: brief, ...page })
const { list: listOfRealm, remove } = collection(users, { path: USERS, item: '{user-id}', query: listQuery })
const list = withDirectories(listOfRealm)

/** The list of users in which the admin console shows who is locked out. */
export const listUsersForConsole = withDirectories({
  operationId: 'listUsersForConsole',
  method: 'GET',
  path: '/admin/realms/{realm}/ui-ext/brute-force-user',
  summary: 'List users with their login failures',
  permission: 'list-users',
  query: listQuery,
  responses: {
    200: {
      description: 'The users.',
      schema: z.array(
        representationOf(kind).and(
          z.object({ bruteForceStatus: lockoutStatus.describe('The login failures of the user.') }),
        ),
      ),
    },
    ...errorResponses,
  },
  handle: readHandler((context, call) => listUsersWithFailures(context, call.query)),
})
const groupSearch = z.object({ search: z.string().optional().describe('Part of the name, in any case.') })

const number = z.int().describe('Number of matching objects.')
const count = z.object({ count: number })

const identities = kind.fields.federatedIdentities!
const identity: BodyForm = {
  schema: objectSchema({ ...identities.members }),
  documented: anyRepresentation('FederatedIdentityRepresentation'),
  description: 'The account at the identity provider.',
  representation: 'FederatedIdentityRepresentation',
}

const consents = z.array(
  objectSchema({ ...kind.fields.clientConsents!.members }).extend({
    additionalGrants: z.array(z.json()).describe('Keycloak: offline tokens; always empty.'),
  }),
)

const user = (call: Call) => getParameter(call, 'user-id')

/** The operations on users, their groups, federated identities and consents. */
export const userOperations: Operation[] = [
  ...tagged('Users', [
    list,
    {
      operationId: operationId('create', USERS),
      method: 'POST',
      path: USERS,
      summary: 'Create a user',
      permission: manage,
      event: kind.events.type,
      body: objectBody(kind),
      responses: { ...createdResponse, ...errorResponses, ...badRequest },
      async handle(call) {
        const body = await prepared(call, {})
        const realm = getParameter(call, 'realm')
        const newUserNames = listLoginNames(body)
        await refuseNamesOfDirectories(call.service, realm, {
          names: body,
          checkAccess: () => call.service.read(call.caller, realm, (context) => users.checkAccess!(context, {})),
        })
        const target = { realm, newUserNames }
        return call.service.write(call.caller, target, async (context) => {
          const created = await users.create(context, {}, body)
          recordEvent(context, call, created)
          return { status: 201, created }
        })
      },
    },
    {
      operationId: 'countUsers',
      method: 'GET',
      path: '/admin/realms/{realm}/users/count',
      summary: 'Count the users',
      permission: search!,
      query: filters,
      responses: { 200: { description: 'The number of groups.', schema: number }, ...errorResponses },
      handle: readHandler((context, call) => countMatchingUsers(context, call.query)),
    },
    {
      operationId: operationId('get', USER),
      method: 'GET',
      path: USER,
      summary: 'Get a user',
      permission: view,
      query: z.object({
        userProfileMetadata: queryFlag.describe('Whether to return the user profile metadata. Default: false.'),
      }),
      responses: { ...objectResponse(kind), ...errorResponses },
      handle: readHandler((context, call) =>
        getUser(context, { id: user(call) }, call.query.userProfileMetadata === true),
      ),
    },
    {
      operationId: operationId('update', USER),
      method: 'PUT',
      path: USER,
      summary: 'Update a user',
      permission: manage,
      event: kind.events.type,
      body: objectBody(kind),
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      async handle(call) {
        const body = await prepared(call, { id: user(call) })
        return writeHandler((context) => users.replace(context, { id: user(call) }, body))(call)
      },
    },
    remove,
    {
      operationId: 'listUnmanagedAttributes',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/unmanagedAttributes',
      summary: 'List the unmanaged attributes of a user',
      permission: view,
      responses: { 200: { description: 'The attributes.', schema: kind.fields.attributes!.schema }, ...errorResponses },
      handle: readHandler((context, call) => listUnmanagedAttributes(context, user(call))),
    },
    ...credentialOperations,
    {
      operationId: 'listUserGroups',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/groups',
      summary: 'List the groups of a user',
      permission: view,
      query: groupSearch.extend({
        briefRepresentation: queryFlag.describe('Whether to leave out attributes and role mappings. Default: true.'),
        ...page,
      }),
      responses: { ...listResponse(kinds.group), ...errorResponses },
      handle: readHandler((context, call) => listGroupsOfUser(context, user(call), call.query)),
    },
    {
      operationId: 'countUserGroups',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/groups/count',
      summary: 'Count the groups of a user',
      permission: view,
      query: groupSearch,
      responses: { 200: { description: 'The number of groups.', schema: count }, ...errorResponses },
      handle: readHandler(async (context, call) => ({
        count: await countGroupsOfUser(context, user(call), call.query),
      })),
    },
    {
      operationId: 'joinGroup',
      method: 'PUT',
      path: '/admin/realms/{realm}/users/{user-id}/groups/{groupId}',
      summary: 'Add a user to a group',
      permission: manage,
      event: { type: 'GROUP_MEMBERSHIP', operation: 'CREATE' },
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) =>
        setMembership(context, { user: user(call), group: getParameter(call, 'groupId') }, 'add'),
      ),
    },
    {
      operationId: 'leaveGroup',
      method: 'DELETE',
      path: '/admin/realms/{realm}/users/{user-id}/groups/{groupId}',
      summary: 'Remove a user from a group',
      permission: manage,
      event: 'GROUP_MEMBERSHIP',
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) =>
        setMembership(context, { user: user(call), group: getParameter(call, 'groupId') }, 'remove'),
      ),
    },
    {
      operationId: 'listFederatedIdentities',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/federated-identity',
      summary: 'List the federated identities of a user',
      permission: view,
      responses: { 200: { description: 'The linked accounts.', schema: identities.schema }, ...errorResponses },
      handle: readHandler((context, call) => listIdentities(context, user(call))),
    },
    {
      operationId: 'addFederatedIdentity',
      method: 'POST',
      path: '/admin/realms/{realm}/users/{user-id}/federated-identity/{provider}',
      summary: 'Link a user to an account of an identity provider (federated identity)',
      permission: manage,
      event: kind.events.type,
      body: identity,
      responses: { ...noContentResponse, ...errorResponses, ...badRequest, ...alreadySoResponse },
      handle: writeHandler(async (context, call) => {
        const body = await readBodyAfter(call, async () => users.checkAccess?.(context, { id: user(call) }))
        await addIdentity(
          context,
          { user: user(call), provider: getParameter(call, 'provider') },
          body as Representation,
        )
      }),
    },
    {
      operationId: 'removeFederatedIdentity',
      method: 'DELETE',
      path: '/admin/realms/{realm}/users/{user-id}/federated-identity/{provider}',
      summary: 'Unlink a user from an identity provider (federated identity)',
      permission: manage,
      event: kind.events.type,
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => removeIdentity(context, user(call), getParameter(call, 'provider'))),
    },
    {
      operationId: 'listUserConsents',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/consents',
      summary: 'List the consents of a user',
      permission: view,
      responses: { 200: { description: 'The consents, by client.', schema: consents }, ...errorResponses },
      handle: readHandler((context, call) => listConsents(context, user(call))),
    },
    {
      operationId: 'revokeUserConsent',
      method: 'DELETE',
      path: '/admin/realms/{realm}/users/{user-id}/consents/{client}',
      summary: 'Revoke the consent and offline tokens of a user for a client',
      permission: manage,
      event: { type: kind.events.type, operation: 'ACTION' },
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => revokeConsent(context, user(call), getParameter(call, 'client'))),
    },
  ]),
  ...tagged('Groups', [
    {
      operationId: 'listGroupMembers',
      method: 'GET',
      path: '/admin/realms/{realm}/groups/{group-id}/members',
      summary: 'List the members of a group',
      permission: view,
      query: z.object({ briefRepresentation: brief, ...page }),
      responses: { ...listResponse(kind), ...errorResponses },
      handle: readHandler((context, call) => listMembersOfGroup(context, getParameter(call, 'group-id'), call.query)),
    },
  ]),
]

/** Returns the body with hashed credentials. Hashing is slow and precedes the transaction. */
async function prepared(call: Call, way: { id?: string }): Promise<Representation> {
  const read = <T>(work: (context: Context) => Promise<T>) =>
    call.service.read(call.caller, getParameter(call, 'realm'), work)
  const checkAccess = (context: Context) => users.checkAccess!(context, way)
  const body = (await readBodyAfter(call, () => read(checkAccess))) as Representation
  if (!Array.isArray(body.credentials)) return body
  const make = await read(async (context) => {
    await checkAccess(context)
    return createPasswordHasher(context, way, body)
  })
  return {
    ...body,
    credentials: await prepareCredentials(withoutPasswordLabels(body.credentials as Representation[]), make),
  }
}

/** Keycloak: a password that is set by its value has no label. */
function withoutPasswordLabels(credentials: readonly Representation[]): Representation[] {
  return credentials.map((credential) =>
    credential.value != null && (credential.type ?? 'password') === 'password'
      ? { ...credential, userLabel: null }
      : credential,
  )
}
