import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import {
  createScope,
  findScope,
  listPermissionsOnScope,
  listResourcesWithScope,
  authorizationScopes as scopes,
} from '../../service/admin-api/authorization/authorization-scopes.ts'
import { objectBody } from '../body.ts'
import { readHandler } from '../handlers.ts'
import { type Call, getParameter, operationId, type UntaggedOperation } from '../operation.ts'
import { page } from '../query.ts'
import { badRequest, errorResponses, objectResponse } from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { BASE, clientOf, making, searching } from './authorization-calls.ts'
import { answers, bodylessErrors, byName } from './authorization-schemas.ts'

const SCOPES = `${BASE}/scope`
const SCOPE = `${SCOPES}/{scope-id}`

const kind = kinds.authorizationScope
const missing = { ...errorResponses, ...bodylessErrors.missing }
const { list, get, replace, remove } = collection(scopes, {
  path: SCOPES,
  item: '{scope-id}',
  query: z.object({
    scopeId: z.string().optional().describe('Id of the scope.'),
    name: z.string().optional().describe('Part of the name, in any case.'),
    ...page,
  }),
  responses: bodylessErrors.missing,
})
const { 200: response } = objectResponse(kind)

const addressOf = (call: Call) => ({ owner: clientOf(call), id: getParameter(call, 'scope-id') })

/** The operations on authorization scopes of clients. */
export const scopeOperations: UntaggedOperation[] = [
  list,
  {
    operationId: operationId('create', SCOPES),
    method: 'POST',
    path: SCOPES,
    summary: 'Create an authorization scope, or replace the one with that name',
    permission: scopes.manage,
    event: kind.events.type,
    body: objectBody(kind),
    responses: { 201: response!, ...errorResponses, ...badRequest, ...bodylessErrors.missing },
    handle: making('id', (context, call, body) => createScope(context, clientOf(call), body)),
  },
  {
    permission: scopes.view,
    operationId: operationId('find', `${SCOPES}/search`),
    method: 'GET',
    path: `${SCOPES}/search`,
    summary: 'Find an authorization scope by name',
    query: byName,
    responses: { 200: response!, 204: answers.absent, ...errorResponses, ...bodylessErrors.unnamed },
    handle: searching(findScope),
  },
  get,
  replace,
  remove,
  {
    operationId: operationId('list', `${SCOPE}/permissions`),
    method: 'GET',
    path: `${SCOPE}/permissions`,
    summary: 'List the permissions on an authorization scope',
    permission: scopes.view,
    responses: { 200: answers.policies, ...missing },
    handle: readHandler((context, call) => listPermissionsOnScope(context, addressOf(call))),
  },
  {
    operationId: operationId('list', `${SCOPE}/resources`),
    method: 'GET',
    path: `${SCOPE}/resources`,
    summary: 'List the resources with an authorization scope',
    permission: scopes.view,
    responses: { 200: answers.resources, ...missing },
    handle: readHandler((context, call) => listResourcesWithScope(context, addressOf(call))),
  },
]
