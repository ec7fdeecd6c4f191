// The operations on sessions.
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { createIdentityCookies } from '../../oidc/login/session/sso-session.ts'
import { getFrontendUrl, getIssuer, readOidcRealm } from '../../oidc/oidc-realm.ts'
import {
  countClientSessions,
  endSession,
  impersonate,
  listClientSessionStats,
  listClientSessions,
  listUserOfflineSessions,
  listUserSessions,
  logOutAll,
  logOutUser,
} from '../../service/admin-api/users/sessions.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Answer, type Call, getParameter, type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { errorResponses, noContentResponse } from '../responses.ts'
import { notificationResponses, notifyingHandler } from './notify-clients.ts'

/** A session of a user. */
export const session = nameSchema(
  'UserSessionRepresentation',
  z.object({
    id: z.string().describe('Id of the session.'),
    username: z.string().describe('Username.'),
    userId: z.string().describe('Id of the user.'),
    ipAddress: z.string().optional().describe('IP address of the login.'),
    start: z.int().describe('Time of the login, in milliseconds since 1970.'),
    lastAccess: z.int().describe('Time of the last use, in milliseconds since 1970.'),
    rememberMe: z.boolean().describe('Whether the user chose "remember me".'),
    clients: z.record(z.string(), z.string()).describe('Clients of the session: client id by id.'),
    transientUser: z.boolean().describe('Whether the user is not stored. Always false.'),
  }),
)
const sessions = {
  200: { description: 'The sessions, latest first.', schema: z.array(session) },
  ...errorResponses,
}
const count = {
  200: {
    description: 'The number of sessions.',
    schema: z.object({ count: z.number().describe('Number of sessions.') }),
  },
  ...errorResponses,
}
const stats = z.array(
  z.object({
    offline: z.string().describe('Number of offline sessions, as a text.'),
    clientId: z.string().describe('Client id.'),
    active: z.string().describe('Number of user sessions, as a text.'),
    id: z.string().describe('Id of the client.'),
  }),
)

const impersonation = z.object({
  redirect: z.string().describe('URL of the account console, to which the caller is redirected.'),
  sameRealm: z
    .boolean()
    .describe('Whether the caller belongs to the same realm. The session of the caller has then ended.'),
})
const client = (call: Call) => getParameter(call, 'client-uuid')
const user = (call: Call) => getParameter(call, 'user-id')

/** The operations that list and count the sessions of a client. */
const ofClients = (['user', 'offline'] as const).flatMap((sessionType): UntaggedOperation[] => {
  const offline = sessionType === 'offline'
  return [
    {
      operationId: offline ? 'listClientOfflineSessions' : 'listClientSessions',
      method: 'GET',
      path: offline
        ? '/admin/realms/{realm}/clients/{client-uuid}/offline-sessions'
        : '/admin/realms/{realm}/clients/{client-uuid}/user-sessions',
      summary: offline ? 'List the offline sessions of a client' : 'List the user sessions of a client',
      permission: 'view-clients',
      query: z.object(page),
      responses: sessions,
      handle: readHandler((context, call) =>
        listClientSessions(context, { client: client(call), offline }, call.query),
      ),
    },
    {
      operationId: offline ? 'countClientOfflineSessions' : 'countClientSessions',
      method: 'GET',
      path: offline
        ? '/admin/realms/{realm}/clients/{client-uuid}/offline-session-count'
        : '/admin/realms/{realm}/clients/{client-uuid}/session-count',
      summary: offline ? 'Count the offline sessions of a client' : 'Count the user sessions of a client',
      permission: 'view-clients',
      responses: count,
      handle: readHandler((context, call) => countClientSessions(context, { client: client(call), offline })),
    },
  ]
})

/** The operations on sessions of users and clients. */
export const sessionOperations: Operation[] = [
  ...tagged('Users', [
    {
      operationId: 'listUserSessions',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/sessions',
      summary: 'List the sessions of a user',
      permission: 'view-users',
      responses: sessions,
      handle: readHandler((context, call) => listUserSessions(context, user(call))),
    },
    {
      operationId: 'listUserOfflineSessions',
      method: 'GET',
      path: '/admin/realms/{realm}/users/{user-id}/offline-sessions/{clientUuid}',
      summary: 'List the offline sessions of a user for a client',
      permission: 'view-users',
      responses: sessions,
      handle: readHandler((context, call) =>
        listUserOfflineSessions(context, user(call), getParameter(call, 'clientUuid')),
      ),
    },
    {
      operationId: 'logUserOut',
      method: 'POST',
      path: '/admin/realms/{realm}/users/{user-id}/logout',
      summary: 'Log out a user from all sessions',
      permission: 'manage-users',
      event: { type: 'USER', operation: 'ACTION', asCalled: true },
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => logOutUser(context, user(call))),
    },
    {
      operationId: 'impersonateUser',
      method: 'POST',
      path: '/admin/realms/{realm}/users/{user-id}/impersonation',
      summary: 'Impersonate a user',
      permission: 'impersonation',
      event: false,
      responses: { 200: { description: 'The URL to continue with.', schema: impersonation }, ...errorResponses },
      handle: impersonating,
    },
  ]),
  ...tagged('Clients', ofClients),
  ...tagged('Realms Admin', [
    {
      operationId: 'getSessionStats',
      method: 'GET',
      path: '/admin/realms/{realm}/client-session-stats',
      summary: 'Get client session statistics',
      permission: 'view-realm',
      responses: { 200: { description: 'The statistics by client.', schema: stats }, ...errorResponses },
      handle: readHandler(listClientSessionStats),
    },
    {
      operationId: 'pushRevocation',
      method: 'POST',
      path: '/admin/realms/{realm}/push-revocation',
      summary: 'Push the not-before revocation policy to all clients',
      permission: 'manage-realm',
      event: { type: 'REALM', operation: 'ACTION', asCalled: true },
      responses: notificationResponses,
      handle: notifyingHandler('PUSH_NOT_BEFORE', async (context) => requirePermissions(context, 'manage-realm')),
    },
    {
      operationId: 'logOutAllUsers',
      method: 'POST',
      path: '/admin/realms/{realm}/logout-all',
      summary: 'Log out all users: end all sessions and offline sessions',
      permission: 'manage-users',
      event: { type: 'REALM', operation: 'ACTION', asCalled: true },
      responses: notificationResponses,
      handle: notifyingHandler('LOGOUT', (context) => logOutAll(context)),
    },
    {
      operationId: 'deleteSession',
      method: 'DELETE',
      path: '/admin/realms/{realm}/sessions/{session}',
      summary: 'Delete a user session',
      permission: 'manage-users',
      event: 'USER_SESSION',
      query: z.object({ isOffline: queryFlag.describe('Whether the session is an offline session. Default: false.') }),
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) =>
        endSession(context, getParameter(call, 'session'), call.query.isOffline === true),
      ),
    },
  ]),
]

async function impersonating(call: Call): Promise<Answer> {
  const { service, caller, base } = call
  const realm = await service.read(caller, getParameter(call, 'realm'), readOidcRealm)
  const sameRealm = caller.user?.realm === realm.name
  const endedSession = sameRealm ? caller.user?.session : undefined
  const session = await service.writeRuntime(caller, realm, (context) => impersonate(context, user(call), endedSession))
  return {
    status: 200,
    body: { redirect: `${getIssuer(base, realm)}/account`, sameRealm },
    cookies: createIdentityCookies(
      { service, realm },
      { base: getFrontendUrl(base, realm), realm: realm.name },
      { session, maxAge: Number.POSITIVE_INFINITY },
    ),
  }
}
