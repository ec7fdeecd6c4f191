// The conditions of policies by type. They look at who requests access and when, not at what is requested.
import { kinds } from '../../kinds/index.ts'
import type { Key } from '../../kinds/kind.ts'
import { toRelationKeys } from '../../kinds/relations.ts'
import { compileJavaPattern } from '../../lib/keycloak/java-pattern.ts'
import { CLIENT_ID, findClaimValue, hasRole } from './attributes.ts'
import type { EvaluationContext } from './identity.ts'
import { PolicyError } from './policy-error.ts'
import type { Policy } from './resource-server.ts'
import { isInTime } from './time-policy.ts'

/** Whether a request meets the condition of a policy. @throws PolicyError if that cannot be decided */
export type PolicyCondition = (fields: Policy['fields'], context: EvaluationContext) => boolean

/** The conditions by type of policy. The type `aggregate` combines other policies: see `createPolicyEvaluation`. */
export const policyConditions: Readonly<Record<string, PolicyCondition>> = {
  role: (fields, { identity }) => {
    const fetchesRoles = fields.config?.fetchRoles === 'true'
    return hasRequired({
      required: listRoleKeys(fields, 'requiredRoles'),
      optional: listRoleKeys(fields, 'roles'),
      has: (role) => (fetchesRoles ? identity.roles.has(JSON.stringify(role)) : hasRole(identity.claims, role)),
    })
  },
  client: ({ clients = [] }, { attributes }) => clients.some((client) => attributes.get(CLIENT_ID)?.includes(client)),
  'client-scope': ({ clientScopes = [], requiredClientScopes = [] }, { identity }) => {
    const granted = identity.claims.get('scope')?.[0]?.split(' ') ?? []
    return hasRequired({
      required: requiredClientScopes,
      optional: clientScopes,
      has: (scope) => granted.includes(scope),
    })
  },
  user: ({ users = [] }, { identity }) => identity.username !== undefined && users.includes(identity.username),
  group: ({ config = {}, groups = [], groupsAndBelow = [] }, { identity }) => {
    const claim = config.groupsClaim ? identity.claims.get(config.groupsClaim) : undefined
    if (!claim) {
      return identity.groups.some(
        (path) => [...groups, ...groupsAndBelow].includes(path) || groupsAndBelow.some((group) => isBelow(path, group)),
      )
    }
    return claim.some(
      (value) =>
        [...groups, ...groupsAndBelow].some((path) => value === toClaim(path) || value === toGroupName(path)) ||
        groupsAndBelow.some((path) => isBelow(value, toClaim(path))),
    )
  },
  time: ({ config = {} }, { attributes }) => isInTime(config, attributes),
  regex: ({ config = {} }, { identity, attributes }) => {
    const { targetClaim, pattern, targetContextAttributes } = config
    if (targetClaim === undefined || pattern === undefined)
      throw new PolicyError('The policy has no targetClaim or no pattern.')
    const value = findClaimValue(targetContextAttributes === 'true' ? attributes : identity.claims, targetClaim)
    return value !== undefined && compilePattern(pattern).test(value)
  },
}

/** Whether all required elements are there, and at least one of all. */
function hasRequired<T>({
  required,
  optional,
  has,
}: {
  readonly required: readonly T[]
  readonly optional: readonly T[]
  readonly has: (element: T) => boolean
}): boolean {
  return required.every(has) && [...required, ...optional].some(has)
}

/** Returns the keys of the roles in a field of a policy. */
export function listRoleKeys(fields: Policy['fields'], name: 'roles' | 'requiredRoles'): Key[] {
  const { realm = null, client = null } = fields[name] ?? {}
  const names = { ...(realm && { realm }), ...(client && { client }) }
  return toRelationKeys(kinds.authorizationPolicy.fields[name]!, names)
}

const isBelow = (path: string, group: string): boolean => path.startsWith(`${group}/`)
/** Keycloak: the path of a group in claims does not escape slashes. */
const toClaim = (path: string): string => path.replaceAll('~/', '/')
const toGroupName = (path: string): string => toClaim(path.split(/(?<!~)\//).at(-1)!)

function compilePattern(pattern: string): RegExp {
  try {
    return compileJavaPattern(pattern)
  } catch {
    throw new PolicyError(`The pattern "${pattern}" cannot be evaluated.`)
  }
}
