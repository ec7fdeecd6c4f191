import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import { writeAuthorizationSettings } from '../../realm-file/formats/authorization-settings.ts'
import { importContent } from '../../reconcile/import/import-content.ts'
import {
  completeImport,
  exportServer,
  getConfigurableResourceServer,
  getResourceServer,
  getServerSettings,
  replaceServerSettings,
  toServerRepresentation,
} from '../../service/admin-api/authorization/resource-servers.ts'
import { describeAdminEvent } from '../../service/journal/admin-events.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Operation, operationId, tagged, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { BASE, bodyOf, clientOf } from './authorization-calls.ts'
import { evaluationOperations } from './authorization-evaluation.ts'
import { policyOperations } from './authorization-policies.ts'
import { resourceOperations } from './authorization-resources.ts'
import { answers, bodies } from './authorization-schemas.ts'
import { scopeOperations } from './authorization-scopes.ts'

const view = { permission: 'view-authorization' } as const
const manage = { permission: 'manage-authorization' } as const

const isPartOfClient = (kind: KindName): boolean => kinds[kind].parents.includes('client')

const serverOperations: UntaggedOperation[] = [
  {
    ...view,
    operationId: operationId('get', BASE),
    method: 'GET',
    path: BASE,
    summary: 'Get the resource server settings of a client',
    responses: { 200: answers.server, ...errorResponses },
    handle: readHandler((context, call) => getServerSettings(context, clientOf(call))),
  },
  {
    ...manage,
    operationId: operationId('update', BASE),
    method: 'PUT',
    path: BASE,
    summary: 'Update the resource server settings of a client',
    event: 'AUTHORIZATION_RESOURCE_SERVER',
    body: bodies.server,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) =>
      replaceServerSettings(context, clientOf(call), await bodyOf(context, call)),
    ),
  },
  {
    ...manage,
    operationId: operationId('get', `${BASE}/settings`),
    method: 'GET',
    path: `${BASE}/settings`,
    summary: 'Export the authorization settings of a client',
    responses: { 200: answers.server, ...errorResponses },
    handle: readHandler(async (context, call) =>
      writeAuthorizationSettings(await exportServer(context, clientOf(call))),
    ),
  },
  {
    ...manage,
    operationId: operationId('create', `${BASE}/import`),
    method: 'POST',
    path: `${BASE}/import`,
    summary: 'Import authorization settings of a client; existing objects are replaced by name, others stay',
    event: { type: 'AUTHORIZATION_RESOURCE_SERVER', operation: 'UPDATE' },
    body: bodies.server,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => {
      const body = await bodyOf(context, call)
      const server = await getConfigurableResourceServer(context, clientOf(call))
      const authorizationSettings = await completeImport(context, server, body)
      const content = { clients: [{ clientId: server.key[0]!, authorizationSettings }] }
      await importContent(context, content, { isAuthoritative: () => isPartOfClient })
      const representation = toServerRepresentation(
        await getResourceServer(context, clientOf(call), 'manage-authorization'),
      )
      describeAdminEvent(context, { representation })
    }),
  },
]

/** The operations on authorization services of clients: settings, resources, scopes, policies and permissions. */
export const authorizationOperations: Operation[] = tagged('Clients (authorization)', [
  ...serverOperations,
  ...resourceOperations,
  ...scopeOperations,
  ...policyOperations,
  ...evaluationOperations,
])
