import * as z from 'zod'
import { authorizationScopes as scopes } from '../../service/resources/authorization-scopes.ts'
import { operationId, param, reading, type Untagged } from '../operation.ts'
import { page } from '../query.ts'
import { badRequest, done, refusals } from '../responses.ts'
import { BASE, bodyOf, changing, clientOf, making, part, readingOr, searching } from './authorization-calls.ts'
import { answers, bodies, byName, silently } from './authorization-schemas.ts'

const view = { permission: 'view-authorization' } as const
const manage = { permission: 'manage-authorization' } as const
const scopeQuery = z.object({
  scopeId: z.string().optional().describe('Id of the scope.'),
  name: z.string().optional().describe('Part of the name, in any case.'),
  ...page,
})

const SCOPES = `${BASE}/scope`
const SCOPE = `${SCOPES}/{scope-id}`

/** Scopes of clients. */
export const scopeOperations: Untagged[] = [
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
