// Secrets that Regent made for sources: which there are, what each says, another one in its place.
import * as z from 'zod'
import { getGeneratedSecret, listGeneratedSecrets, rotateGeneratedSecret } from '../../service/sources/generated-secrets.ts'
import { HttpError } from '../errors.ts'
import { reading, writing } from '../handlers.ts'
import { type Call, type Operation, param, tagged } from '../operation.ts'
import { done, refusals } from '../responses.ts'

const secret = z
  .object({
    source: z.string().describe('The source whose documents name it.'),
    name: z.string().describe('What documents call it, as `$(generated:NAME)`.'),
    createdAt: z.string().describe('When it was created, as an ISO 8601 date and time.'),
  })
  .describe('A secret that Regent made.')

const permission = 'administer-realm'
const query = z.object({ source: z.string().optional().describe('Name of the source.') })

/** The operations about generated secrets under /regent/v1. */
export const secretOperations: readonly Operation[] = tagged('Regent', [
  {
    operationId: 'listSecrets',
    method: 'GET',
    path: '/regent/v1/secrets/{realm}',
    summary: 'List the generated secrets of a realm',
    permission,
    responses: { 200: { description: 'Each secret, without what it says.', schema: z.array(secret) }, ...refusals },
    handle: reading(listGeneratedSecrets),
  },
  {
    operationId: 'getSecret',
    method: 'GET',
    path: '/regent/v1/secrets/{realm}/{name}',
    summary: 'Get a generated secret in plain text',
    permission,
    query,
    responses: {
      200: {
        description: 'The secret.',
        schema: z.object({ value: z.string().describe('The secret in the clear.') }),
      },
      ...refusals,
    },
    handle: reading(async (context, call) => ({
      value: await getGeneratedSecret(context, sourceOf(call), param(call, 'name')),
    })),
  },
  {
    operationId: 'rotateSecret',
    method: 'POST',
    path: '/regent/v1/secrets/{realm}/{name}/rotate',
    summary: 'Rotate a generated secret; effective with the next apply',
    permission,
    query,
    responses: { ...done, ...refusals },
    handle: writing((context, call) => rotateGeneratedSecret(context, sourceOf(call), param(call, 'name'))),
  },
])

function sourceOf({ query: { source } }: Call): string {
  if (!source) throw new HttpError(400, { errorMessage: 'source is missing: state its name' })
  return String(source)
}
