// The operations on LDAP user stores, and the tests of their connections.
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { listLdapCapabilities, testLdapConnection } from '../../service/admin-api/realms/ldap-connections.ts'
import {
  getStoreName,
  removeImportedUsers,
  type SynchronizationResult,
  synchronizeMapper,
  synchronizeStore,
  unlinkUsers,
} from '../../service/admin-api/realms/user-storage.ts'
import { describeAdminEvent } from '../../service/journal/admin-events.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import type { BodyForm } from '../body.ts'
import { recordEvent } from '../event.ts'
import { readHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const STORE = '/admin/realms/{realm}/user-storage/{id}'

const result = nameSchema(
  'SynchronizationResult',
  z.object({
    ignored: z.boolean().describe('Whether nothing was synchronized. Always false.'),
    added: z.int().describe('Number of created users, groups or roles.'),
    updated: z.int().describe('Number of existing ones.'),
    removed: z.int().describe('Number of deleted ones.'),
    failed: z.int().describe('Number of entries that were not imported. The log names them.'),
    status: z.string().describe('The counts as a sentence.'),
  }),
)
const resultResponse = { 200: { description: 'The counts.', schema: result }, ...errorResponses }

const setting = (description: string) => z.string().nullish().describe(description)
const testedSettings = nameSchema(
  'TestLdapConnectionRepresentation',
  z.strictObject({
    action: setting(
      '`testConnection`, or `testAuthentication`, which also authenticates; `queryServerCapabilities` to list capabilities.',
    ),
    connectionUrl: setting('Address of the directory. Several are separated by spaces.'),
    bindDn: setting('DN with which to authenticate.'),
    bindCredential: setting('Password. The mask means that of the component, if address and DN are stored, too.'),
    useTruststoreSpi: setting('Stored only: certificates are verified with the certificate authorities of the server.'),
    connectionTimeout: setting('Milliseconds until the connection must be established.'),
    startTls: setting('Whether the connection is upgraded to TLS: true or false.'),
    authType: setting('`simple` or `none`.'),
    componentId: setting('Id of the component whose password the mask means.'),
  }),
)
const settings: BodyForm = {
  schema: testedSettings,
  description: 'The settings of the directory.',
  representation: 'TestLdapConnectionRepresentation',
  acceptsForm: true,
}

const capability = nameSchema(
  'LDAPCapabilityRepresentation',
  z.object({
    oid: z.string().describe('Object identifier.'),
    type: z.enum(['CONTROL', 'EXTENSION', 'FEATURE']).describe('Type of the capability.'),
  }),
)

const realmOf = (call: Call) => getParameter(call, 'realm')
const storeOf = (call: Call) => ({ realm: realmOf(call), id: getParameter(call, 'id') })
const readQuery = ({ query }: Call, name: string) => (query[name] === undefined ? undefined : String(query[name]))

/** The operations on LDAP user stores. */
export const userStorageOperations: Operation[] = [
  ...tagged('Component', [
    {
      operationId: 'getUserStorageName',
      method: 'GET',
      path: `${STORE}/name`,
      summary: 'Get the name of a user federation provider',
      permission: 'list-users',
      responses: {
        200: {
          description: 'The id and the name.',
          schema: z.object({ id: z.string().describe('Id.'), name: z.string().describe('Name.') }),
        },
        ...errorResponses,
      },
      handle: readHandler((context, call) => getStoreName(context, getParameter(call, 'id'))),
    },
    {
      operationId: 'syncUserStorage',
      method: 'POST',
      path: `${STORE}/sync`,
      summary: 'Synchronize the users of a user federation provider',
      permission: 'manage-users',
      event: { type: 'REALM', operation: 'ACTION' },
      query: z.object({
        action: z
          .string()
          .optional()
          .describe('`triggerFullSync`, or `triggerChangedUsersSync` for users that have changed since the last one.'),
      }),
      responses: resultResponse,
      async handle(call) {
        const action = readQuery(call, 'action')
        return withEvent(call, action, await synchronizeStore(call.service, call.caller, { ...storeOf(call), action }))
      },
    },
    {
      operationId: 'removeImportedUsers',
      method: 'POST',
      path: `${STORE}/remove-imported-users`,
      summary: 'Delete the users that were imported from a user federation provider',
      permission: 'manage-users',
      event: false,
      responses: { ...noContentResponse, ...errorResponses },
      async handle(call) {
        await removeImportedUsers(call.service, call.caller, storeOf(call))
        return { status: 204 }
      },
    },
    {
      operationId: 'unlinkUsers',
      method: 'POST',
      path: `${STORE}/unlink-users`,
      summary: 'Make the users that were imported from a user federation provider local',
      permission: 'manage-users',
      event: false,
      responses: { ...noContentResponse, ...errorResponses },
      async handle(call) {
        await unlinkUsers(call.service, call.caller, storeOf(call))
        return { status: 204 }
      },
    },
    {
      operationId: 'syncUserStorageMapper',
      method: 'POST',
      path: '/admin/realms/{realm}/user-storage/{parentId}/mappers/{id}/sync',
      summary: 'Synchronize the groups or roles of an LDAP mapper',
      permission: 'manage-users',
      event: { type: 'REALM', operation: 'ACTION' },
      query: z.object({
        direction: z
          .string()
          .optional()
          .describe('`fedToKeycloak` from the directory, or `keycloakToFed` to the directory.'),
      }),
      responses: resultResponse,
      async handle(call) {
        const direction = readQuery(call, 'direction')
        const address = { ...storeOf(call), store: getParameter(call, 'parentId'), direction }
        return withEvent(call, direction, await synchronizeMapper(call.service, call.caller, address))
      },
    },
  ]),
  ...tagged('Realms Admin', [
    {
      operationId: 'testLDAPConnection',
      method: 'POST',
      path: '/admin/realms/{realm}/testLDAPConnection',
      summary: 'Test the connection to an LDAP directory',
      permission: 'manage-realm',
      event: false,
      body: settings,
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      async handle(call) {
        await testLdapConnection(call.service, call.caller, await readTest(call))
        return { status: 204 }
      },
    },
    {
      operationId: 'listLDAPCapabilities',
      method: 'POST',
      path: '/admin/realms/{realm}/ldap-server-capabilities',
      summary: 'List the capabilities of an LDAP directory',
      permission: 'manage-realm',
      event: false,
      body: settings,
      responses: {
        200: { description: 'The capabilities.', schema: z.array(capability) },
        ...errorResponses,
        ...badRequest,
      },
      async handle(call) {
        return { status: 200, body: await listLdapCapabilities(call.service, call.caller, await readTest(call)) }
      },
    },
  ]),
]

/** Returns the response with the result of a synchronization, after its admin event is recorded. */
async function withEvent(call: Call, action: string | undefined, result: SynchronizationResult) {
  await call.service.write(call.caller, realmOf(call), async (context) => {
    describeAdminEvent(context, { representation: { result: { ...result }, action: action ?? '' } })
    recordEvent(context, call)
  })
  return { status: 200, body: result }
}

async function readTest(call: Call) {
  const realm = realmOf(call)
  const body = await readBodyAfter(call, () =>
    call.service.read(call.caller, realm, async (context) => requirePermissions(context, 'manage-realm')),
  )
  return { realm, settings: testedSettings.parse(body ?? {}) }
}
