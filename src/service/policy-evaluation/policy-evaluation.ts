// The evaluation of policies and permissions for one context. Each policy is evaluated once.
import type { EvaluationContext } from './identity.ts'
import { PolicyError } from './policy-error.ts'
import { policyConditions } from './policy-types.ts'
import type { DecisionStrategy, Policy, ProtectedResource, ResourceServer } from './resource-server.ts'

/** The result of a policy, of a permission, or of a request. */
export type DecisionEffect = 'PERMIT' | 'DENY'

/** The result of a policy or permission, with those of the policies that a permission combines. */
export interface PolicyResult {
  readonly policy: Policy
  readonly effect: DecisionEffect
  /** The reason why the policy cannot be evaluated; it then denies, and so does every permission with it. */
  readonly error?: string | undefined
  readonly policies: readonly PolicyResult[]
}

/** Evaluates policies and permissions for one context. */
export interface PolicyEvaluation {
  readonly server: ResourceServer
  readonly context: EvaluationContext
  /**
   * Returns the result of a permission on a resource; undefined if it has no policies, so that it says nothing.
   * Keycloak: AbstractPermissionProvider, UMAPolicyProvider.
   */
  readonly evaluatePermission: (permission: Policy, resource: ProtectedResource | undefined) => PolicyResult | undefined
}

/** Starts the evaluation of policies for a context. */
export function createPolicyEvaluation(server: ResourceServer, context: EvaluationContext): PolicyEvaluation {
  const results = new Map<string, PolicyResult>()
  /** Names of the aggregated policies that are being evaluated. */
  const started = new Set<string>()

  const evaluate = (policy: Policy): PolicyResult => {
    const evaluated = results.get(policy.name)
    if (evaluated) return evaluated
    const result = attempt(policy, () => meetsCondition(policy) !== (policy.fields.logic === 'NEGATIVE'))
    results.set(policy.name, result)
    return result
  }

  const meetsCondition = (policy: Policy): boolean => {
    if (policy.fields.type === 'aggregate') return meetsAggregate(policy)
    const condition = getOwn(policyConditions, String(policy.fields.type))
    if (!condition) throw new PolicyError(`Policies of type ${policy.fields.type} cannot be evaluated.`)
    return condition(policy.fields, context)
  }

  const meetsAggregate = (policy: Policy): boolean => {
    if (started.has(policy.name)) throw new PolicyError('The policy contains itself.')
    started.add(policy.name)
    const parts = listPolicies(policy).map(evaluate)
    started.delete(policy.name)
    const failed = parts.find(({ error }) => error !== undefined)
    if (failed) throw new PolicyError(`${failed.policy.name}: ${failed.error}`)
    // Keycloak: without policies there is no decision, which counts as denied.
    return parts.length > 0 && combine(policy.fields.decisionStrategy, parts)
  }

  const listPolicies = ({ fields }: Policy): Policy[] =>
    (fields.policies ?? []).flatMap((name) => server.policiesByName.get(name) ?? [])

  return {
    server,
    context,
    evaluatePermission: (permission, resource) => {
      const isOwner = resource && (resource.owner ?? server.id) === context.identity.id
      const isGrantedToOwner = permission.fields.type === 'uma' && isOwner
      const policies = isGrantedToOwner ? [] : listPolicies(permission).map(evaluate)
      if (!policies.length && !isGrantedToOwner) return undefined
      const isGranted =
        policies.every(({ error }) => error === undefined) && combine(permission.fields.decisionStrategy, policies)
      return { policy: permission, effect: isGranted ? 'PERMIT' : 'DENY', policies }
    },
  }
}

function attempt(policy: Policy, isGranted: () => boolean): PolicyResult {
  try {
    return { policy, effect: isGranted() ? 'PERMIT' : 'DENY', policies: [] }
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    return { policy, effect: 'DENY', error: error.message, policies: [] }
  }
}

/** Whether the results permit access together. */
function combine(strategy: DecisionStrategy | undefined, results: readonly PolicyResult[]): boolean {
  const permits = results.filter(({ effect }) => effect === 'PERMIT').length
  if (strategy === 'AFFIRMATIVE') return permits > 0
  return strategy === 'CONSENSUS' ? permits > results.length - permits : permits === results.length
}

function getOwn<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
