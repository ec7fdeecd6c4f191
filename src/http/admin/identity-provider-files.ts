// What is read from files and addresses for an identity provider: settings and keys of the other server.
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

const manage = 'manage-identity-providers'

const certificate = z.object({
  publicKey: z.string().describe('Public key: Base64 of its DER form, or a PEM text.'),
  certificate: z.string().optional().describe('The certificate: Base64 of its DER form.'),
  kid: z.string().optional().describe('Id of the key.'),
  jwks: z.string().optional().describe('JSON web key set with the key.'),
})

/** The operations. */
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
        fromUrl: z.string().nullish().describe('Address of the description.'),
      }),
      description: 'The type, and where the description is; a form with the parts providerId and file sends one.',
    },
    responses: {
      200: { description: 'The settings.', schema: z.record(z.string(), z.string()) },
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
    responses: { 200: { description: 'The key.', schema: certificate }, ...errorResponses },
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
  const { providerId, fromUrl, file } = body
  if (typeof providerId !== 'string') throw failure('invalid', 'HTTP 400 Bad Request', { form: 'error' })
  if (file instanceof File) return { providerId, description: { text: await file.text() } }
  if (parts || typeof fromUrl !== 'string') throw failure('invalid', 'HTTP 400 Bad Request', { form: 'error' })
  return { providerId, description: { address: fromUrl } }
}

/** The key in the file of a form. Throws malformed without one; HttpError where it cannot be read. */
async function uploadedKey(call: Call): Promise<KeyFile> {
  const parts = await call.parts()
  const [format, file] = [parts?.get('keystoreFormat'), parts?.get('file')]
  if (typeof format !== 'string') throw failure('invalid', 'keystoreFormat cannot be null', { form: 'error' })
  if (!(file instanceof File)) throw failure('invalid', 'file cannot be empty', { form: 'error' })
  const key = readKeyFile(format, await file.text())
  if (key) return key
  // Keycloak: its spelling.
  const description = 'Certificate or key error loding from uploaded file'
  throw new HttpError(400, { error: 'certificate-not-found', error_description: description })
}
