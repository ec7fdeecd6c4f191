// The decision about requests for access, from the permissions that apply to them. Keycloak: DecisionPermissionCollector.
import type { AccessRequest } from './access-requests.ts'
import type { EvaluationContext } from './identity.ts'
import {
  createPolicyEvaluation,
  type DecisionEffect,
  type PolicyEvaluation,
  type PolicyResult,
} from './policy-evaluation.ts'
import type { Policy, ResourceServer } from './resource-server.ts'

/** The decision about a request. */
export interface AccessDecision {
  readonly request: AccessRequest
  readonly effect: DecisionEffect
  /** The granted scopes; those that are requested, if access is denied. */
  readonly scopes: readonly string[]
  /** The permissions that were evaluated, with their policies. */
  readonly permissions: readonly PolicyResult[]
}

/**
 * Decides about requests. A request that no permission with policies applies to is not in the result, which means that it is denied,
 * unless the client is permissive.
 */
export function decideAccess(
  server: ResourceServer,
  context: EvaluationContext,
  requests: readonly AccessRequest[],
): AccessDecision[] {
  const evaluation = createPolicyEvaluation(server, context)
  return requests.flatMap((request) => decide(evaluation, request) ?? [])
}

function decide(evaluation: PolicyEvaluation, request: AccessRequest): AccessDecision | undefined {
  const { server } = evaluation
  const { resource, scopes } = request
  if (server.enforcementMode === 'DISABLED') return { request, effect: 'PERMIT', scopes, permissions: [] }
  const applicable = listPermissions(server, request)
  if (!applicable.flat().length) {
    const isPermitted = server.enforcementMode === 'PERMISSIVE' && !resource?.isOwnerManaged
    return isPermitted ? { request, effect: 'PERMIT', scopes, permissions: [] } : undefined
  }
  const groups = applicable.map((group) =>
    group.flatMap((permission) => evaluation.evaluatePermission(permission, resource) ?? []),
  )
  const permissions = groups.flat()
  if (!permissions.length) return undefined
  const granted = findGrantedScopes(server, request, groups)
  return granted
    ? { request, effect: 'PERMIT', scopes: scopes.filter((scope) => granted.has(scope)), permissions }
    : { request, effect: 'DENY', scopes, permissions }
}

/**
 * Returns the permissions that apply to a request, each once: those on the resource, on its type, on resources of the client of that
 * type if a user owns the resource, and on the scopes of any resource.
 */
function listPermissions(server: ResourceServer, { resource, scopes }: AccessRequest): Policy[][] {
  const listedPermissions = new Set<Policy>()
  const listNew = (permissions: readonly Policy[]) =>
    permissions.filter((permission) => !listedPermissions.has(permission) && listedPermissions.add(permission))
  const ofResource = (name: string) => server.permissionsByResource.get(name) ?? []
  const type = resource?.type
  const related = type === undefined || resource?.owner === undefined ? [] : (server.ownResourcesByType.get(type) ?? [])
  return [
    listNew(resource ? ofResource(resource.name) : []),
    listNew(type === undefined ? [] : (server.permissionsByType.get(type) ?? [])),
    listNew(related.flatMap(({ name }) => ofResource(name))),
    listNew(scopes.flatMap((scope) => server.permissionsByScope.get(scope) ?? [])),
  ]
}

/** The grants and denials of the permissions so far. */
interface Tally {
  readonly granted: Set<string>
  readonly denied: Set<string>
  /** Scopes that owners of the resource grant; undefined if they grant nothing. */
  byOwner: Set<string> | undefined
  /** Whether a permission on the resource grants access to it. */
  grantsResource: boolean
  hasDenial: boolean
}

/** Returns the scopes that are granted, which may be none; undefined if access is denied. */
function findGrantedScopes(
  server: ResourceServer,
  request: AccessRequest,
  groups: readonly (readonly PolicyResult[])[],
): Set<string> | undefined {
  const tally: Tally = {
    granted: new Set(),
    denied: new Set(),
    byOwner: undefined,
    grantsResource: false,
    hasDenial: false,
  }
  for (const group of groups) {
    const [permitting, denying] = [group.filter(isPermit), group.filter((result) => !isPermit(result))]
    for (const { policy } of permitting) addGrant(tally, request, policy)
    for (const { policy } of denying) addDenial(tally, request, policy)
  }
  const { denied, byOwner, grantsResource, hasDenial } = tally
  const isAffirmative = server.decisionStrategy === 'AFFIRMATIVE'
  const granted = new Set([...tally.granted].filter((scope) => isAffirmative || !denied.has(scope)))
  if (byOwner) {
    const all = new Set([...granted, ...byOwner])
    return all.size || !request.resource?.scopes.length ? all : undefined
  }
  if (granted.size) return granted
  const isAboutScopes = request.scopes.length > 0
  return hasDenial || (isAboutScopes && !grantsResource) ? undefined : granted
}

const isPermit = ({ effect }: PolicyResult): boolean => effect === 'PERMIT'

function addGrant(tally: Tally, { resource, scopes }: AccessRequest, { fields }: Policy): void {
  const ofPermission = fields.scopes ?? []
  if (fields.type === 'scope') {
    for (const scope of scopes.filter((name) => ofPermission.includes(name))) {
      tally.granted.add(scope)
      // Keycloak: a scope that the resource has only by its type is granted in spite of earlier denials.
      if (resource && !resource.scopes.includes(scope)) tally.denied.delete(scope)
    }
  } else if (fields.type === 'resource') for (const scope of scopes) tally.granted.add(scope)
  else if (resource?.isOwnerManaged) {
    tally.byOwner ??= new Set()
    const isRequested = (scope: string) => !scopes.length || scopes.includes(scope)
    for (const scope of ofPermission.filter(isRequested)) tally.byOwner.add(scope)
  }
  const isOnResource = resource !== undefined && fields.resources?.includes(resource.name)
  if (isOnResource && (fields.type !== 'scope' || resource.owner !== undefined)) tally.grantsResource = true
}

function addDenial(tally: Tally, { resource, scopes }: AccessRequest, { fields }: Policy): void {
  const isOnResource = resource !== undefined && fields.resources?.includes(resource.name)
  tally.hasDenial = true
  if (fields.type === 'resource') {
    if (isOnResource || !tally.grantsResource) for (const scope of scopes) tally.denied.add(scope)
  } else if (isOnResource || !fields.resources?.length) {
    for (const scope of fields.scopes ?? []) tally.denied.add(scope)
  }
}
