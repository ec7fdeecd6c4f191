import * as z from 'zod'
import { clearFetchedKeys } from '../../oidc/client-authentication/client-keys.ts'
import { listRealmKeys } from '../../oidc/realm-keys.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { writeHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { components, errorResponses, noContentResponse } from '../responses.ts'

const key = z.object({
  providerId: z.string().describe('Id of the component that holds the key.'),
  providerPriority: z.number().describe('Of several active keys for an algorithm, the highest one signs.'),
  kid: z.string().describe('Id of the key, as tokens name it.'),
  status: z.enum(['ACTIVE', 'PASSIVE', 'DISABLED']).describe('Whether the key signs, only verifies, or neither.'),
  type: z.enum(['RSA', 'EC', 'OKP', 'OCT']).describe('Sort of the key; OCT is a secret.'),
  algorithm: z.string().describe('What the key is used with.'),
  publicKey: z.string().optional().describe('The public half, in base64.'),
  certificate: z.string().optional().describe('The certificate, in base64.'),
  use: z.enum(['SIG', 'ENC']).describe('Whether the key signs or encrypts.'),
  validTo: z.number().optional().describe('When the certificate ends; milliseconds since 1970.'),
})
const metadata = z
  .object({
    active: z.record(z.string(), z.string()).describe('Id of the key that is used, by algorithm.'),
    keys: z.array(key).describe('All keys, highest priority first.'),
  })
  .register(components, { id: 'KeysMetadataRepresentation' })

/** The keys of a realm. */
export const keyOperations: Operation[] = tagged('Realms Admin', [
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
      // Keys that are still to be made are made outside of the transaction.
      return { status: 200, body: show(await listRealmKeys(call.service, realm)) }
    },
  },
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
])

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
