// The operations on the keys and certificates of a client.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { namedSchemas } from '../../kinds/json-schema.ts'
import {
  type CertificateInfo,
  getCertificate,
  getManageableClient,
  readKeyUpload,
  requireSecretAttribute,
  storeCertificate,
} from '../../service/admin-api/clients/client-certificates.ts'
import { failure } from '../../service/context/errors.ts'
import { generateCertifiedKey } from '../../service/realms/key-generation.ts'
import { HttpError } from '../errors.ts'
import { recordEvent } from '../event.ts'
import { readHandler } from '../handlers.ts'
import { type Answer, type Call, getParameter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { readKeyFileUpload } from '../uploads.ts'

/** Keycloak: the size of generated keys, in bits. */
const BITS = 4096
const STORES = ['JKS', 'PKCS12', 'BCFKS']

const { type } = kinds.client.events
const event = { type, operation: 'ACTION' } as const
/** The schema of a certificate with its key. */
export const certificateSchema = z
  .object({
    privateKey: z
      .string()
      .optional()
      .describe('Private key, in Base64 of its DER form. Masked for callers who cannot manage clients.'),
    publicKey: z.string().optional().describe('Public key, in Base64 of its DER form or as PEM.'),
    certificate: z.string().optional().describe('Certificate, in Base64 of its DER form.'),
    kid: z.string().optional().describe('Id of the key.'),
    jwks: z.string().optional().describe('JSON Web Key Set with the key.'),
  })
  .register(namedSchemas, { id: 'CertificateRepresentation' })
const responses = {
  200: { description: 'The stored certificate and key.', schema: certificateSchema },
  ...errorResponses,
}

const path = '/admin/realms/{realm}/clients/{client-uuid}/certificates/{attr}'
const client = (call: Call) => getParameter(call, 'client-uuid')
const prefix = (call: Call) => getParameter(call, 'attr')
const getClient = (call: Call) =>
  call.service.read(call.caller, getParameter(call, 'realm'), async (context) => ({
    ...(await getManageableClient(context, client(call))),
    now: context.now,
  }))

/** The operations on keys and certificates of clients. Java keystores are not supported (docs/decisions/0026). */
export const clientCertificateOperations: UntaggedOperation[] = [
  {
    operationId: 'getClientCertificate',
    method: 'GET',
    path,
    summary: 'Get the certificate, public key and private key of a client',
    permission: 'view-clients',
    responses,
    handle: readHandler((context, call) => getCertificate(context, client(call), prefix(call))),
  },
  {
    operationId: 'generateClientCertificate',
    method: 'POST',
    path: `${path}/generate`,
    summary: 'Generate a key pair and a self-signed certificate for a client',
    permission: 'manage-clients',
    event,
    responses: { ...responses, ...badRequest },
    handle: async (call) => {
      const { key, now } = await getClient(call)
      requireSecretAttribute(prefix(call))
      return store(call, await generateCertifiedKey(key[0]!, BITS, now))
    },
  },
  {
    operationId: 'uploadClientKey',
    method: 'POST',
    path: `${path}/upload`,
    summary: 'Upload a certificate, public key or JSON Web Key Set for a client',
    permission: 'manage-clients',
    event,
    responses: { ...responses, ...badRequest },
    handle: upload,
  },
  {
    operationId: 'uploadClientCertificate',
    method: 'POST',
    path: `${path}/upload-certificate`,
    summary: 'Upload a certificate, public key or JSON Web Key Set for a client',
    permission: 'manage-clients',
    event,
    responses: { ...responses, ...badRequest },
    handle: upload,
  },
]

async function upload(call: Call): Promise<Answer> {
  await getClient(call)
  const { format, file } = await readKeyFileUpload(call)
  if (STORES.includes(format))
    throw failure(
      'invalid',
      'Regent does not read Java keystores. Send the certificate, the public key or a JSON Web Key Set.',
    )
  const read = readKeyUpload(format, await file.text())
  if (read) return store(call, read)
  throw new HttpError(400, {
    error: 'certificate-not-found',
    error_description: 'The file contains no key of this format.',
  })
}

function store(call: Call, info: CertificateInfo): Promise<Answer> {
  return call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
    const body = await storeCertificate(context, { id: client(call), prefix: prefix(call) }, info)
    recordEvent(context, call)
    return { status: 200, body }
  })
}
