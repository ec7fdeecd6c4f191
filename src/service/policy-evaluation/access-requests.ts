// What a request for access is about: resources with scopes, or scopes alone.
import { listGrantedResources } from './granted-tickets.ts'
import type { AccessIdentity } from './identity.ts'
import type { ProtectedResource, ResourceServer } from './resource-server.ts'

/** Scopes of one resource; or of any resource, if there is none. */
export interface AccessRequest {
  readonly resource?: ProtectedResource | undefined
  /** Names of scopes. Empty: access to the resource as such. */
  readonly scopes: readonly string[]
}

/** A resource as a request names it. An absent part does not matter; without id, name and type, all resources with the scopes are requested. */
export interface NamedResource {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** Names of scopes; others than those of the resource are ignored. Empty: all scopes of the resource. */
  readonly scopes: readonly string[]
}

/** Returns the requests for the named resources, or for all if nothing is named that exists. Keycloak: PolicyEvaluationService. */
export function resolveRequests(
  server: ResourceServer,
  identity: AccessIdentity,
  resources: readonly NamedResource[],
): AccessRequest[] {
  const requests = resources.flatMap((resource) => resolveRequest(server, resource))
  return requests.length ? requests : requestEverything(server, identity)
}

/** Returns the requests for all resources of the client itself, of the identity, and granted to it, each with its own scopes. */
export function requestEverything(server: ResourceServer, identity: AccessIdentity): AccessRequest[] {
  const ofClient = server.resources.filter(({ owner }) => owner === undefined)
  const ofIdentity = server.resources.filter(({ owner }) => owner === identity.id)
  const granted = listGrantedResources(server, identity)
  return [...new Set([...ofClient, ...ofIdentity, ...granted])].map((resource) =>
    requestResource(server, resource, resource.scopes),
  )
}

/** Returns the request for scopes of a resource; without scopes, for all of its scopes. */
export function requestResource(
  server: ResourceServer,
  resource: ProtectedResource,
  scopes: readonly string[],
): AccessRequest {
  const available = listAvailableScopes(server, resource)
  return { resource, scopes: scopes.length ? available.filter((scope) => scopes.includes(scope)) : available }
}

function resolveRequest(server: ResourceServer, { id, name, type, scopes }: NamedResource): AccessRequest[] {
  const request = (resource: ProtectedResource) => requestResource(server, resource, scopes)
  if (id !== undefined) {
    const resource = server.resourcesById.get(id)
    return resource ? [request(resource)] : []
  }
  if (name !== undefined) {
    const resource = server.resourcesByName.get(name)
    if (resource?.owner === undefined && resource) return [request(resource)]
  } else if (type !== undefined) return (server.ownResourcesByType.get(type) ?? []).map(request)
  return requestScopes(server, scopes)
}

/** Returns the requests for scopes of all resources that have one of them; if there are none, for the scopes alone. */
export function requestScopes(server: ResourceServer, scopes: readonly string[]): AccessRequest[] {
  const resources = new Set(scopes.flatMap((scope) => server.resourcesByScope.get(scope) ?? []))
  if (resources.size) return [...resources].map((resource) => requestResource(server, resource, scopes))
  return scopes.filter((scope) => server.scopesByName.has(scope)).map((scope) => ({ scopes: [scope] }))
}

/** Returns the scopes of a resource. Keycloak: a resource of a user also has those of the client's resources of its type. */
function listAvailableScopes(server: ResourceServer, { owner, type, scopes }: ProtectedResource): string[] {
  const related = owner === undefined || type === undefined ? [] : (server.ownResourcesByType.get(type) ?? [])
  return [...new Set([...scopes, ...related.flatMap((resource) => resource.scopes)])]
}
