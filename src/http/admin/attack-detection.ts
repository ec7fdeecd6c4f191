import * as z from 'zod'
import { clearLoginFailures, getLoginFailures } from '../../service/admin-api/users/login-failures.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { errorResponses, noContentResponse } from '../responses.ts'

const failures = z
  .object({
    failedLoginNotBefore: z
      .number()
      .describe('Until when log-ins are refused: seconds since 1970, 0 where they are not.'),
    numFailures: z.int().describe('How many log-ins failed since the last that did not.'),
    numTemporaryLockouts: z.int().describe('How often the account was locked for a time.'),
    disabled: z.boolean().describe('Whether log-ins are refused now.'),
    numSecondaryAuthFailures: z.int().describe('How many one-time codes were wrong.'),
    lastIPFailure: z.string().describe('Where the last failure came from; n/a where there was none.'),
    lastFailure: z.number().describe('When it was: milliseconds since 1970, 0 where there was none.'),
  })
  .describe('The failures.')

const event = 'USER_LOGIN_FAILURE'

/** Failures to log in, and the locks that follow from them. */
export const attackDetectionOperations: Operation[] = tagged('Attack Detection', [
  {
    operationId: 'getUserLoginFailures',
    method: 'GET',
    path: '/admin/realms/{realm}/attack-detection/brute-force/users/{userId}',
    summary: 'Get the brute-force detection status of a user',
    permission: 'view-users',
    responses: { 200: { description: 'The failures.', schema: failures }, ...errorResponses },
    handle: readHandler((context, call) => getLoginFailures(context, getParameter(call, 'userId'))),
  },
  {
    operationId: 'forgetUserLoginFailures',
    method: 'DELETE',
    path: '/admin/realms/{realm}/attack-detection/brute-force/users/{userId}',
    summary: 'Clear the login failures of a user, and unlock the user',
    permission: 'manage-users',
    event,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => clearLoginFailures(context, getParameter(call, 'userId'))),
  },
  {
    operationId: 'forgetLoginFailures',
    method: 'DELETE',
    path: '/admin/realms/{realm}/attack-detection/brute-force/users',
    summary: 'Clear the login failures of all users',
    permission: 'manage-users',
    event,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context) => clearLoginFailures(context)),
  },
])
