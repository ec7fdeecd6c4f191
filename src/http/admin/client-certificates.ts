// The operations on the keys and certificates of a client.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { namedSchemas } from '../../kinds/json-schema.ts'
import { KEY_STORE_FORMATS } from '../../lib/key-stores/key-store.ts'
import { getSigningKey } from '../../oidc/realm-keys.ts'
import {
  type CertificateInfo,
  getCertificate,
  getManageableClient,
  readKeyUpload,
  requireSecretAttribute,
  storeCertificate,
} from '../../service/admin-api/clients/client-certificates.ts'
import {
  isKeyStoreFormat,
  KEYCLOAK_FORMATS,
  type NewKeyStore,
  readKeyStoreUpload,
  requirePasswords,
  writeClientKeyStore,
} from '../../service/admin-api/clients/client-key-stores.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { generateCertifiedKey } from '../../service/realms/key-generation.ts'
import type { BodyForm } from '../body.ts'
import { HttpError } from '../errors.ts'
import { recordEvent } from '../event.ts'
import { readHandler } from '../handlers.ts'
import { type Answer, type Call, getParameter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, errorSchema } from '../responses.ts'
import { type KeyFileUpload, readKeyFileUpload } from '../uploads.ts'

/** Keycloak: the size of generated keys in bits, and the years for which their certificates are valid. */
const [BITS, YEARS] = [4096, 3]
/** Shorter keys are refused where tokens are verified, and longer ones take minutes to generate. */
const [MIN_BITS, MAX_BITS] = [2048, 8192]
const MAX_YEARS = 100
const BYTES = 'application/octet-stream'

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
const keyStoreResponses = {
  200: { description: 'The key store.', type: BYTES },
  406: { description: 'The caller does not accept the media type, or the format is unknown.', schema: errorSchema },
  ...badRequest,
  ...errorResponses,
}
const text = (description: string) => z.string().nullish().describe(description)
const keyStoreSettings = z
  .strictObject({
    format: text('Format of the key store: JKS or PKCS12.'),
    keyAlias: text('Alias of the key. Default: the client ID.'),
    keyPassword: text('Password of the key. PKCS12: without effect, since keys have the password of the store.'),
    storePassword: text('Password of the key store.'),
    realmCertificate: z
      .boolean()
      .nullish()
      .describe('Whether the key store also has the certificate of the realm. Default: true.'),
    realmAlias: text('Alias of the certificate of the realm. Default: the name of the realm.'),
    keySize: z.number().int().nullish().describe(`Size of a generated key, in bits. Default: ${BITS}.`),
    validity: z
      .number()
      .int()
      .nullish()
      .describe(`Years for which a generated certificate is valid. Default: ${YEARS}.`),
  })
  .register(namedSchemas, { id: 'KeyStoreConfig' })
/** The checked settings of a key store, and of the key to generate. */
interface KeyStoreRequest {
  readonly settings: z.infer<typeof keyStoreSettings>
  readonly keyStore: NewKeyStore
  readonly bits: number
  readonly years: number
}
const keyStoreBody: BodyForm = {
  schema: keyStoreSettings,
  description: 'The settings of the key store.',
  representation: 'KeyStoreConfig',
}

const path = '/admin/realms/{realm}/clients/{client-uuid}/certificates/{attr}'
const client = (call: Call) => getParameter(call, 'client-uuid')
const prefix = (call: Call) => getParameter(call, 'attr')
const getClient = (call: Call) =>
  call.service.read(call.caller, getParameter(call, 'realm'), async (context) => ({
    ...(await getManageableClient(context, client(call))),
    realm: context.realm,
    now: context.now,
  }))

/** Generates a key for a client, and a certificate with its client id. */
export const generateClientKey = (clientId: string, now: Date): ReturnType<typeof generateCertifiedKey> =>
  generateCertifiedKey(BITS, { owner: clientId, now, years: YEARS })

