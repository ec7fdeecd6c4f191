// The operations on the secrets of a client.
import type * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import {
  deleteRotatedSecret,
  getRotatedSecret,
  getSecret,
  regenerateSecret,
} from '../../service/admin-api/clients/client-secrets.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { recordEvent } from '../event.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type UntaggedOperation } from '../operation.ts'
import { errorResponses, noContentResponse } from '../responses.ts'

const { type } = kinds.client.events
const credentials = kinds.user.fields.credentials!.schema as z.ZodArray<z.ZodType>
const secret = {
  200: { description: 'The secret, in `value`; absent if the client has none.', schema: credentials.element },
  ...errorResponses,
}

const client = (call: Call) => getParameter(call, 'client-uuid')

/** The operations on the secret and the rotated secret of a client. */
export const clientSecretOperations: UntaggedOperation[] = [
  {
    operationId: 'getClientSecret',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/client-secret',
    summary: 'Get the client secret',
    permission: 'view-clients',
    responses: secret,
    handle: readHandler((context, call) => getSecret(context, client(call))),
  },
  {
    operationId: 'renewClientSecret',
    method: 'POST',
    path: '/admin/realms/{realm}/clients/{client-uuid}/client-secret',
    summary: 'Regenerate the client secret',
    permission: 'manage-clients',
    event: { type, operation: 'ACTION' },
    responses: secret,
    handle: (call) =>
      call.service.write(call.caller, getParameter(call, 'realm'), async (context: WriteContext) => {
        const body = await regenerateSecret(context, client(call))
        recordEvent(context, call)
        return { status: 200, body }
      }),
  },
  {
    operationId: 'getRotatedClientSecret',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/client-secret/rotated',
    summary: 'Get the rotated client secret',
    permission: 'view-clients',
    responses: secret,
    handle: readHandler((context, call) => getRotatedSecret(context, client(call))),
  },
  {
    operationId: 'deleteRotatedClientSecret',
    method: 'DELETE',
    path: '/admin/realms/{realm}/clients/{client-uuid}/client-secret/rotated',
    summary: 'Invalidate the rotated client secret',
    permission: 'manage-clients',
    event: type,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteRotatedSecret(context, client(call))),
  },
]
