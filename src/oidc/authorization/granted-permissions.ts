// The permissions in tokens and responses, from decisions about access. Keycloak: DecisionPermissionCollector.
import type { Representation } from '../../kinds/json.ts'
import type { AccessDecision } from '../../service/policy-evaluation/access-decisions.ts'
import type { Attributes } from '../../service/policy-evaluation/attributes.ts'

/** Returns the permissions that decisions grant, with the given claims. Keycloak: two with a scope in common are one, that of the first. */
export function toGrantedPermissions(decisions: readonly AccessDecision[], attributes: Attributes): Representation[] {
  const granted: AccessDecision[] = []
  for (const decision of decisions) {
    const { request, effect, scopes, permissions } = decision
    const isForUnknownScopes = !permissions.length && !scopes.length && request.resource?.scopes.length
    if (effect === 'DENY' || isForUnknownScopes) continue
    if (!granted.some((other) => other.request.resource === request.resource && overlap(other.scopes, scopes)))
      granted.push(decision)
  }
  const claims = Object.fromEntries([...attributes].map(([name, values]) => [name, [...values]]))
  return granted.map(({ request: { resource }, scopes }) => ({
    ...(scopes.length && { scopes: [...scopes] }),
    ...(attributes.size && { claims }),
    ...(resource && { rsid: resource.id, rsname: resource.name }),
  }))
}

function overlap(a: readonly string[], b: readonly string[]): boolean {
  return (!a.length && !b.length) || a.some((scope) => b.includes(scope))
}
