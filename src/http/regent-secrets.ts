// Secrets that Regent made for sources: which there are, what each says, another one in its place.
import * as z from 'zod'
import { getSecret, listSecrets, rotateSecret } from '../service/generated-secrets.ts'
import { type Operation, param } from './operation.ts'
import { done, refusals } from './responses.ts'

const secret = z
  .object({
    source: z.string().describe('The source whose documents name it.'),
    name: z.string().describe('What documents call it, as `$(generated:NAME)`.'),
    madeAt: z.string().describe('When it was made, as an ISO 8601 date and time.'),
  })
  .describe('A secret that Regent made.')

/** The operations about generated secrets under /regent/v1. */
export const secretOperations: readonly Operation[] = [
  {
    operationId: 'listSecrets',
    tag: 'Regent',
    method: 'GET',
    path: '/regent/v1/secrets/{source}',
    summary: 'Lists the secrets that were made for a source. Who administers all realms of the source sees them.',
    permission: 'any',
    responses: { 200: { description: 'Each secret, without what it says.', schema: z.array(secret) }, ...refusals },
    handle: async (call) => ({
      status: 200,
      body: await listSecrets(call.service, call.caller, param(call, 'source')),
    }),
  },
  {
    operationId: 'getSecret',
    tag: 'Regent',
    method: 'GET',
    path: '/regent/v1/secrets/{source}/{name}',
    summary: 'Gives a secret that was made for a source in the clear.',
    permission: 'any',
    responses: {
      200: {
        description: 'The secret.',
        schema: z.object({ value: z.string().describe('The secret in the clear.') }),
      },
      ...refusals,
    },
    handle: async (call) => ({
      status: 200,
      body: { value: await getSecret(call.service, call.caller, param(call, 'source'), param(call, 'name')) },
    }),
  },
  {
    operationId: 'rotateSecret',
    tag: 'Regent',
    method: 'POST',
    path: '/regent/v1/secrets/{source}/{name}/rotate',
    summary: 'Makes another secret in the place of one: it counts from the next apply of the source on.',
    permission: 'any',
    responses: { ...done, ...refusals },
    handle: async (call) => {
      await rotateSecret(call.service, call.caller, param(call, 'source'), param(call, 'name'))
      return { status: 204 }
    },
  },
]
