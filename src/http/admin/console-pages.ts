// The operations that only Keycloak's admin console calls: lists in the form in which its pages show them. Keycloak: ui-ext.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
import { profileSchema } from '../../kinds/user-profile.ts'
import { listFlowsWithUsers, listFlowUsers } from '../../service/admin-api/authentication/authentication-flows.ts'
import { listConfigurableActions } from '../../service/admin-api/authentication/required-actions.ts'
import { parsePage } from '../../service/admin-api/common/list-query.ts'
import { EVENT_LISTENERS, GLOBAL_LISTENER } from '../../service/admin-api/realms/events.ts'
import { listRealmNames, replaceRealm } from '../../service/admin-api/realms/realms.ts'
import {
  listAllEffectiveRoles,
  listAvailableClientRoles,
  listCompositesByClient,
  listEffectiveClientRoles,
  type RoleOwner,
  type RoleOwnerType,
  removeRolesOfOwner,
  requireChangeableRoles,
  roleOwnerTypes,
} from '../../service/admin-api/roles/console-roles.ts'
import { listSessionsOfRealm } from '../../service/admin-api/users/sessions.ts'
import { replaceProfileConfig } from '../../service/admin-api/users/user-profile.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { mapUserStores } from '../../service/users/user-store.ts'
import { bodySchema, objectBody } from '../body.ts'
import { recordEvent } from '../event.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged, type UntaggedOperation } from '../operation.ts'
import { queryNumber } from '../query.ts'
import { representationOf } from '../representations.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { session } from './sessions.ts'
import { listUsersForConsole } from './users.ts'

const UI = '/admin/realms/{realm}/ui-ext'

const pageQuery = z.object({
  search: z.string().optional().describe('Part of the name.'),
  first: queryNumber.describe('Number of elements to skip. Default: 0.'),
  max: queryNumber.describe('Maximum number of elements to return. Default: 10.'),
})

/** Keycloak: pages have ten elements by default. Its console asks for eleven, to know whether there are more. */
function pageOf({ query }: Call) {
  const { first = 0, max = 10 } = parsePage(query)
  return { search: String(query.search ?? ''), first, max }
}

const roleOfClient = nameSchema(
  'ClientRole',
  z.object({
    id: z.string().describe('Id of the role.'),
    role: z.string().describe('Name of the role.'),
    client: z.string().describe('Client id of the client.'),
    clientId: z.string().describe('Id of the client, not its client id.'),
    description: z.string().optional().describe('Description of the role.'),
  }),
)
const effectiveRole = nameSchema(
  'EffectiveRole',
  z.object({
    id: z.string().describe('Id of the role.'),
    name: z.string().describe('Name of the role.'),
    description: z.string().optional().describe('Description of the role.'),
    clientRole: z.boolean().describe('Whether the role is one of a client.'),
    client: z.string().optional().describe('Client id of the client.'),
    clientId: z.string().optional().describe('Id of the client, not its client id.'),
  }),
)
const composite = nameSchema(
  'CompositeRole',
  z.object({
    id: z.string().describe('Id of the role.'),
    name: z.string().describe('Name of the role.'),
    description: z.string().optional().describe('Description of the role.'),
    composite: z.boolean().describe('Whether the role is a composite role.'),
    clientRole: z.boolean().describe('Whether the role is one of a client.'),
    containerId: z.string().describe('Client id of the client, or id of the realm.'),
  }),
)
const compositesOfClient = nameSchema(
  'CompositesOfClient',
  z.object({
    id: z.string().describe('Id of the client.'),
    client: z.string().describe('Client id of the client.'),
    mappings: z.array(composite).describe('Roles of the client.'),
  }),
)
const composites = nameSchema(
  'RoleMappingRepresentation',
  z.object({
    realmMappings: z.array(composite).optional().describe('Realm roles. Absent if there are none.'),
    clientMappings: z
      .record(z.string(), compositesOfClient)
      .optional()
      .describe('Client roles, by client id. Absent if there are none.'),
  }),
)
const roleReference = z.object({
  roleId: z.string().nullish().describe('Id of the role.'),
  roleName: z.string().nullish().describe('Name of the role. Ignored.'),
  clientId: z.string().nullish().describe('Id of the client. Ignored.'),
})

