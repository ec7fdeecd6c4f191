// The operations on the keys and certificates of a client.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
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
import { badRequest, components, errorResponses } from '../responses.ts'

/** Keycloak: so many bits has the key that a client is given. */
const BITS = 4096
const STORES = ['JKS', 'PKCS12', 'BCFKS']

const { type } = kinds.client.events
const event = { type, operation: 'ACTION' } as const
const schema = z
  .object({
    privateKey: z.string().optional().describe('The private key: Base64 of its DER form.'),
    publicKey: z.string().optional().describe('Public key: Base64 of its DER form, or a PEM text.'),
    certificate: z.string().optional().describe('The certificate: Base64 of its DER form.'),
    kid: z.string().optional().describe('Id of the key.'),
    jwks: z.string().optional().describe('JSON web key set with the key.'),
  })
  .register(components, { id: 'CertificateRepresentation' })
const responses = { 200: { description: 'What is kept.', schema }, ...errorResponses }

const path = '/admin/realms/{realm}/clients/{client-uuid}/certificates/{attr}'
const client = (call: Call) => getParameter(call, 'client-uuid')
const prefix = (call: Call) => getParameter(call, 'attr')
const reach = (call: Call) =>
  call.service.read(call.caller, getParameter(call, 'realm'), async (context) => ({
    ...(await getManageableClient(context, client(call))),
    now: context.now,
  }))

/** The operations. Key stores of Java are not among them: see docs/decisions/0026. */
export const clientCertificateOperations: UntaggedOperation[] = [
  {
    operationId: 'getClientCertificate',
    method: 'GET',
    path,
    summary: 'Get the key and certificate of a client',
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
      const { key, now } = await reach(call)
      requireSecretAttribute(prefix(call))
      return keep(call, await generateCertifiedKey(key[0]!, BITS, now))
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
  await reach(call)
  const parts = await call.parts()
  const [format, file] = [parts?.get('keystoreFormat'), parts?.get('file')]
  if (typeof format !== 'string') throw failure('invalid', 'keystoreFormat cannot be null', { form: 'error' })
  if (!(file instanceof File)) throw failure('invalid', 'file cannot be empty', { form: 'error' })
  if (STORES.includes(format))
    throw failure('invalid', 'Regent reads no key stores of Java: send the certificate, the public key or a key set')
  const read = readKeyUpload(format, await file.text())
  if (read) return keep(call, read)
  throw new HttpError(400, { error: 'certificate-not-found', error_description: 'The file holds no such key' })
}

function keep(call: Call, info: CertificateInfo): Promise<Answer> {
  return call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
    const body = await storeCertificate(context, { id: client(call), prefix: prefix(call) }, info)
    recordEvent(context, call)
    return { status: 200, body }
  })
}
