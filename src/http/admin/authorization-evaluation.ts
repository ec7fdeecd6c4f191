import * as z from 'zod'
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readText,
  readTexts,
} from '../../kinds/json.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
import { type EvaluationRequest, evaluatePolicies } from '../../oidc/authorization/evaluate-policies.ts'
import { toEvaluationResponse } from '../../oidc/authorization/evaluation-response.ts'
import { getResourceServer } from '../../service/admin-api/authorization/resource-servers.ts'
import { readHandler } from '../handlers.ts'
import type { UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { BASE, bodyOf, clientOf } from './authorization-calls.ts'
import { answers, bodies } from './authorization-schemas.ts'
import { accessToken } from './token-schemas.ts'

const text = (description: string) => z.string().nullish().describe(description)

const request = nameSchema(
  'PolicyEvaluationRequest',
  z
    .strictObject({
      userId: text('Id or username of the user. Required.'),
      clientId: text(
        'Id of the client to which the token of the user is issued. Default: the client with the policies.',
      ),
      roleIds: z
        .array(z.string())
        .nullish()
        .describe(
          'Names of realm roles that the token has in addition. Without them, it has the direct roles of the user in addition.',
        ),
      resources: z
        .array(bodies.resource.schema.nullable())
        .default([])
        .describe(
          'Requested resources by `_id`, `name` or `type`, each with the requested scopes; without scopes, all scopes of the resource. Only scopes: those of all resources that have them. Default: all resources of the client and of the user.',
        ),
      resourceType: text('Keycloak: type of objects for fine-grained admin permissions. Ignored for other clients.'),
      context: z
        .record(z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()).nullable())
        .meta({
          wire: {
            type: 'object',
            additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
          },
        })
        .default({})
        .describe(
          'In `attributes`, attributes of the context by name, such as `kc.time.date_time`. Commas separate values.',
        ),
      entitlements: z.boolean().nullish().describe('Keycloak: ignored. The response has the permissions in any case.'),
    })
    .describe('What to evaluate, and for whom.'),
)

const effect = nameSchema('DecisionEffect', z.enum(['PERMIT', 'DENY']).describe('Whether access is granted.'))

const policyResult = nameSchema(
  'PolicyResultRepresentation',
  z
    .strictObject({
      policy: answers.policy.schema.describe('The policy or permission.'),
      status: effect,
      get associatedPolicies() {
        return z.array(policyResult).describe('Results of the policies that the permission combines.')
      },
      scopes: z.array(z.string()).describe('Scopes of a permission that denies access, by name.'),
      resourceType: text('Type of objects, for fine-grained admin permissions.'),
    })
    .describe('The result of a policy or permission.'),
)

const scopes = answers.scopes.schema
const result = nameSchema(
  'EvaluationResultRepresentation',
  z
    .strictObject({
      resource: answers.resource.schema.describe('The resource. Its name ends with the scopes.'),
      scopes: scopes.describe('Granted scopes; the requested scopes if access is denied.'),
      policies: z.array(policyResult).describe('Results of the permissions that apply.'),
      status: effect,
      allowedScopes: scopes.describe('Granted scopes.'),
      deniedScopes: scopes.describe('Keycloak: always empty.'),
    })
    .describe('The decision about a resource, or about scopes of any resource.'),
)

const response = {
  description: 'The decisions, with the policies that led to them.',
  schema: nameSchema(
    'PolicyEvaluationResponse',
    z
      .strictObject({
        results: z
          .array(result)
          .describe('Decisions by resource. No permission applies to resources without one: they are denied.'),
        entitlements: z.boolean().describe('Keycloak: always false.'),
        status: effect,
        rpt: accessToken.describe('Claims of the token, with the granted permissions in `authorization`.'),
      })
      .describe('The decisions about a request.'),
  ),
}

const body = {
  schema: request,
  description: 'What to evaluate, and for whom.',
  representation: 'PolicyEvaluationRequest',
}

/** The operations that evaluate the policies of a client. */
export const evaluationOperations: UntaggedOperation[] = [
  evaluation('evaluatePolicies', `${BASE}/policy/evaluate`, 'Evaluate the policies of a client for a user'),
  evaluation('evaluatePermissions', `${BASE}/permission/evaluate`, 'Evaluate the permissions of a client for a user'),
]

function evaluation(operationId: string, path: string, summary: string): UntaggedOperation {
  return {
    operationId,
    method: 'POST',
    path,
    summary,
    permission: 'view-authorization',
    event: false,
    body,
    responses: { 200: response, ...errorResponses, ...badRequest },
    handle: readHandler(async (context, call) => {
      const evaluationRequest = await bodyOf(context, call, () =>
        getResourceServer(context, clientOf(call), 'view-authorization'),
      )
      return toEvaluationResponse(
        await evaluatePolicies(context, call, { client: clientOf(call), ...readRequest(evaluationRequest) }),
      )
    }),
  }
}

function readRequest({
  userId,
  clientId,
  roleIds,
  resourceType,
  resources,
  context,
}: Representation): Omit<EvaluationRequest, 'client'> {
  const attributes = Object.entries(readObject(readObject(context).attributes))
  return {
    identity: { user: readText(userId), client: readText(clientId), roles: readTexts(roleIds) },
    resourceType: readText(resourceType),
    resources: readObjects(resources).map(({ _id, name, type, scopes }) => ({
      id: readText(_id),
      name: readText(name),
      type: readText(type),
      scopes: listScopes(scopes),
    })),
    attributes: Object.fromEntries(
      attributes.flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
    ),
  }
}

const listScopes = (scopes: Json | undefined): string[] =>
  (isList(scopes) ? scopes : []).flatMap((scope) => readText(isObject(scope) ? scope.name : scope) ?? [])
