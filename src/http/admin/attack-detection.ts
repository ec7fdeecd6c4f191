import * as z from 'zod'
import { clearLoginFailures, getLoginFailures } from '../../service/admin-api/users/login-failures.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { errorResponses, noContentResponse } from '../responses.ts'

const failures = z
  .object({
    failedLoginNotBefore: z
      .number()
      .describe('Time until which the user is locked, in seconds since 1970. 0: the user is not locked.'),
    numFailures: z.int().describe('Number of failed logins since the last successful one.'),
    numTemporaryLockouts: z.int().describe('Number of temporary lockouts.'),
    disabled: z.boolean().describe('Whether the user is locked.'),
    numSecondaryAuthFailures: z.int().describe('Number of failed one-time codes.'),
    lastIPFailure: z.string().describe('IP address of the last failed login; n/a if there is none.'),
    lastFailure: z.int().describe('Time of the last failed login, in milliseconds since 1970. 0 if there is none.'),
  })
  .describe('Brute-force detection status of a user.')

const event = 'USER_LOGIN_FAILURE'

/** The operations on login failures and locked users. */
export const attackDetectionOperations: Operation[] = tagged('Attack Detection', [
  {
    operationId: 'getUserLoginFailures',
    method: 'GET',
    path: '/admin/realms/{realm}/attack-detection/brute-force/users/{userId}',
    summary: 'Get the brute-force detection status of a user',
    permission: 'view-users',
    responses: { 200: { description: 'The status.', schema: failures }, ...errorResponses },
    handle: readHandler((context, call) => getLoginFailures(context, getParameter(call, 'userId'))),
  },
  {
    operationId: 'clearUserLoginFailures',
    method: 'DELETE',
    path: '/admin/realms/{realm}/attack-detection/brute-force/users/{userId}',
    summary: 'Clear the login failures of a user, and unlock the user',
    permission: 'manage-users',
    event,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => clearLoginFailures(context, getParameter(call, 'userId'))),
  },
  {
    operationId: 'clearLoginFailures',
    method: 'DELETE',
    path: '/admin/realms/{realm}/attack-detection/brute-force/users',
    summary: 'Clear the login failures of all users',
    permission: 'manage-users',
    event,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context) => clearLoginFailures(context)),
  },
])
