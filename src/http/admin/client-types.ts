import { clientTypesDocument } from '../../kinds/client-types.ts'
import { getClientTypes, replaceClientTypes } from '../../service/admin-api/clients/client-types.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Operation, readBodyAfter, tagged } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

/** The operations on client types. */
export const clientTypeOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'getClientTypes',
    method: 'GET',
    path: '/admin/realms/{realm}/client-types',
    summary: 'Get client types',
    permission: 'view-realm',
    responses: { 200: { description: 'The client types.', schema: clientTypesDocument }, ...errorResponses },
    handle: readHandler((context) => getClientTypes(context)),
  },
  {
    operationId: 'updateClientTypes',
    method: 'PUT',
    path: '/admin/realms/{realm}/client-types',
    summary: 'Update client types',
    permission: 'manage-realm',
    event: false,
    body: {
      schema: clientTypesDocument,
      description: 'The client types, which replace those of the realm.',
      representation: ([, index, list]) => {
        if (index === undefined) return 'ClientTypesRepresentation'
        return list === undefined ? 'ClientTypeRepresentation' : 'PropertyConfig'
      },
    },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => {
      const body = await readBodyAfter(call, async () => requirePermissions(context, 'manage-realm'))
      await replaceClientTypes(context, clientTypesDocument.parse(body))
    }),
  },
])
