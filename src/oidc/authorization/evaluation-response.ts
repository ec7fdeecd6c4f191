// The representation of evaluated policies in the admin API. Keycloak: PolicyEvaluationResponse.
import { omitUndefined, type Representation } from '../../kinds/json.ts'
import type { AccessDecision } from '../../service/policy-evaluation/access-decisions.ts'
import type { PolicyResult } from '../../service/policy-evaluation/policy-evaluation.ts'
import type { ProtectedResource, ResourceServer } from '../../service/policy-evaluation/resource-server.ts'
import type { PolicyEvaluationResult } from './evaluate-policies.ts'
import { toGrantedPermissions } from './granted-permissions.ts'

/** Returns the representation of decisions: one result for each resource, and the token with the granted permissions. */
export function toEvaluationResponse({
  server,
  decisions,
  claims,
  attributes,
}: PolicyEvaluationResult): Representation {
  const byResource = Map.groupBy(decisions, ({ request }) => request.resource)
  const results = [...byResource].map(([resource, ofResource]) => toResult(server, resource, ofResource))
  return {
    results: results.sort((a, b) => (a.resource.name < b.resource.name ? -1 : 1)),
    // Keycloak: always false.
    entitlements: false,
    status: decisions.some(({ effect }) => effect === 'DENY') ? 'DENY' : 'PERMIT',
    rpt: { ...claims, authorization: { permissions: toGrantedPermissions(decisions, attributes) } },
  }
}

/** Returns the result for a resource, or for scopes of any resource. It is permitted if one of the decisions is. */
function toResult(
  server: ResourceServer,
  resource: ProtectedResource | undefined,
  decisions: readonly AccessDecision[],
) {
  const permitted = decisions.filter(({ effect }) => effect === 'PERMIT')
  const status = permitted.length ? 'PERMIT' : 'DENY'
  const names = [...new Set((permitted.length ? permitted : decisions).flatMap(({ scopes }) => scopes))]
  const scopes = names.flatMap((name) => server.scopesByName.get(name) ?? []).map(({ id, name }) => ({ id, name }))
  const list = `[${names.join(', ')}]`
  const permissions = new Map(
    decisions.flatMap((decision) => decision.permissions).map((result) => [result.policy.name, result]),
  )
  return {
    resource: resource
      ? {
          name: names.length ? `${resource.name} with scopes ${list}` : resource.name,
          // An object without a permission of its own has no resource.
          ...(resource.id && { _id: resource.id }),
        }
      : { name: `Any Resource with Scopes ${list}` },
    scopes,
    policies: [...permissions.values()].map((result) => toPolicyResult(result, resource)),
    status,
    allowedScopes: permitted.length ? scopes : [],
    // Keycloak: always empty.
    deniedScopes: [],
  }
}

/** Keycloak: logic and settings of the policy are the defaults, and a permission on a resource has the scopes of the resource. */
function toPolicyResult(
  { policy, effect, error, policies }: PolicyResult,
  resource: ProtectedResource | undefined,
): Representation {
  const { type, description, decisionStrategy, resources = [], scopes = [] } = policy.fields
  const reason = error === undefined ? description : `Denied because of an error: ${error}`
  return {
    policy: omitUndefined({
      id: policy.id,
      name: policy.name,
      description: reason,
      type,
      resources: [...resources],
      scopes: [...(type === 'resource' ? (resource?.scopes ?? []) : scopes)],
      logic: 'POSITIVE',
      decisionStrategy,
      config: {},
    }),
    status: effect,
    associatedPolicies: policies.map((result) => toPolicyResult(result, resource)),
    scopes: effect === 'DENY' ? [...scopes] : [],
  }
}
