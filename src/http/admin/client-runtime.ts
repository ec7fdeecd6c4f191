// The operations on the service account and cluster nodes of a client.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  addNode,
  getServiceAccount,
  removeNode,
  requireManageableClient,
} from '../../service/admin-api/clients/client-runtime.ts'
import type { BodyForm } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse, objectResponse } from '../responses.ts'
import { notificationResponses, notifyingHandler } from './notify-clients.ts'

const client = (call: Call) => getParameter(call, 'client-uuid')

const node: BodyForm = {
  schema: z.looseObject({ node: z.string().optional().describe('Host name of the node.') }),
  description: 'The node.',
}

/** The operations on a client's service account and cluster nodes. */
export const clientRuntimeOperations: Operation[] = tagged('Clients', [
  {
    operationId: 'getServiceAccountUser',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/service-account-user',
    summary: 'Get the service account user of a client',
    permission: 'view-clients',
    responses: { ...objectResponse(kinds.user), ...errorResponses },
    handle: readHandler((context, call) => getServiceAccount(context, client(call))),
  },
  {
    operationId: 'addClientNode',
    method: 'POST',
    path: '/admin/realms/{realm}/clients/{client-uuid}/nodes',
    summary: 'Register a cluster node of a client',
    permission: 'manage-clients',
    event: 'CLUSTER_NODE',
    body: node,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => {
      const body = await readBodyAfter(call, () => requireManageableClient(context, client(call)))
      await addNode(context, client(call), body as Representation)
    }),
  },
  {
    operationId: 'deleteClientNode',
    method: 'DELETE',
    path: '/admin/realms/{realm}/clients/{client-uuid}/nodes/{node}',
    summary: 'Unregister a cluster node of a client',
    permission: 'manage-clients',
    event: 'CLUSTER_NODE',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => removeNode(context, client(call), getParameter(call, 'node'))),
  },
  {
    operationId: 'testClientNodes',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/test-nodes-available',
    summary: 'Test whether the registered cluster nodes of a client are available',
    permission: 'manage-clients',
    event: { type: 'CLUSTER_NODE', operation: 'ACTION', asCalled: true },
    responses: notificationResponses,
    handle: notifyingHandler(
      'TEST_AVAILABILITY',
      (context, call) => requireManageableClient(context, client(call)),
      client,
    ),
  },
  {
    operationId: 'pushClientRevocation',
    method: 'POST',
    path: '/admin/realms/{realm}/clients/{client-uuid}/push-revocation',
    summary: 'Push the not-before revocation policy to a client',
    permission: 'manage-clients',
    event: { type: 'CLIENT', operation: 'ACTION', asCalled: true },
    responses: notificationResponses,
    handle: notifyingHandler(
      'PUSH_NOT_BEFORE',
      (context, call) => requireManageableClient(context, client(call)),
      client,
    ),
  },
])
