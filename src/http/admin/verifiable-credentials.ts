// The operations on verifiable credentials of users. Keycloak: without its feature for them, each refuses the call.
import { getLiveUser, users } from '../../service/admin-api/users/users.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { readHandler } from '../handlers.ts'
import { type Call, getParameter, type Method, type Operation, operationId, tagged } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'

const PATH = '/admin/realms/{realm}/users/{user-id}/vc'

const operations: readonly (readonly [Method, string, string, string])[] = [
  ['GET', '/credentials', 'list', 'List the verifiable credentials of a user'],
  ['POST', '/credentials', 'create', 'Create a verifiable credential of a user'],
  ['PUT', '/credentials/send-credential-offer', 'send', 'Send an offer of a verifiable credential to a user'],
  ['PUT', '/credentials/{credentialScopeName}', 'update', 'Update a verifiable credential of a user'],
  ['DELETE', '/credentials/{credentialScopeName}', 'delete', 'Revoke a verifiable credential of a user'],
  ['GET', '/issued-credentials', 'list', 'List the issued verifiable credentials of a user'],
  ['DELETE', '/issued-credentials/{id}', 'delete', 'Revoke an issued verifiable credential of a user'],
]

/** The operations on verifiable credentials of users, which Regent does not issue. */
export const verifiableCredentialOperations: Operation[] = tagged(
  'Users',
  operations.map(([method, path, verb, summary]) => {
    const permission = method === 'GET' ? users.view : users.manage
    return {
      operationId: operationId(verb, `${PATH}${path}`),
      method,
      path: `${PATH}${path}`,
      summary,
      description:
        'Regent does not issue verifiable credentials: returns 400, as Keycloak without the feature oid4vc-vci.',
      permission,
      ...(method !== 'GET' && { event: false as const }),
      responses: { ...errorResponses, ...badRequest },
      handle: readHandler(async (context: Context, call: Call) => {
        await getLiveUser(context, getParameter(call, 'user-id'))
        requirePermissions(context, permission)
        throw failure('invalid', 'Feature oid4vc-vci not enabled')
      }),
    }
  }),
)