const roleReferences = z.array(roleReference)

/** The owners of roles in summaries, with the permissions that their operations need. */
const owners = {
  users: {
    parameter: 'user-id',
    subject: 'a user',
    view: 'view-users',
    manage: 'manage-users',
    event: 'REALM_ROLE_MAPPING',
  },
  groups: {
    parameter: 'group-id',
    subject: 'a group',
    view: 'view-users',
    manage: 'manage-users',
    event: 'REALM_ROLE_MAPPING',
  },
  clients: {
    parameter: 'client-uuid',
    subject: 'a client',
    view: 'view-clients',
    manage: 'manage-clients',
    event: 'CLIENT_SCOPE_MAPPING',
  },
  clientScopes: {
    parameter: 'client-scope-id',
    subject: 'a client scope',
    view: 'view-clients',
    manage: 'manage-clients',
    event: 'CLIENT_SCOPE_MAPPING',
  },
  roles: {
    parameter: 'role-id',
    subject: 'a composite role',
    view: 'view-realm',
    manage: 'manage-realm',
    event: 'REALM_ROLE',
  },
} as const satisfies Record<RoleOwnerType, object>

function roleOperationsOf(type: RoleOwnerType): UntaggedOperation[] {
  const { parameter, subject, view, manage, event } = owners[type]
  const ownerOf = (call: Call): RoleOwner => ({ type, id: getParameter(call, parameter) })
  const name = `${type[0]!.toUpperCase()}${type.slice(1)}`
  return [
    {
      operationId: `listAvailableRolesOf${name}`,
      method: 'GET',
      path: `${UI}/available-roles/${type}/{${parameter}}`,
      summary: `List the client roles that can be added to ${subject}`,
      permission: type === 'roles' ? 'see-realm' : view,
      query: pageQuery,
      responses: { 200: { description: 'The roles.', schema: z.array(roleOfClient) }, ...errorResponses },
      handle: readHandler((context, call) => listAvailableClientRoles(context, ownerOf(call), pageOf(call))),
    },
    {
      operationId: `listEffectiveClientRolesOf${name}`,
      method: 'GET',
      path: `${UI}/effective-roles/${type}/{${parameter}}`,
      summary: `List the effective client roles of ${subject}`,
      permission: type === 'roles' ? 'list-roles' : view,
      responses: { 200: { description: 'The roles.', schema: z.array(roleOfClient) }, ...errorResponses },
      handle: readHandler((context, call) => listEffectiveClientRoles(context, ownerOf(call))),
    },
    {
      operationId: `listEffectiveRolesOf${name}`,
      method: 'GET',
      path: `${UI}/effective-roles-all/${type}/{${parameter}}`,
      summary: `List all effective roles of ${subject}`,
      permission: view,
      responses: { 200: { description: 'The roles.', schema: z.array(effectiveRole) }, ...errorResponses },
      handle: readHandler((context, call) => listAllEffectiveRoles(context, ownerOf(call))),
    },
    {
      operationId: `removeRolesFrom${name}`,
      method: 'POST',
      path: `${UI}/role-mapping-delete/${type}/{${parameter}}`,
      summary: `Remove realm roles and client roles from ${subject}`,
      permission: manage,
      event: { type: event, operation: 'DELETE', asCalled: true },
      body: { schema: roleReferences, description: 'The roles.', representation: 'RoleDeleteRequest' },
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      handle: writeHandler(async (context, call) => {
        const owner = ownerOf(call)
        const body = await readBodyAfter(call, () => requireChangeableRoles(context, owner))
        const ids = roleReferences.parse(body).flatMap(({ roleId }) => roleId ?? [])
        await removeRolesOfOwner(context, owner, ids)
      }),
    },
  ]
}

