// Filters of the lists of policies and resources.
import { PERMISSION_TYPES } from '../../../kinds/authorization-policy-types.ts'
import { readObject, readTexts } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { isPartOfOwners } from '../../authorization/authorization-writers.ts'
import type { Context } from '../../context/context.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { findBestMatch } from '../../policy-evaluation/uri-patterns.ts'
import type { Query } from '../common/resource.ts'
import { listServerObjects } from './resource-servers.ts'

/** The resource server whose policies are listed, and all of them. */
export interface PoliciesOfServer {
  readonly server: LiveObject
  readonly policies: readonly LiveObject[]
}

/**
 * Returns the policies that match a query, or undefined if the resource or scope that it names does not exist. Keycloak: the
 * type matches by a part of it, the resource and the scope by id or by a part of the name, in any case, and the type of resources
 * by a part of it in the same case.
 */
export async function filterPolicies(
  context: Context,
  { server, policies }: PoliciesOfServer,
  { policyId, type, permission, resource, scope, resourceType, owner }: Query,
): Promise<LiveObject[] | undefined> {
  const resources = resource
    ? await findNames(context, server, { kind: 'authorizationResource', text: String(resource) })
    : undefined
  const scopes = scope
    ? await findNames(context, server, { kind: 'authorizationScope', text: String(scope) })
    : undefined
  if (resources?.length === 0 || scopes?.length === 0) return undefined
  // Keycloak: policies of owners of resources are not listed.
  const isOfOwner = ({ key, representation: { type } }: LiveObject) =>
    type === 'uma' || isPartOfOwners(key.at(-1)!, policies)
  return policies.filter((live) => {
    const { id, representation } = live
    const policyType = String(representation.type)
    return (
      !owner &&
      !isOfOwner(live) &&
      (!policyId || id === policyId) &&
      (!type || containsIgnoringCase(policyType, type)) &&
      (!resourceType ||
        String(readObject(representation.config).defaultResourceType ?? '').includes(String(resourceType))) &&
      (permission === undefined || PERMISSION_TYPES.includes(policyType) === permission) &&
      (!resources || readTexts(representation.resources).some((name) => resources.includes(name))) &&
      (!scopes || readTexts(representation.scopes).some((name) => scopes.includes(name)))
    )
  })
}

/** Returns the name of the object with that id, or else the names that contain the text. */
async function findNames(
  context: Context,
  server: LiveObject,
  { kind, text }: { readonly kind: KindName; readonly text: string },
): Promise<string[]> {
  const all = await listServerObjects(context, server, { kind })
  const withId = all.filter(({ id }) => id === text)
  const matches = withId.length ? withId : all.filter(({ key }) => containsIgnoringCase(key.at(-1), text))
  return matches.map(({ key }) => key.at(-1)!)
}

/** Returns the resources that match a query. Keycloak: name, type and scope match by a part of them, in any case. */
export function filterResources(resources: readonly LiveObject[], server: LiveObject, query: Query): LiveObject[] {
  const { _id, id: idParameter, name, exactName, type, scope, owner, uri, matchingUri } = query
  const matches = resources.filter(({ id, key, representation, references }) => {
    const owners =
      references.owner === undefined ? [server.id, server.key[0]] : [references.owner, representation.owner]
    return (
      (!_id || id === _id) &&
      (!idParameter || id === idParameter) &&
      (!name || (exactName === true ? key.at(-1) === name : containsIgnoringCase(key.at(-1), name))) &&
      (!type || containsIgnoringCase(representation.type, type)) &&
      (!scope || readTexts(representation.scopes).some((scopeName) => containsIgnoringCase(scopeName, scope))) &&
      (!owner || owners.includes(String(owner)))
    )
  })
  if (!uri) return matches
  const exactMatches = matches.filter(({ representation }) => readTexts(representation.uris).includes(String(uri)))
  if (exactMatches.length || matchingUri !== true) return exactMatches
  return [findBestMatch(matches, String(uri), (live) => readTexts(live.representation.uris)) ?? []].flat()
}

function containsIgnoringCase(text: unknown, part: unknown): boolean {
  return String(text ?? '')
    .toLowerCase()
    .includes(String(part).toLowerCase())
}
