// The operations on what a client has while it runs.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { addNode, requireManageableClient, getServiceAccount, removeNode } from '../../service/admin-api/clients/client-runtime.ts'
import type { BodyForm } from '../body.ts'
import { reading, writing } from '../handlers.ts'
import { bodyBehind, type Call, type Operation, param, tagged } from '../operation.ts'
import { badRequest, done, one, refusals } from '../responses.ts'
import { telling, told } from './telling.ts'

const client = (call: Call) => param(call, 'client-uuid')

const node: BodyForm = {
  schema: z.looseObject({ node: z.string().optional().describe('The name of its host.') }),
  description: 'the node',
}

/** The account of a client, its nodes, and what they are told. */
export const clientRuntimeOperations: Operation[] = tagged('Clients', [
  {
    operationId: 'getServiceAccountUser',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/service-account-user',
    summary: 'Get the service account user of a client',
    permission: 'view-clients',
    responses: { ...one(kinds.user), ...refusals },
    handle: reading((context, call) => getServiceAccount(context, client(call))),
  },
  {
    operationId: 'addClientNode',
    method: 'POST',
    path: '/admin/realms/{realm}/clients/{client-uuid}/nodes',
    summary: 'Register a cluster node of a client',
    permission: 'manage-clients',
    event: 'CLUSTER_NODE',
    body: node,
    responses: { ...done, ...refusals, ...badRequest },
    handle: writing(async (context, call) => {
      const body = await bodyBehind(call, () => requireManageableClient(context, client(call)))
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
    responses: { ...done, ...refusals },
    handle: writing((context, call) => removeNode(context, client(call), param(call, 'node'))),
  },
  {
    operationId: 'testClientNodes',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/test-nodes-available',
    summary: 'Test whether the registered cluster nodes of a client are available',
    permission: 'manage-clients',
    event: { type: 'CLUSTER_NODE', operation: 'ACTION', asCalled: true },
    responses: told,
    handle: telling('TEST_AVAILABILITY', (context, call) => requireManageableClient(context, client(call)), client),
  },
  {
    operationId: 'pushClientRevocation',
    method: 'POST',
    path: '/admin/realms/{realm}/clients/{client-uuid}/push-revocation',
    summary: 'Push the not-before revocation policy to a client',
    permission: 'manage-clients',
    event: { type: 'CLIENT', operation: 'ACTION', asCalled: true },
    responses: told,
    handle: telling('PUSH_NOT_BEFORE', (context, call) => requireManageableClient(context, client(call)), client),
  },
])
