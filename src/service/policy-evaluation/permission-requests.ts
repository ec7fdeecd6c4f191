// The permissions that an application requests for a user, as requests for access. Keycloak: AuthorizationTokenService.
import { type AccessRequest, requestResource, requestScopes } from './access-requests.ts'
import { listGrantedResources } from './granted-tickets.ts'
import type { AccessIdentity } from './identity.ts'
import type { ProtectedResource, ResourceServer } from './resource-server.ts'
import { findBestMatch } from './uri-patterns.ts'

/** A requested permission: scopes of a resource, or of all resources. */
export interface RequestedPermission {
  /** Id, name, type or URI of the resource. */
  readonly resource?: string | undefined
  /** Names of scopes. Empty: all scopes of the resource. */
  readonly scopes: readonly string[]
}

/** The form in which requested permissions name resources. */
export interface PermissionFormat {
  /** Names of resources are URIs. */
  readonly isUri: boolean
  /** A URI may match the pattern of a resource. */
  readonly matchesPatterns: boolean
}

/** Requested permissions of an identity. */
export interface PermissionRequest {
  readonly permissions: readonly RequestedPermission[]
  readonly format: PermissionFormat
  /** The most resources that are requested. */
  readonly limit?: number | undefined
}

/** A requested resource or scope does not exist. */
export class UnknownPermission extends Error {
  readonly kind: 'resource' | 'scope'
  constructor(kind: 'resource' | 'scope', message: string) {
    super(message)
    this.kind = kind
  }
}

/**
 * Returns the requests for access that permissions name, one for each resource.
 * @throws UnknownPermission if there is none for a permission, nor for an earlier one
 */
export function resolvePermissions(
  server: ResourceServer,
  identity: AccessIdentity,
  { permissions, format, limit = Number.POSITIVE_INFINITY }: PermissionRequest,
): AccessRequest[] {
  const requests: AccessRequests = new Map()
  const add = (request: AccessRequest) => {
    if (requests.size < limit || requests.has(getTarget(request))) addRequest(requests, request)
  }
  for (const { resource, scopes: names } of permissions) {
    const scopes = names.filter((name) => server.scopesByName.has(name))
    if (names.length && !scopes.length)
      throw new UnknownPermission('scope', `One of the given scopes [${names.join(', ')}] is invalid`)
    if (!resource) {
      for (const request of requestScopes(server, scopes)) add(request)
      continue
    }
    const resources = findResources(server, identity, { name: resource, format })
    for (const request of resources.map((match) => requestResource(server, match, scopes)))
      if (request.scopes.length || !scopes.length) add(request)
    const isName = !server.resourcesById.has(resource) && !TYPE.test(resource)
    if (!requests.size && limit > 0 && isName)
      throw new UnknownPermission(
        'resource',
        `Resource with ${format.isUri ? 'uri' : 'id'} [${resource}] does not exist.`,
      )
  }
  return [...requests.values()]
}

/** Returns the requests with those for permissions of an earlier token, as far as their resources exist. */
export function addEarlierPermissions(
  server: ResourceServer,
  requests: readonly AccessRequest[],
  earlier: readonly { readonly resource: string; readonly scopes: readonly string[] }[],
): AccessRequest[] {
  const merged: AccessRequests = new Map()
  for (const request of requests) addRequest(merged, request)
  for (const { resource: id, scopes } of earlier) {
    const resource = server.resourcesById.get(id)
    if (resource) addRequest(merged, requestResource(server, resource, scopes))
  }
  return [...merged.values()]
}

/** Requests by resource, or by the scopes of any resource. */
type AccessRequests = Map<ProtectedResource | string, AccessRequest>

const getTarget = ({ resource, scopes }: AccessRequest): ProtectedResource | string => resource ?? scopes.join()

/** Adds the scopes of a request to those of an earlier one for the same resource. */
function addRequest(requests: AccessRequests, request: AccessRequest): void {
  const target = getTarget(request)
  const scopes = [...(requests.get(target)?.scopes ?? []), ...request.scopes]
  requests.set(target, { ...request, scopes: [...new Set(scopes)] })
}

/** Keycloak: the prefixes of names that are types, and of whom the resources are. */
const TYPE = /^resource-type(?:-(any|owner|instance))?:(.*)$/s

/** Returns the resources that a permission names. Resources of other users are found by id only. */
function findResources(
  server: ResourceServer,
  identity: AccessIdentity,
  { name, format }: { readonly name: string; readonly format: PermissionFormat },
): readonly ProtectedResource[] {
  if (format.isUri) return findByUri(server, name, format)
  const byId = server.resourcesById.get(name)
  if (byId) return [byId]
  const [isType, owners, type] = TYPE.exec(name) ?? []
  if (isType === undefined) {
    const resource = server.resourcesByName.get(name)
    return resource && (resource.owner === undefined || isOwnerOrRequester(server, identity, resource))
      ? [resource]
      : []
  }
  return server.resources.filter((resource) => resource.type === type && isOfOwners(owners, identity, resource))
}

function isOfOwners(owners: string | undefined, { id }: AccessIdentity, { owner }: ProtectedResource): boolean {
  if (owners === 'any') return true
  if (owners === 'owner') return owner === id
  return (owner === undefined) === (owners === undefined)
}

/** Whether the identity owns the resource, or its owner has granted a request of the identity. */
const isOwnerOrRequester = (server: ResourceServer, identity: AccessIdentity, resource: ProtectedResource): boolean =>
  resource.owner === identity.id || listGrantedResources(server, identity).includes(resource)

/** Keycloak: patterns are those of the client's own resources. */
function findByUri(
  { resources }: ResourceServer,
  uri: string,
  { matchesPatterns }: PermissionFormat,
): readonly ProtectedResource[] {
  const exact = resources.filter(({ uris }) => uris.includes(uri))
  if (exact.length || !matchesPatterns) return exact
  const ofClient = resources.filter(({ owner }) => owner === undefined)
  return [findBestMatch(ofClient, uri, ({ uris }) => uris) ?? []].flat()
}
