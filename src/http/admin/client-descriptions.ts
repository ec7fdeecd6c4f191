// Converts client descriptions in other formats into representations.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import {
  type OpenIdMetadata,
  openIdMetadata,
  toClientRepresentation,
} from '../../service/clients/openid-client-metadata.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { parseClientMetadata } from '../../service/registration/saml-client-metadata.ts'
import { objectBody, readBody } from '../body.ts'
import { HttpError } from '../errors.ts'
import { readHandler } from '../handlers.ts'
import { type Operation, tagged } from '../operation.ts'
import { representationOf } from '../representations.ts'
import { badRequest, errorResponses } from '../responses.ts'

const client = objectBody(kinds.client)
const metadata = {
  schema: openIdMetadata,
  description: 'Client metadata (OpenID Connect Dynamic Client Registration).',
  representation: 'OIDCClientRepresentation',
}

/** The operation that converts client descriptions. */
export const clientDescriptionOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'describeClient',
    method: 'POST',
    path: '/admin/realms/{realm}/client-description-converter',
    summary: 'Convert a client description to a client representation, without creating the client',
    permission: 'manage-clients',
    event: false,
    body: {
      schema: z.string(),
      description: 'The client description.',
      plain: true,
      types: ['application/json', 'application/xml'],
    },
    responses: {
      200: { description: 'The client.', schema: representationOf(kinds.client) },
      ...errorResponses,
      ...badRequest,
    },
    handle: readHandler(async (context, call) => {
      requirePermissions(context, 'manage-clients')
      return parseDescription(String(call.body).trim())
    }),
  },
])

/** Keycloak: a word in the text decides on its format. */
async function parseDescription(text: string): Promise<unknown> {
  const isJson = text.startsWith('{') && text.endsWith('}')
  if (isJson && text.includes('"clientId"')) return readBody(Buffer.from(text), client)
  if (isJson && text.includes('"redirect_uris"'))
    return toClientRepresentation(readBody(Buffer.from(text), metadata) as OpenIdMetadata)
  if (text.startsWith('<') && text.includes('EntityDescriptor')) return parseClientMetadata(text)
  throw new HttpError(400, { error: 'Unsupported format' })
}
