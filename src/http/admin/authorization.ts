import * as z from 'zod'
import { settingsOf } from '../../realm-file/forms/authorization-settings.ts'
import { importContent } from '../../reconcile/import.ts'
import { describeEvent } from '../../service/admin-events.ts'
import { authorizationResources as resources } from '../../service/resources/authorization-resources.ts'
import { authorizationScopes as scopes } from '../../service/resources/authorization-scopes.ts'
import {
  getServer,
  readContent,
  readServer,
  replaceServer,
  showServer,
} from '../../service/resources/resource-servers.ts'
import { type Operation, operationId, param, reading, tagged, type Untagged } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, done, refusals } from '../responses.ts'
import { BASE, bodyOf, changing, clientOf, making, readingOr, searching } from './authorization-calls.ts'
import { policyOperations } from './authorization-policies.ts'
import { answers, bodies, silently } from './authorization-schemas.ts'

const view = { permission: 'view-authorization' } as const
const manage = { permission: 'manage-authorization' } as const
const name = z.string().optional().describe('Name, or a part of it in any case.')
const byName = z.object({ name: z.string().optional().describe('Name of what is looked for.') })

const resourceQuery = z.object({
  _id: z.string().optional().describe('Id of the resource.'),
  name,
  exactName: queryFlag.describe('Whether the name is to be exactly so.'),
  type: z.string().optional().describe('Part of the type, in any case.'),
  uri: z.string().optional().describe('One of its addresses.'),
  matchingUri: queryFlag.describe('Whether an address counts that stands for the one looked for.'),
  owner: z.string().optional().describe('Id or name of the owner.'),
  scope: z.string().optional().describe('Part of the name of one of its scopes.'),
  deep: queryFlag.describe('Whether to show attributes and scopes; true unless it says otherwise.'),
  ...page,
})
const scopeQuery = z.object({ scopeId: z.string().optional().describe('Id of the scope.'), name, ...page })

const serverOperations: Untagged[] = [
  {
    ...view,
    operationId: operationId('get', BASE),
    method: 'GET',
    path: BASE,
    summary: 'Get how a client decides permissions',
    responses: { 200: answers.server, ...refusals },
    handle: reading((context, call) => readServer(context, clientOf(call))),
  },
  {
    ...manage,
    operationId: operationId('update', BASE),
    method: 'PUT',
    path: BASE,
    summary: 'Update how a client decides permissions',
    event: 'AUTHORIZATION_RESOURCE_SERVER',
    body: bodies.server,
    responses: { ...done, ...refusals, ...badRequest },
    handle: changing(async (context, call) => replaceServer(context, clientOf(call), await bodyOf(context, call))),
  },
  {
    ...view,
    operationId: operationId('get', `${BASE}/settings`),
    method: 'GET',
    path: `${BASE}/settings`,
    summary: 'Export all that a client decides permissions by',
    responses: { 200: answers.server, ...refusals },
    handle: reading(async (context, call) => settingsOf(await readContent(context, clientOf(call)))),
  },
  {
    ...manage,
    operationId: operationId('create', `${BASE}/import`),
    method: 'POST',
    path: `${BASE}/import`,
    summary: 'Import what a client decides permissions by: what is there already by name is updated',
    event: { type: 'AUTHORIZATION_RESOURCE_SERVER', operation: 'UPDATE' },
    body: bodies.server,
    responses: { ...done, ...refusals, ...badRequest },
    handle: changing(async (context, call) => {
      const authorizationSettings = await bodyOf(context, call)
      const server = await getServer(context, clientOf(call), 'manage-authorization')
      await importContent(context, { clients: [{ clientId: server.key[0]!, authorizationSettings }] })
      const representation = showServer(await getServer(context, clientOf(call), 'view-authorization'))
      describeEvent(context, { representation })
    }),
  },
]

const RESOURCES = `${BASE}/resource`
const RESOURCE = `${RESOURCES}/{resource-id}`

