import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import { clearFetchedKeys } from '../../oidc/client-authentication/client-keys.ts'
import { listRealmKeys } from '../../oidc/realm-keys.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { writeHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { errorResponses, noContentResponse } from '../responses.ts'

const use = z.enum(['SIG', 'ENC']).register(namedSchemas, { id: 'KeyUse' })
const key = z
  .object({
    providerId: z.string().describe('Id of the component with the key.'),
    providerPriority: z.int().describe('Priority of the key. The active key with the highest one signs.'),
    kid: z.string().describe('Id of the key in the header of tokens.'),
    status: z
      .enum(['ACTIVE', 'PASSIVE', 'DISABLED'])
      .describe('Whether the key signs and verifies (ACTIVE), only verifies (PASSIVE), or is not used (DISABLED).'),
    type: z.enum(['RSA', 'EC', 'OKP', 'OCT']).describe('Type of the key. OCT is a symmetric key.'),
    algorithm: z.string().describe('Algorithm that the key is for, such as RS256.'),
    publicKey: z.string().optional().describe('Public key, in Base64 of its DER form.'),
    certificate: z.string().optional().describe('Certificate, in Base64 of its DER form.'),
    use: use.describe('Use of the key: signatures (SIG) or encryption (ENC).'),
    validTo: z.int().optional().describe('Time when the certificate expires, in milliseconds since 1970.'),
  })
  .register(namedSchemas, { id: 'KeyMetadataRepresentation' })
const metadata = z
  .object({
    active: z.record(z.string(), z.string()).describe('Id of the key that signs or encrypts, by algorithm.'),
    keys: z.array(key).describe('All keys, highest priority first.'),
  })
  .register(namedSchemas, { id: 'KeysMetadataRepresentation' })

/** The operations on keys of a realm. */
export const keyOperations: Operation[] = [
  ...tagged('Key', [
    {
      operationId: 'getKeys',
      method: 'GET',
      path: '/admin/realms/{realm}/keys',
      summary: 'List the keys of a realm, without private keys',
      permission: 'view-realm',
      responses: { 200: { description: 'The keys.', schema: metadata }, ...errorResponses },
      async handle(call) {
        const realm = await call.service.read(call.caller, getParameter(call, 'realm'), async (context) => {
          requirePermissions(context, 'view-realm')
          return context.realm
        })
        // Missing keys are generated outside of the transaction, since that is slow.
        return { status: 200, body: show(await listRealmKeys(call.service, realm)) }
      },
    },
  ]),
  ...tagged('Realms Admin', [
    {
      operationId: 'clearKeysCache',
      method: 'POST',
      path: '/admin/realms/{realm}/clear-keys-cache',
      summary: 'Clear the cache of public keys of clients and identity providers',
      permission: 'manage-realm',
      event: { type: 'REALM', operation: 'ACTION' },
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler(async (context) => {
        requirePermissions(context, 'manage-realm')
        clearFetchedKeys()
      }),
    },
  ]),
]

function show(keys: readonly RealmKey[]): z.infer<typeof metadata> {
  const active = keys.filter(({ status }) => status === 'ACTIVE').reverse()
  return {
    active: Object.fromEntries(active.map(({ algorithm, kid }) => [algorithm, kid])),
    keys: keys.map(
      ({
        componentId: component,
        priority,
        kid,
        status,
        type,
        algorithm,
        use,
        verificationKey: verifies,
        certificate,
      }) => ({
        providerId: component,
        providerPriority: priority,
        kid,
        status,
        type,
        algorithm,
        ...(type !== 'OCT' && { publicKey: verifies.export({ type: 'spki', format: 'der' }).toString('base64') }),
        ...(certificate && { certificate: certificate.raw.toString('base64') }),
        use: use === 'sig' ? 'SIG' : 'ENC',
        ...(certificate && { validTo: certificate.validToDate.getTime() }),
      }),
    ),
  }
}