const sessionType = ['ALL', 'REGULAR', 'OFFLINE'] as const
const sessionQuery = pageQuery.extend({
  search: z.string().optional().describe('Part of the username, of the IP address or of a client id.'),
  type: z.enum(sessionType).optional().describe('Kind of the sessions: ALL, REGULAR or OFFLINE. Default: ALL.'),
})
const typedSession = session
  .omit({ rememberMe: true })
  .extend({ type: z.enum(['REGULAR', 'OFFLINE']).describe('Kind of the session.') })

function listSessions(operationId: string, ofClient: boolean): UntaggedOperation {
  const clientId = { clientId: z.string().optional().describe('Id of the client, not its client id.') }
  return {
    operationId,
    method: 'GET',
    path: `${UI}/sessions${ofClient ? '/client' : ''}`,
    summary: `List the user sessions and offline sessions of a ${ofClient ? 'client' : 'realm'}`,
    permission: ofClient ? 'view-clients' : 'view-realm',
    query: ofClient ? sessionQuery.extend(clientId) : sessionQuery,
    responses: { 200: { description: 'The sessions.', schema: z.array(typedSession) }, ...errorResponses },
    handle: readHandler((context, call) => {
      const { search, ...page } = pageOf(call)
      const type = sessionType.find((sessionType) => sessionType === call.query.type) ?? 'ALL'
      const client = ofClient ? String(call.query.clientId ?? '') : undefined
      return listSessionsOfRealm(context, client, { type, search, page })
    }),
  }
}

const flow = nameSchema(
  'Authentication',
  z.object({
    id: z.string().describe('Id of the flow.'),
    alias: z.string().describe('Alias of the flow.'),
    builtIn: z.boolean().describe('Whether the flow is built in.'),
    description: z.string().optional().describe('Description of the flow.'),
    usedBy: z
      .object({
        type: z.enum(['SPECIFIC_CLIENTS', 'SPECIFIC_PROVIDERS', 'DEFAULT']).describe('What uses the flow.'),
        values: z.array(z.string()).describe('The first names of the clients or identity providers, or the alias.'),
      })
      .optional()
      .describe('What uses the flow. Absent if nothing does.'),
  }),
)

const authenticationOperations: UntaggedOperation[] = [
  {
    operationId: 'listFlowsWithUsers',
    method: 'GET',
    path: `${UI}/authentication-management/flows`,
    summary: 'List the authentication flows with what uses each',
    permission: 'list-flows',
    responses: { 200: { description: 'The flows.', schema: z.array(flow) }, ...errorResponses },
    handle: readHandler(listFlowsWithUsers),
  },
  ...(['clients', 'idp'] as const).map(
    (type): UntaggedOperation => ({
      operationId: type === 'clients' ? 'listClientsOfFlow' : 'listIdentityProvidersOfFlow',
      method: 'GET',
      path: `${UI}/authentication-management/${type}/{flow-id}`,
      summary: `List the ${type === 'clients' ? 'clients' : 'identity providers'} that use an authentication flow`,
      permission: 'list-flows',
      query: pageQuery,
      responses: { 200: { description: 'The names.', schema: z.array(z.string()) }, ...errorResponses },
      handle: readHandler((context, call) =>
        listFlowUsers(context, { id: getParameter(call, 'flow-id'), type }, pageOf(call)),
      ),
    }),
  ),
  {
    operationId: 'listConfigurableRequiredActions',
    method: 'GET',
    path: `${UI}/authentication-management/required-actions`,
    summary: 'List the required actions with whether each has settings',
    permission: 'list-required-actions',
    responses: {
      200: {
        description: 'The required actions.',
        schema: z.array(
          representationOf(kinds.requiredAction).and(
            z.object({ configurable: z.boolean().describe('Whether the required action has settings.') }),
          ),
        ),
      },
      ...errorResponses,
    },
    handle: readHandler(listConfigurableActions),
  },
]

const realmBody = objectBody(kinds.realm)

