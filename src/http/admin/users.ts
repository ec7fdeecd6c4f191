import * as z from 'zod'
import { objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { listConsents, revokeConsent } from '../../service/admin-api/users/consents.ts'
import { addIdentity, listIdentities, removeIdentity } from '../../service/admin-api/users/federated-identities.ts'
import { countGroupsOf, listGroupsOf, listMembers, setMembership } from '../../service/admin-api/users/user-groups.ts'
import { countAll, getUser, listUnmanagedAttributes, passwordsFor, users } from '../../service/admin-api/users/users.ts'
import type { Context } from '../../service/context/context.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import { type BodyForm, objectBody } from '../body.ts'
import { creating, reading, writing } from '../handlers.ts'
import { bodyBehind, type Call, type Operation, operationId, param, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, done, made, many, one, refusals, taken } from '../responses.ts'
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
  exact: queryFlag.describe('Whether names and address must be the same as what is asked for.'),
  enabled: queryFlag.describe('Whether the person can log in.'),
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

const user = (call: Call) => param(call, 'user-id')

/** Users, the groups that they belong to, their accounts elsewhere, and what they let clients learn. */
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
      responses: { ...made, ...refusals, ...badRequest },
      async handle(call) {
        const body = await prepared(call, {})
        return creating((context) => users.create(context, {}, body))(call)
      },
    },
    {
      operationId: 'countUsers',
      method: 'GET',
      path: '/admin/realms/{realm}/users/count',
      summary: 'Count the users',
      permission: search!,
      query: filters,
      responses: { 200: { description: 'The number.', schema: number }, ...refusals },
      handle: reading((context, call) => countAll(context, call.query)),
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
      responses: { ...one(kind), ...refusals },
      handle: reading((context, call) => getUser(context, { id: user(call) }, call.query.userProfileMetadata === true)),
    },
    {
      operationId: operationId('update', USER),
      method: 'PUT',
      path: USER,
      summary: `Update: ${kind.title}`,
      permission: manage,
      event: kind.events.type,
      body: objectBody(kind),
      responses: { ...done, ...refusals, ...badRequest },
      async handle(call) {
        const body = await prepared(call, { id: user(call) })
        return writing((context) => users.replace(context, { id: user(call) }, body))(call)
      },
    },
    remove,
    {
      operationId: 'listUnmanagedAttributes',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/unmanagedAttributes',
      summary: 'List the unmanaged attributes of a user',
      permission: view,
      responses: { 200: { description: 'The attributes.', schema: kind.fields.attributes!.schema }, ...refusals },
      handle: reading((context, call) => listUnmanagedAttributes(context, user(call))),
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
      responses: { ...many(kinds.group), ...refusals },
      handle: reading((context, call) => listGroupsOf(context, user(call), call.query)),
    },
    {
      operationId: 'countUserGroups',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/groups/count',
      summary: 'Count the groups of a user',
      permission: view,
      query: groupSearch,
      responses: { 200: { description: 'The number.', schema: count }, ...refusals },
      handle: reading(async (context, call) => ({ count: await countGroupsOf(context, user(call), call.query) })),
    },
    {
      operationId: 'joinGroup',
      method: 'PUT',
      path: '/admin/realms/{realm}/users/{user-id}/groups/{groupId}',
      summary: 'Add a user to a group',
      permission: manage,
      event: { type: 'GROUP_MEMBERSHIP', operation: 'CREATE' },
      responses: { ...done, ...refusals },
      handle: writing((context, call) => setMembership(context, user(call), param(call, 'groupId'), 'add')),
    },
    {
      operationId: 'leaveGroup',
      method: 'DELETE',
      path: '/admin/realms/{realm}/users/{user-id}/groups/{groupId}',
      summary: 'Remove a user from a group',
      permission: manage,
      event: 'GROUP_MEMBERSHIP',
      responses: { ...done, ...refusals },
      handle: writing((context, call) => setMembership(context, user(call), param(call, 'groupId'), 'remove')),
    },
    {
      operationId: 'listFederatedIdentities',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/federated-identity',
      summary: 'List the federated identities of a user',
      permission: view,
      responses: { 200: { description: 'The accounts.', schema: identities.schema }, ...refusals },
      handle: reading((context, call) => listIdentities(context, user(call))),
    },
    {
      operationId: 'addFederatedIdentity',
      method: 'POST',
      path: '/admin/realms/{realm}/users/{user-id}/federated-identity/{provider}',
      summary: 'Link a user to an account of an identity provider (federated identity)',
      permission: manage,
      event: kind.events.type,
      body: identity,
      responses: { ...done, ...refusals, ...badRequest, ...taken },
      handle: writing(async (context, call) => {
        const body = await bodyBehind(call, async () => users.checkAccess?.(context, { id: user(call) }))
        await addIdentity(context, user(call), param(call, 'provider'), body as Representation)
      }),
    },
    {
      operationId: 'removeFederatedIdentity',
      method: 'DELETE',
      path: '/admin/realms/{realm}/users/{user-id}/federated-identity/{provider}',
      summary: 'Unlink a user from an identity provider (federated identity)',
      permission: manage,
      event: kind.events.type,
      responses: { ...done, ...refusals },
      handle: writing((context, call) => removeIdentity(context, user(call), param(call, 'provider'))),
    },
    {
      operationId: 'listUserConsents',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/consents',
      summary: 'List the consents of a user',
      permission: view,
      responses: { 200: { description: 'The consents, by client.', schema: consents }, ...refusals },
      handle: reading((context, call) => listConsents(context, user(call))),
    },
    {
      operationId: 'revokeUserConsent',
      method: 'DELETE',
      path: '/admin/realms/{realm}/users/{user-id}/consents/{client}',
      summary: 'Revoke the consent and offline tokens of a user for a client',
      permission: manage,
      event: { type: kind.events.type, operation: 'ACTION' },
      responses: { ...done, ...refusals },
      handle: writing((context, call) => revokeConsent(context, user(call), param(call, 'client'))),
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
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => listMembers(context, param(call, 'group-id'), call.query)),
    },
  ]),
]

/** The body with its credentials as they are kept: hashing takes its time, and comes before the transaction. */
async function prepared(call: Call, way: { id?: string }): Promise<Representation> {
  const read = <T>(work: (context: Context) => Promise<T>) => call.service.read(call.caller, param(call, 'realm'), work)
  const reach = (context: Context) => users.checkAccess!(context, way)
  const body = (await bodyBehind(call, () => read(reach))) as Representation
  if (!Array.isArray(body.credentials)) return body
  const make = await read(async (context) => {
    await reach(context)
    return passwordsFor(context, way, body)
  })
  return { ...body, credentials: await prepareCredentials(body.credentials as Representation[], make) }
}