/** The operations on keys and certificates of clients. */
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
      return store(call, await generateClientKey(key[0]!, now))
    },
  },
  {
    operationId: 'downloadClientKeyStore',
    method: 'POST',
    path: `${path}/download`,
    summary: 'Download the key and certificate of a client as a key store',
    permission: 'manage-clients',
    event: false,
    body: keyStoreBody,
    responses: keyStoreResponses,
    handle: async (call) => {
      await getClient(call)
      const look = (context: Context) => getCertificate(context, client(call), prefix(call))
      const info = await call.service.read(call.caller, getParameter(call, 'realm'), look)
      return createKeyStore(call, readSettings(call, 'download'), info)
    },
  },
  {
    operationId: 'generateClientKeyStore',
    method: 'POST',
    path: `${path}/generate-and-download`,
    summary: 'Generate a key pair and a certificate for a client, and download them as a key store',
    description: 'Regent keeps the certificate only.',
    permission: 'manage-clients',
    event,
    body: keyStoreBody,
    responses: keyStoreResponses,
    handle: async (call) => {
      const { key, now } = await getClient(call)
      const request = readSettings(call, 'generation and download')
      const info = await generateCertifiedKey(request.bits, { owner: key[0]!, now, years: request.years })
      const response = await createKeyStore(call, request, info)
      await store(call, { certificate: info.certificate })
      return response
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
  const upload = await readKeyFileUpload(call)
  const read = KEYCLOAK_FORMATS.includes(upload.format)
    ? await readStore(upload)
    : readKeyUpload(upload.format, await upload.file.text())
  if (read?.privateKey !== undefined) requireSecretAttribute(prefix(call))
  if (read) return store(call, read)
  throw new HttpError(400, {
    error: 'certificate-not-found',
    error_description: 'The file contains no key of this format.',
  })
}

async function readStore({ format, file, readText }: KeyFileUpload): Promise<CertificateInfo> {
  return readKeyStoreUpload({
    format,
    bytes: new Uint8Array(await file.arrayBuffer()),
    alias: readText('keyAlias'),
    passwords: { keyPassword: readText('keyPassword'), storePassword: readText('storePassword') },
  })
}

/** Returns the key store with the key and certificate of a client. */
async function createKeyStore(
  call: Call,
  { settings, keyStore }: KeyStoreRequest,
  info: CertificateInfo,
): Promise<Answer> {
  const { key, realm } = await getClient(call)
  const { keyAlias, realmCertificate, realmAlias } = settings
  const certificate =
    realmCertificate === false ? undefined : (await getSigningKey(call.service, realm, 'RS256')).certificate
  const body = await writeClientKeyStore(
    keyStore,
    { alias: keyAlias ?? key[0]!, info },
    certificate && { alias: realmAlias ?? realm.name, certificate: certificate.raw },
  )
  return { status: 200, body, type: BYTES }
}

/** Returns the checked settings in the body. `purpose`: the operation, for messages. */
function readSettings({ body }: Call, purpose: string): KeyStoreRequest {
  const settings = keyStoreSettings.parse(body)
  const { format, keySize, validity } = settings
  if (!isKeyStoreFormat(format))
    throw new HttpError(406, { error: `Regent writes key stores of these formats: ${KEY_STORE_FORMATS.join(', ')}.` })
  const [bits, years] = [keySize ?? BITS, validity ?? YEARS]
  requireRange('keySize', bits, [MIN_BITS, MAX_BITS])
  requireRange('validity', years, [1, MAX_YEARS])
  return { settings, keyStore: { format, passwords: requirePasswords(settings, purpose) }, bits, years }
}

function requireRange(field: string, value: number, [min, max]: readonly [min: number, max: number]): void {
  if (value < min || value > max) throw failure('invalid', `${field} must be from ${min} to ${max}.`, { form: 'error' })
}

function store(call: Call, info: CertificateInfo): Promise<Answer> {
  return call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
    const body = await storeCertificate(context, { id: client(call), prefix: prefix(call) }, info)
    recordEvent(context, call)
    return { status: 200, body }
  })
}
