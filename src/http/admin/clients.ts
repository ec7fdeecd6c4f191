import * as z from 'zod'
import { lacksSigningKey } from '../../kinds/client.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readObject } from '../../kinds/json.ts'
import { importContent } from '../../reconcile/import/import-content.ts'
import {
  assignScopeToClient,
  listScopesOfClient,
  removeScopeFromClient,
  type ScopeAssignment,
} from '../../service/admin-api/clients/assigned-scopes.ts'
import { clients, requireCreation } from '../../service/admin-api/clients/clients.ts'
import { legacyClients } from '../../service/admin-api/clients/legacy-clients.ts'
import type { AdminResource } from '../../service/admin-api/common/resource.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { type BodyForm, bodySchema, objectBody } from '../body.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { applicationFields } from '../representations.ts'
import { type AssignedScopes, assignedScopes } from '../shapes/assigned-scopes.ts'
import { type Collection, type CollectionOptions, collection } from '../shapes/collection.ts'
import { clientCertificateOperations, generateClientKey } from './client-certificates.ts'
import { clientSecretOperations } from './client-secrets.ts'

const query = z.object({
  clientId: z.string().optional().describe('Only the client with this client id.'),
  search: queryFlag.describe('Whether `clientId` is a part of the client id, in any case. Default: false.'),
  q: z.string().optional().describe('Attributes as `name:value`, separated by spaces. All must match.'),
  viewableOnly: queryFlag.describe('Whether to leave out clients that the caller cannot view. Default: false.'),
  ...page,
})

const options = { path: '/admin/realms/{realm}/clients', item: '{client-uuid}', query }
const { get, list, create, replace, remove } = listClientOperations(clients, options)
const legacy = listClientOperations(legacyClients, { ...options, body: createLegacyBody() })

/** The operations on clients and their assigned client scopes. */
export const clientOperations: Operation[] = [
  ...tagged('Client Attribute Certificate', clientCertificateOperations),
  ...tagged('Clients', [
    { ...list, legacy: legacy.list },
    { ...create, legacy: legacy.create },
    { ...get, legacy: legacy.get },
    { ...replace, legacy: legacy.replace },
    remove,
    ...clientSecretOperations,
    ...Object.values(
      assignedScopes(
        scopesOf('default'),
        '/admin/realms/{realm}/clients/{client-uuid}/default-client-scopes',
        'CLIENT_SCOPE_CLIENT_MAPPING',
      ),
    ),
    ...Object.values(
      assignedScopes(
        scopesOf('optional'),
        '/admin/realms/{realm}/clients/{client-uuid}/optional-client-scopes',
        'CLIENT_SCOPE_CLIENT_MAPPING',
      ),
    ),
  ]),
]

function scopesOf(assignment: ScopeAssignment): AssignedScopes {
  const client = (call: Call) => getParameter(call, 'client-uuid')
  return {
    list: (context, call) => listScopesOfClient(context, client(call), assignment),
    assign: (context, call, scope) => assignScopeToClient(context, { client: client(call), scope, assignment }),
    remove: (context, call, scope) => removeScopeFromClient(context, client(call), scope),
  }
}

/** Returns the operations on clients. The key of a new SAML client is generated before the transaction. */
function listClientOperations(resource: AdminResource, options: CollectionOptions): Collection {
  const operations = collection(resource, options)
  const handle = async (call: Call) => {
    const signingKey = await generateSigningKey(call)
    const create: AdminResource['create'] = (context, address, body) =>
      createWithSettings(context, resource, {
        address,
        body: { ...body, ...(signingKey && { attributes: { ...readObject(body.attributes), ...signingKey } }) },
      })
    return collection({ ...resource, create }, options).create.handle(call)
  }
  return { ...operations, create: { ...operations.create, handle } }
}

/** Returns the form of clients in the legacy API. */
function createLegacyBody(): BodyForm {
  const { oauth2DeviceAuthorizationGrantEnabled, claims } = applicationFields
  const fields = {
    oauth2DeviceAuthorizationGrantEnabled: oauth2DeviceAuthorizationGrantEnabled.nullish(),
    claims: claims.nullish(),
  }
  return { ...objectBody(kinds.client), schema: bodySchema(kinds.client).extend(fields) }
}

/** Returns the attributes with the key that the new client of a call signs with; undefined if it gets none. Throws forbidden, not_found. */
async function generateSigningKey(call: Call): Promise<Representation | undefined> {
  const body = readValidBody(call)
  if (!lacksSigningKey(body)) return undefined
  const now = await call.service.read(call.caller, getParameter(call, 'realm'), async (context) => {
    await requireCreation(context)
    return context.now
  })
  const { clientId, id } = body
  const { certificate, privateKey } = await generateClientKey(String(clientId ?? id ?? 'client'), now)
  return { 'saml.signing.certificate': certificate, 'saml.signing.private.key': privateKey }
}

/** Returns the body of a call; an empty object if it is invalid, which the creation reports. */
function readValidBody(call: Call): Representation {
  try {
    return readObject(z.json().parse(call.body))
  } catch {
    return {}
  }
}

/** Creates a client. Keycloak: with the resources, scopes and policies in its authorization settings. */
async function createWithSettings(
  context: WriteContext,
  resource: AdminResource,
  { address, body }: { readonly address: Parameters<AdminResource['create']>[1]; readonly body: Representation },
): Promise<string> {
  const id = await resource.create(context, address, body)
  const { clientId, authorizationServicesEnabled, authorizationSettings = null } = body
  if (authorizationServicesEnabled === true && authorizationSettings !== null)
    await importContent(context, { clients: [{ clientId: clientId ?? id, authorizationSettings }] })
  return id
}
