// The operations on sessions.
import * as z from 'zod'
import { createIdentityCookies } from '../../oidc/login/session/sso-session.ts'
import { getIssuer, readOidcRealm } from '../../oidc/oidc-realm.ts'
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

const session = z.object({
  id: z.string().describe('Id of the session.'),
  username: z.string().describe('Name of its user.'),
  userId: z.string().describe('Id of its user.'),
  ipAddress: z.string().optional().describe('Where the user logged in from.'),
  start: z.number().describe('When it began, in milliseconds since 1970.'),
  lastAccess: z.number().describe('When it was used last, in milliseconds since 1970.'),
  rememberMe: z.boolean().describe('Whether the user chose to be remembered.'),
  clients: z.record(z.string(), z.string()).describe('The clients that have a part in it: client id by id.'),
  transientUser: z.boolean().describe('Whether its user is kept nowhere, sessionType none is.'),
})
const sessions = {
  200: { description: 'The sessions, the latest first.', schema: z.array(session) },
  ...errorResponses,
}
const count = {
  200: {
    description: 'How many there are.',
    schema: z.object({ count: z.number().describe('How many sessions there are.') }),
  },
  ...errorResponses,
}
const stats = z.array(
  z.object({
    offline: z.string().describe('How many offline sessions the client has.'),
    clientId: z.string().describe('Name of the client.'),
    active: z.string().describe('How many other sessions it has.'),
    id: z.string().describe('Id of the client.'),
  }),
)

const impersonation = z.object({
  redirect: z.string().describe('The address of the account of the user.'),
  sameRealm: z.boolean().describe('Whether the caller is of that realm, and has endedSession a session for this one.'),
})
const client = (call: Call) => getParameter(call, 'client-uuid')
const user = (call: Call) => getParameter(call, 'user-id')

/** The sessions of a client, and how many they are. */
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

/** Sessions of users and clients, and their end. */
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
      responses: { 200: { description: 'Where the session goes on.', schema: impersonation }, ...errorResponses },
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
      responses: { 200: { description: 'The numbers, by client.', schema: stats }, ...errorResponses },
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
      operationId: 'logEverybodyOut',
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
      query: z.object({ isOffline: queryFlag.describe('Whether it is an offline session.') }),
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
    body: { redirect: `${getIssuer(base, realm.name)}/account`, sameRealm },
    cookies: createIdentityCookies(
      { service, realm },
      { base, realm: realm.name },
      { session, maxAge: Number.POSITIVE_INFINITY },
    ),
  }
}
