// Regent's own API: generated secrets.
import * as z from 'zod'
import {
  getGeneratedSecret,
  listGeneratedSecrets,
  rotateGeneratedSecret,
} from '../../service/sources/generated-secrets.ts'
import { HttpError } from '../errors.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { errorResponses, noContentResponse } from '../responses.ts'

const secret = z
  .object({
    source: z.string().describe('Source whose documents declare the secret.'),
    name: z.string().describe('Name in `$(generated:NAME)`.'),
    createdAt: z.string().describe('Time of creation, in ISO 8601.'),
  })
  .describe('A generated secret.')

const permission = 'administer-realm'
const query = z.object({
  source: z.string().optional().describe('Name of the source; required.'),
})

/** The operations about generated secrets under /regent/v1. */
export const secretOperations: readonly Operation[] = tagged('Generated Secrets', [
  {
    operationId: 'listSecrets',
    method: 'GET',
    path: '/regent/v1/secrets/{realm}',
    summary: 'List the generated secrets of a realm, without their values',
    permission,
    responses: {
      200: { description: 'The secrets, without their values.', schema: z.array(secret) },
      ...errorResponses,
    },
    handle: readHandler(listGeneratedSecrets),
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
        schema: z.object({ value: z.string().describe('The secret in plain text.') }),
      },
      ...errorResponses,
    },
    handle: readHandler(async (context, call) => ({
      value: await getGeneratedSecret(context, sourceOf(call), getParameter(call, 'name')),
    })),
  },
  {
    operationId: 'rotateSecret',
    method: 'POST',
    path: '/regent/v1/secrets/{realm}/{name}/rotate',
    summary: 'Rotate a generated secret; clients get the new value when their source is applied next',
    permission,
    query,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => rotateGeneratedSecret(context, sourceOf(call), getParameter(call, 'name'))),
  },
])

function sourceOf({ query: { source } }: Call): string {
  if (!source) throw new HttpError(400, { errorMessage: 'The parameter source is missing. Pass its name.' })
  return String(source)
}
