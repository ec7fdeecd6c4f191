import * as z from 'zod'
import { objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { listConsents, revokeConsent } from '../../service/admin-api/users/consents.ts'
import { addIdentity, listIdentities, removeIdentity } from '../../service/admin-api/users/federated-identities.ts'
import {
  countGroupsOfUser,
  listGroupsOfUser,
  listMembersOfGroup,
  setMembership,
} from '../../service/admin-api/users/user-groups.ts'
import {
  countMatchingUsers,
  createPasswordHasher,
  getUser,
  listUnmanagedAttributes,
  users,
} from '../../service/admin-api/users/users.ts'
import type { Context } from '../../service/context/context.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import { type BodyForm, objectBody } from '../body.ts'
import { createHandler, readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, operationId, readBodyAfter, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
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

const filters = z.object({
  search: z
    .string()
    .optional()
    .describe(
      'Beginnings of names or of the address, all of them; * for anything, in quotes the whole; or id: and ids.',
    ),
  username: z.string().optional().describe('Part of the user name, in any case.'),
  firstName: z.string().optional().describe('Part of the first name, in any case.'),
  lastName: z.string().optional().describe('Part of the last name, in any case.'),
  email: z.string().optional().describe('Part of the mail address, in any case.'),
  exact: queryFlag.describe('Whether username, names and email must match exactly.'),
  enabled: queryFlag.describe('Whether the user is enabled.'),
  emailVerified: queryFlag.describe('Whether the mail address is known to be theirs.'),
  idpAlias: z.string().optional().describe('Alias of an identity provider that they have an account at.'),
  idpUserId: z.string().optional().describe('Their id at an identity provider.'),
  q: z.string().optional().describe('Attributes to look for: name:value, separated by spaces.'),
})
const brief = queryFlag.describe('Whether names and state are enough.')
const { list, remove } = collection(users, {
  path: USERS,
  item: '{user-id}',
  query: filters.extend({ briefRepresentation: brief, ...page }),
})
const groupSearch = z.object({ search: z.string().optional().describe('Part of the name, in any case.') })

const number = z.int().describe('How many there are.')
const count = z.object({ count: number })

const identities = kind.fields.federatedIdentities!
const identity: BodyForm = {
  schema: objectSchema({ ...identities.members }),
  description: 'the account there',
  representation: 'FederatedIdentityRepresentation',
}

const consents = z.array(
  objectSchema({ ...kind.fields.clientConsents!.members }).extend({
    additionalGrants: z.array(z.json()).describe('Keycloak: tokens for offline access, of which there are none.'),
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
      summary: `Create: ${kind.title}`,
      permission: manage,
      event: kind.events.type,
      body: objectBody(kind),
      responses: { ...createdResponse, ...errorResponses, ...badRequest },
      async handle(call) {
        const body = await prepared(call, {})
        return createHandler((context) => users.create(context, {}, body))(call)
      },
    },
    {
      operationId: 'countUsers',
      method: 'GET',
      path: '/admin/realms/{realm}/users/count',
      summary: 'Count the users',
      permission: search!,
      query: filters,
      responses: { 200: { description: 'The number.', schema: number }, ...errorResponses },
      handle: readHandler((context, call) => countMatchingUsers(context, call.query)),
    },
    {
      operationId: operationId('get', USER),
      method: 'GET',
      path: USER,
      summary: `Get: ${kind.title}`,
      permission: view,
      query: z.object({
        userProfileMetadata: queryFlag.describe('Whether to say what the profile knows of attributes.'),
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
      summary: `Update: ${kind.title}`,
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
        briefRepresentation: queryFlag.describe(
          'Whether to leave out attributes and roles; true unless it says otherwise.',
        ),
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
      responses: { 200: { description: 'The number.', schema: count }, ...errorResponses },
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
      responses: { 200: { description: 'The accounts.', schema: identities.schema }, ...errorResponses },
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

/** The body with its credentials as they are kept: hashing takes its time, and comes before the transaction. */
async function prepared(call: Call, way: { id?: string }): Promise<Representation> {
  const read = <T>(work: (context: Context) => Promise<T>) =>
    call.service.read(call.caller, getParameter(call, 'realm'), work)
  const reach = (context: Context) => users.checkAccess!(context, way)
  const body = (await readBodyAfter(call, () => read(reach))) as Representation
  if (!Array.isArray(body.credentials)) return body
  const make = await read(async (context) => {
    await reach(context)
    return createPasswordHasher(context, way, body)
  })
  return { ...body, credentials: await prepareCredentials(body.credentials as Representation[], make) }
}
