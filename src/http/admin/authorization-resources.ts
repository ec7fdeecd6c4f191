import * as z from 'zod'
import { authorizationResources as resources } from '../../service/admin-api/authorization/authorization-resources.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { getParameter, operationId, type UntaggedOperation } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { BASE, bodyOf, clientOf, making, searching } from './authorization-calls.ts'
import { answers, bodies, bodylessErrors, byName } from './authorization-schemas.ts'

const view = { permission: 'view-authorization' } as const
const manage = { permission: 'manage-authorization' } as const
const resourceQuery = z.object({
  _id: z.string().optional().describe('Id of the resource.'),
  id: z.string().optional().describe('The same as `_id`.'),
  name: z.string().optional().describe('Part of the name, in any case.'),
  exactName: queryFlag.describe('Whether the name must match exactly. Default: false.'),
  type: z.string().optional().describe('Part of the type, in any case.'),
  uri: z.string().optional().describe('URI of the resource, as it is declared.'),
  matchingUri: queryFlag.describe('Whether patterns of URIs match too. Default: false.'),
  owner: z.string().optional().describe('Id or name of the owner.'),
  scope: z.string().optional().describe('Part of the name of one of its scopes, in any case.'),
  deep: queryFlag.describe('Whether to return attributes and scopes. Default: true.'),
  ...page,
})

const RESOURCES = `${BASE}/resource`
const RESOURCE = `${RESOURCES}/{resource-id}`

/** The operations on protected resources of clients. */
export const resourceOperations: UntaggedOperation[] = [
  {
    ...view,
    operationId: operationId('list', RESOURCES),
    method: 'GET',
    path: RESOURCES,
    summary: 'List the protected resources of a client',
    query: resourceQuery,
    responses: { 200: answers.resources, ...errorResponses },
    handle: readHandler((context, call) => resources.list(context, clientOf(call), call.query)),
  },
  {
    ...manage,
    operationId: operationId('create', RESOURCES),
    method: 'POST',
    path: RESOURCES,
    summary: 'Create a protected resource; missing scopes are created',
    event: 'AUTHORIZATION_RESOURCE',
    body: bodies.resource,
    responses: { 201: answers.resource, ...errorResponses, ...badRequest },
    handle: making('_id', (context, call, body) => resources.create(context, clientOf(call), body), {
      conflictBody: (error_description) => ({ error: 'invalid_request', error_description }),
    }),
  },
  {
    ...view,
    operationId: operationId('find', `${RESOURCES}/search`),
    method: 'GET',
    path: `${RESOURCES}/search`,
    summary: 'Find a resource by name',
    query: byName,
    responses: { 200: answers.resource, 204: answers.absent, ...errorResponses, ...bodylessErrors.unnamed },
    handle: searching(resources.find),
  },
  {
    ...view,
    operationId: operationId('get', RESOURCE),
    method: 'GET',
    path: RESOURCE,
    summary: 'Get a resource',
    responses: { 200: answers.resource, ...errorResponses },
    handle: readHandler((context, call) => resources.get(context, clientOf(call), getParameter(call, 'resource-id'))),
  },
  {
    ...manage,
    operationId: operationId('update', RESOURCE),
    method: 'PUT',
    path: RESOURCE,
    summary: 'Update a resource; absent fields are cleared, except attributes',
    event: 'AUTHORIZATION_RESOURCE',
    body: bodies.resource,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) =>
      resources.replace(
        context,
        { client: clientOf(call), id: getParameter(call, 'resource-id') },
        await bodyOf(context, call),
      ),
    ),
  },
  {
    ...manage,
    operationId: operationId('delete', RESOURCE),
    method: 'DELETE',
    path: RESOURCE,
    summary: 'Delete a resource, and the permissions on no other resource',
    event: 'AUTHORIZATION_RESOURCE',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) =>
      resources.delete(context, clientOf(call), getParameter(call, 'resource-id')),
    ),
  },
  part('attributes', answers.attributes, 'Get the attributes of a resource'),
  part('scopes', answers.scopes, 'List the scopes of a resource'),
  part('permissions', answers.policies, 'List the permissions on a resource'),
]

function part(
  field: 'attributes' | 'scopes' | 'permissions',
  response: UntaggedOperation['responses'][number],
  summary: string,
): UntaggedOperation {
  return {
    ...view,
    operationId: operationId('list', `${RESOURCE}/${field}`),
    method: 'GET',
    path: `${RESOURCE}/${field}`,
    summary,
    responses: { 200: response, ...errorResponses, ...bodylessErrors.missing },
    handle: readHandler((context, call) =>
      resources[field](context, clientOf(call), getParameter(call, 'resource-id')),
    ),
  }
}
