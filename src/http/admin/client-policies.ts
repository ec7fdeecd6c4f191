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
import { badRequest, components, errorResponses, noContentResponse } from '../responses.ts'

components.add(profilesDocument, { id: 'ClientProfilesRepresentation' })
components.add(policiesDocument, { id: 'ClientPoliciesRepresentation' })

const profiles: BodyForm = {
  schema: profilesDocument,
  description: 'The profiles, as they shall be.',
  representation: nameAt('ClientProfilesRepresentation', 'ClientProfileRepresentation', {
    executors: 'ClientPolicyExecutorRepresentation',
  }),
}
const policies: BodyForm = {
  schema: policiesDocument,
  description: 'The policies, as they shall be.',
  representation: nameAt('ClientPoliciesRepresentation', 'ClientPolicyRepresentation', {
    conditions: 'ClientPolicyConditionRepresentation',
  }),
}

/** Client profiles and client policies. */
export const clientPolicyOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'getClientProfiles',
    method: 'GET',
    path: '/admin/realms/{realm}/client-policies/profiles',
    summary: 'Get client profiles',
    permission: 'view-realm',
    query: z.object({
      'include-global-profiles': queryFlag.describe('Whether to show also the profiles that every realm has.'),
    }),
    responses: { 200: { description: 'The profiles.', schema: profilesDocument }, ...errorResponses },
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
      'include-global-policies': queryFlag.describe('Whether to show also the policies that every realm has.'),
    }),
    responses: { 200: { description: 'The policies.', schema: policiesDocument }, ...errorResponses },
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