const resourceOperations: Untagged[] = [
  {
    ...view,
    operationId: operationId('list', RESOURCES),
    method: 'GET',
    path: RESOURCES,
    summary: 'List the resources of a client',
    query: resourceQuery,
    responses: { 200: answers.resources, ...refusals },
    handle: reading((context, call) => resources.list(context, clientOf(call), call.query)),
  },
  {
    ...manage,
    operationId: operationId('create', RESOURCES),
    method: 'POST',
    path: RESOURCES,
    summary: 'Create a resource; scopes that it names are made where they are not there',
    event: 'AUTHORIZATION_RESOURCE',
    body: bodies.resource,
    responses: { 201: answers.resource, ...refusals, ...badRequest },
    handle: making('_id', (context, call, body) => resources.create(context, clientOf(call), body), {
      taken: (error_description) => ({ error: 'invalid_request', error_description }),
    }),
  },
  {
    ...view,
    operationId: operationId('find', `${RESOURCES}/search`),
    method: 'GET',
    path: `${RESOURCES}/search`,
    summary: 'Get the resource of that name',
    query: byName,
    responses: { 200: answers.resource, 204: answers.absent, ...refusals, ...silently.unnamed },
    handle: searching(resources.find),
  },
  {
    ...view,
    operationId: operationId('get', RESOURCE),
    method: 'GET',
    path: RESOURCE,
    summary: 'Get a resource',
    responses: { 200: answers.resource, ...refusals },
    handle: reading((context, call) => resources.get(context, clientOf(call), param(call, 'resource-id'))),
  },
  {
    ...manage,
    operationId: operationId('update', RESOURCE),
    method: 'PUT',
    path: RESOURCE,
    summary: 'Update a resource: what is not stated goes, but for attributes',
    event: 'AUTHORIZATION_RESOURCE',
    body: bodies.resource,
    responses: { ...done, ...refusals, ...badRequest },
    handle: changing(async (context, call) =>
      resources.replace(context, clientOf(call), param(call, 'resource-id'), await bodyOf(context, call)),
    ),
  },
  {
    ...manage,
    operationId: operationId('delete', RESOURCE),
    method: 'DELETE',
    path: RESOURCE,
    summary: 'Delete a resource, and the permissions that are for nothing else',
    event: 'AUTHORIZATION_RESOURCE',
    responses: { ...done, ...refusals },
    handle: changing((context, call) => resources.delete(context, clientOf(call), param(call, 'resource-id'))),
  },
  part(
    RESOURCE,
    'attributes',
    answers.attributes,
    'Get the attributes of a resource',
    'resource-id',
    resources.attributes,
  ),
  part(RESOURCE, 'scopes', answers.scopes, 'List the scopes of a resource', 'resource-id', resources.scopes),
  part(
    RESOURCE,
    'permissions',
    answers.policies,
    'List the permissions on a resource',
    'resource-id',
    resources.permissions,
  ),
]

const SCOPES = `${BASE}/scope`
const SCOPE = `${SCOPES}/{scope-id}`

const scopeOperations: Untagged[] = [
  {
    ...view,
    operationId: operationId('list', SCOPES),
    method: 'GET',
    path: SCOPES,
    summary: 'List the scopes of a client',
    query: scopeQuery,
    responses: { 200: answers.scopes, ...refusals },
    handle: reading((context, call) => scopes.list(context, clientOf(call), call.query)),
  },
  {
    ...manage,
    operationId: operationId('create', SCOPES),
    method: 'POST',
    path: SCOPES,
    summary: 'Create a scope, or replace the one of that name',
    event: 'AUTHORIZATION_SCOPE',
    body: bodies.scope,
    responses: { 201: answers.scope, ...refusals, ...badRequest },
    handle: making('id', (context, call, body) => scopes.create(context, clientOf(call), body)),
  },
  {
    ...view,
    operationId: operationId('find', `${SCOPES}/search`),
    method: 'GET',
    path: `${SCOPES}/search`,
    summary: 'Get the scope of that name',
    query: byName,
    responses: { 200: answers.scope, 204: answers.absent, ...refusals, ...silently.unnamed },
    handle: searching(scopes.find),
  },
  {
    ...view,
    operationId: operationId('get', SCOPE),
    method: 'GET',
    path: SCOPE,
    summary: 'Get a scope',
    responses: { 200: answers.scope, ...refusals, ...silently.missing },
    handle: readingOr(404, (context, call) => scopes.get(context, clientOf(call), param(call, 'scope-id'))),
  },
  {
    ...manage,
    operationId: operationId('update', SCOPE),
    method: 'PUT',
    path: SCOPE,
    summary: 'Update a scope',
    event: 'AUTHORIZATION_SCOPE',
    body: bodies.scope,
    responses: { ...done, ...refusals, ...badRequest, ...silently.missing },
    handle: changing(async (context, call) =>
      scopes.replace(context, clientOf(call), param(call, 'scope-id'), await bodyOf(context, call)),
    ),
  },
  {
    ...manage,
    operationId: operationId('delete', SCOPE),
    method: 'DELETE',
    path: SCOPE,
    summary: 'Delete a scope that no resource has, and the permissions that are for nothing else',
    event: 'AUTHORIZATION_SCOPE',
    responses: { ...done, ...refusals, ...silently.missing },
    handle: changing((context, call) => scopes.delete(context, clientOf(call), param(call, 'scope-id'))),
  },
  part(SCOPE, 'permissions', answers.policies, 'List the permissions on a scope', 'scope-id', scopes.permissions),
  part(SCOPE, 'resources', answers.resources, 'List the resources that have a scope', 'scope-id', scopes.resources),
]

/** What belongs to one object. */
function part(
  item: string,
  field: string,
  answer: Untagged['responses'][number],
  summary: string,
  parameter: string,
  read: typeof resources.attributes | typeof resources.scopes,
): Untagged {
  return {
    ...view,
    operationId: operationId('list', `${item}/${field}`),
    method: 'GET',
    path: `${item}/${field}`,
    summary,
    responses: { 200: answer, ...refusals, ...silently.missing },
    handle: readingOr(404, (context, call) => read(context, clientOf(call), param(call, parameter))),
  }
}

/** Clients that decide permissions: settings, resources, scopes, policies and permissions. */
export const authorizationOperations: Operation[] = tagged('Clients (authorization)', [
  ...serverOperations,
  ...resourceOperations,
  ...scopeOperations,
  ...policyOperations,
])
