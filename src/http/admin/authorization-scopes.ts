import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import {
  createScope,
  findScope,
  permissionsOn,
  resourcesOf,
  authorizationScopes as scopes,
} from '../../service/resources/authorization-scopes.ts'
import { type Call, operationId, param, reading, type Untagged } from '../operation.ts'
import { page } from '../query.ts'
import { one, refusals } from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { BASE, clientOf, making, searching } from './authorization-calls.ts'
import { answers, byName, silently } from './authorization-schemas.ts'

const SCOPES = `${BASE}/scope`
const SCOPE = `${SCOPES}/{scope-id}`

const [list, create, get, update, remove] = collection(scopes, SCOPES, '{scope-id}').map((operation) => ({
  ...operation,
  responses: { ...operation.responses, ...silently.missing },
}))
const { 200: answer } = one(kinds.authorizationScope)

const placeOf = (call: Call) => ({ owner: clientOf(call), id: param(call, 'scope-id') })

/** Scopes of clients. */
export const scopeOperations: Untagged[] = [
  {
    ...list!,
    query: z.object({
      scopeId: z.string().optional().describe('Id of the scope.'),
      name: z.string().optional().describe('Part of the name, in any case.'),
      ...page,
    }),
  },
  {
    ...create!,
    summary: 'Create a scope, or replace the one of that name',
    responses: { ...create!.responses, 201: answer! },
    handle: making('id', (context, call, body) => createScope(context, clientOf(call), body)),
  },
  {
    permission: scopes.view,
    operationId: operationId('find', `${SCOPES}/search`),
    method: 'GET',
    path: `${SCOPES}/search`,
    summary: 'Get the scope of that name',
    query: byName,
    responses: { 200: answer!, 204: answers.absent, ...refusals, ...silently.unnamed },
    handle: searching(findScope),
  },
  get!,
  update!,
  remove!,
  {
    ...get!,
    operationId: operationId('list', `${SCOPE}/permissions`),
    path: `${SCOPE}/permissions`,
    summary: 'List the permissions on a scope',
    responses: { ...get!.responses, 200: answers.policies },
    handle: reading((context, call) => permissionsOn(context, placeOf(call))),
  },
  {
    ...get!,
    operationId: operationId('list', `${SCOPE}/resources`),
    path: `${SCOPE}/resources`,
    summary: 'List the resources that have a scope',
    responses: { ...get!.responses, 200: answers.resources },
    handle: reading((context, call) => resourcesOf(context, placeOf(call))),
  },
]
