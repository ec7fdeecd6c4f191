// The operations that read the configuration and certificates of an identity provider from files and URLs.
import * as z from 'zod'
import { type KeyFile, readKeyFile } from '../../lib/key-file.ts'
import {
  importConfig,
  type ProviderDescription,
} from '../../service/admin-api/identity-providers/identity-provider-import.ts'
import { failure } from '../../service/context/errors.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { HttpError } from '../errors.ts'
import { type Call, getParameter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { findFile, readKeyFileUpload } from '../uploads.ts'
import { certificateSchema } from './client-certificates.ts'

const manage = 'manage-identity-providers'

/** The operations that read files of identity providers. */
export const fileOperations: readonly UntaggedOperation[] = [
  {
    operationId: 'importIdentityProviderConfig',
    method: 'POST',
    path: '/admin/realms/{realm}/identity-provider/import-config',
    summary: 'Import the configuration of an identity provider from its metadata, as a file or URL',
    permission: manage,
    event: false,
    body: {
      schema: z.looseObject({
        providerId: z.string().nullish().describe('Type of the provider.'),
        fromUrl: z.string().nullish().describe('URL of the metadata.'),
      }),
      description:
        'The type and the URL of the metadata. A multipart form with the parts `providerId` and `file` uploads the metadata.',
    },
    responses: {
      200: { description: 'The configuration, by name.', schema: z.record(z.string(), z.string()) },
      ...errorResponses,
      ...badRequest,
    },
    handle: async (call) => {
      await call.service.read(call.caller, getParameter(call, 'realm'), async (context) =>
        requirePermissions(context, manage),
      )
      const { providerId, description } = await readProviderRequest(call)
      return { status: 200, body: await importConfig(call.service.outbound, providerId, description) }
    },
  },
  {
    operationId: 'uploadIdentityProviderCertificate',
    method: 'POST',
    path: '/admin/realms/{realm}/identity-provider/upload-certificate',
    summary: 'Extract the certificate of an identity provider from an uploaded file',
    permission: manage,
    event: false,
    responses: {
      200: { description: 'The certificate and public key.', schema: certificateSchema },
      ...errorResponses,
    },
    handle: async (call) => {
      await call.service.read(call.caller, getParameter(call, 'realm'), async (context) =>
        requirePermissions(context, manage),
      )
      return { status: 200, body: await uploadedKey(call) }
    },
  },
]

/** Returns the provider type and the description of the other server. @throws invalid if either is missing */
async function readProviderRequest(call: Call): Promise<{ providerId: string; description: ProviderDescription }> {
  const parts = await call.parts()
  const body = parts ? Object.fromEntries(parts) : (call.body as Record<string, unknown>)
  const { providerId, fromUrl } = body
  const file = findFile(parts)
  if (typeof providerId !== 'string') throw failure('invalid', 'HTTP 400 Bad Request', { form: 'error' })
  if (file) return { providerId, description: { text: await file.text() } }
  if (parts || typeof fromUrl !== 'string') throw failure('invalid', 'HTTP 400 Bad Request', { form: 'error' })
  return { providerId, description: { address: fromUrl } }
}

/** Returns the key in the uploaded file. @throws invalid without a file, HttpError if it cannot be read */
async function uploadedKey(call: Call): Promise<KeyFile> {
  const { format, file } = await readKeyFileUpload(call)
  const key = readKeyFile(format, await file.text())
  if (key) return key
  // Keycloak: its spelling.
  const description = 'Certificate or key error loding from uploaded file'
  throw new HttpError(400, { error: 'certificate-not-found', error_description: description })
}
