import * as z from 'zod'
import { policiesDocument, profilesDocument } from '../../kinds/client-policies.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  getClientPolicies,
  getClientProfiles,
  replaceClientPolicies,
  replaceClientProfiles,
} from '../../service/admin-api/clients/client-policies.ts'
import type { BodyForm } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Operation, tagged } from '../operation.ts'
import { queryFlag } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const profiles: BodyForm = {
  schema: profilesDocument,
  description: 'The client profiles, which replace those of the realm.',
  representation: nameAt('ClientProfilesRepresentation', 'ClientProfileRepresentation', {
    executors: 'ClientPolicyExecutorRepresentation',
  }),
}
const policies: BodyForm = {
  schema: policiesDocument,
  description: 'The client policies, which replace those of the realm.',
  representation: nameAt('ClientPoliciesRepresentation', 'ClientPolicyRepresentation', {
    conditions: 'ClientPolicyConditionRepresentation',
  }),
}

/** The operations on client profiles and client policies. */
export const clientPolicyOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'getClientProfiles',
    method: 'GET',
    path: '/admin/realms/{realm}/client-policies/profiles',
    summary: 'Get client profiles',
    permission: 'view-realm',
    query: z.object({
      'include-global-profiles': queryFlag.describe('Whether to return the global profiles too. Default: false.'),
    }),
    responses: { 200: { description: 'The client profiles.', schema: profilesDocument }, ...errorResponses },
    handle: readHandler((context, call) => getClientProfiles(context, call.query['include-global-profiles'] === true)),
  },
  {
    operationId: 'updateClientProfiles',
    method: 'PUT',
    path: '/admin/realms/{realm}/client-policies/profiles',
    summary: 'Update client profiles',
    permission: 'manage-realm',
    event: false,
    body: profiles,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) => replaceClientProfiles(context, call.body as Representation)),
  },
  {
    operationId: 'getClientPolicies',
    method: 'GET',
    path: '/admin/realms/{realm}/client-policies/policies',
    summary: 'Get client policies',
    permission: 'view-realm',
    query: z.object({
      'include-global-policies': queryFlag.describe('Whether to return the global policies too. Default: false.'),
    }),
    responses: { 200: { description: 'The client policies.', schema: policiesDocument }, ...errorResponses },
    handle: readHandler((context, call) => getClientPolicies(context, call.query['include-global-policies'] === true)),
  },
  {
    operationId: 'updateClientPolicies',
    method: 'PUT',
    path: '/admin/realms/{realm}/client-policies/policies',
    summary: 'Update client policies',
    permission: 'manage-realm',
    event: false,
    body: policies,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) => replaceClientPolicies(context, call.body as Representation)),
  },
])

/** The names of representations in errors: the document, an element of its list, or an element of a list in that. */
function nameAt(
  document: string,
  element: string,
  inner: Readonly<Record<string, string>>,
): (path: BodyPath) => string {
  return ([, index, list]) => (index === undefined ? document : (inner[String(list)] ?? element))
}

type BodyPath = readonly (string | number)[]
