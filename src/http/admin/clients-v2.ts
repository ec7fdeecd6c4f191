import * as z from 'zod'
import {
  deleteClient,
  getClient,
  listClients,
  patchClient,
  postClient,
  putClient,
} from '../../service/admin-api/clients-v2/clients-v2.ts'
import { oidcClient, samlClient } from '../../service/admin-api/clients-v2/schemas.ts'
import type { BodyForm } from '../body.ts'
import { changeHandler, readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { queryNumber } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const path = '/admin/api/{realm}/clients/v2'
const itemPath = `${path}/{id}` as const
const members = z.record(z.string(), z.json())
const client = z.union([oidcClient, samlClient])
const representation = { schema: client, description: 'The client.' }
const body: BodyForm = {
  schema: members,
  documented: client,
  description: 'The client. Fields of the other protocol are refused.',
}
const event = { type: 'CLIENT', asCalled: true } as const
const getClientId = (call: Call) => getParameter(call, 'id')

const query = z.object({
  q: z
    .string()
    .optional()
    .describe('Filter, such as `clientId sw "shop" and enabled eq true`. Operators: eq, ne, co, sw, ew, pr.'),
  sort: z.string().optional().describe('Order, such as `displayName|desc,clientId`. Default: by client id.'),
  fields: z.string().optional().describe('Fields to return, separated by commas. Default: all.'),
  offset: queryNumber.describe('Number of clients to skip. Default: 0.'),
  limit: queryNumber.describe('Maximum number of clients to return. Default: 100.'),
})

/** The operations on clients in the API of version 2. */
export const clientV2Operations: Operation[] = tagged('Clients', [
  {
    operationId: 'listClientsV2',
    method: 'GET',
    path,
    summary: 'List clients (version 2)',
    permission: 'list-clients',
    query,
    responses: { 200: { description: 'The clients.', schema: z.array(client) }, ...errorResponses },
    handle: readHandler((context, call) => listClients(context, call.query)),
  },
  {
    operationId: 'createClientV2',
    method: 'POST',
    path,
    summary: 'Create a client (version 2)',
    permission: 'manage-clients',
    event,
    body,
    responses: { 201: representation, ...errorResponses, ...badRequest },
    handle: changeHandler(async (context, call) => ({
      status: 201,
      body: await postClient(context, members.parse(call.body)),
    })),
  },
  {
    operationId: 'getClientV2',
    method: 'GET',
    path: itemPath,
    summary: 'Get a client (version 2)',
    permission: 'view-clients',
    responses: { 200: representation, ...errorResponses },
    handle: readHandler((context, call) => getClient(context, getClientId(call))),
  },
  {
    operationId: 'replaceClientV2',
    method: 'PUT',
    path: itemPath,
    summary: 'Create or replace a client (version 2)',
    permission: 'manage-clients',
    event,
    body,
    responses: { 200: representation, 201: representation, ...errorResponses, ...badRequest },
    handle: changeHandler(async (context, call) => {
      const result = await putClient(context, getClientId(call), members.parse(call.body))
      return { status: result.isCreated ? 201 : 200, body: result.client }
    }),
  },
  {
    operationId: 'patchClientV2',
    method: 'PATCH',
    path: itemPath,
    summary: 'Update a client by a merge patch (version 2)',
    permission: 'manage-clients',
    event,
    body: {
      schema: z.json(),
      documented: client,
      onlyType: 'application/merge-patch+json',
      description: 'A JSON merge patch. Fields that are null are removed.',
    },
    responses: { 200: representation, ...errorResponses, ...badRequest },
    handle: changeHandler(async (context, call) => ({
      status: 200,
      body: await patchClient(context, getClientId(call), z.json().parse(call.body)),
    })),
  },
  {
    operationId: 'deleteClientV2',
    method: 'DELETE',
    path: itemPath,
    summary: 'Delete a client (version 2)',
    permission: 'manage-clients',
    event,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteClient(context, getClientId(call))),
  },
])