const realmOperations: UntaggedOperation[] = [
  {
    operationId: 'updateRealmAndUserProfile',
    method: 'PUT',
    path: UI,
    summary: 'Update a realm and its user profile configuration',
    permission: 'manage-realm',
    event: 'REALM',
    body: {
      ...realmBody,
      schema: bodySchema(kinds.realm).extend({
        upConfig: profileSchema.nullish().describe('The user profile configuration. Absent: it stays.'),
      }),
    },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: async (call) => {
      const realm = getParameter(call, 'realm')
      const lookUp = () => call.service.read(call.caller, realm, async () => {})
      const { upConfig, ...settings } = z.record(z.string(), z.json()).parse(await readBodyAfter(call, lookUp))
      const profile = profileSchema.nullish().parse(upConfig)
      // A new name is written in the master realm too.
      const withMaster = typeof settings.realm === 'string' && settings.realm !== realm
      const work = async (context: WriteContext) => {
        await replaceRealm(context, settings)
        recordEvent(context, call)
        if (profile) await replaceProfileConfig(context, profile)
      }
      await call.service.write(call.caller, { realm, withMaster }, work)
      return { status: 204 }
    },
  },
  {
    operationId: 'getRealmInfo',
    method: 'GET',
    path: `${UI}/info`,
    summary: 'Get whether a realm has user federation providers',
    permission: 'see-realm',
    responses: {
      200: {
        description: 'The information.',
        schema: z.object({
          userProfileProvidersEnabled: z.boolean().describe('Whether a user federation provider is enabled.'),
        }),
      },
      ...errorResponses,
    },
    handle: readHandler(async (context) => {
      requirePermissions(context, 'see-realm')
      const stores = [...(await mapUserStores(context)).values()]
      return { userProfileProvidersEnabled: stores.some(({ isEnabled }) => isEnabled) }
    }),
  },
  {
    operationId: 'listRealmNames',
    method: 'GET',
    path: `${UI}/realms/names`,
    summary: 'List the names of the realms that are visible to the caller',
    permission: 'see-realm',
    query: pageQuery,
    responses: {
      200: {
        description: 'The names.',
        schema: z.array(
          z.object({
            name: z.string().describe('Name of the realm.'),
            displayName: z.string().optional().describe('Display name of the realm.'),
          }),
        ),
      },
      ...errorResponses,
    },
    handle: async (call) => {
      await call.service.read(call.caller, getParameter(call, 'realm'), async (context) =>
        requirePermissions(context, 'see-realm'),
      )
      return { status: 200, body: await listRealmNames(call.service, call.caller, pageOf(call)) }
    },
  },
  {
    operationId: 'listEventListeners',
    method: 'GET',
    path: `${UI}/available-event-listeners`,
    summary: 'List the event listeners that a realm can have',
    permission: 'view-events',
    responses: {
      200: {
        description: 'The event listeners.',
        schema: z.array(z.object({ id: z.string().describe('Id of the event listener.') })),
      },
      ...errorResponses,
    },
    handle: readHandler(async (context) => {
      requirePermissions(context, 'view-events')
      return EVENT_LISTENERS.filter((id) => id !== GLOBAL_LISTENER).map((id) => ({ id }))
    }),
  },
]

/** The operations of the pages of the admin console. */
export const consolePageOperations: Operation[] = tagged('Admin Console', [
  ...realmOperations,
  ...roleOwnerTypes.flatMap(roleOperationsOf),
  {
    operationId: 'listCompositesByClient',
    method: 'GET',
    path: `${UI}/role-mappings/roles/{role-id}`,
    summary: 'Get all roles of a composite role',
    permission: 'view-realm',
    responses: { 200: { description: 'The roles.', schema: composites }, ...errorResponses },
    handle: readHandler((context, call) => listCompositesByClient(context, getParameter(call, 'role-id'))),
  },
  listUsersForConsole,
  listSessions('listSessionsOfRealm', false),
  listSessions('listSessionsOfClient', true),
  ...authenticationOperations,
])
