// The scope of a token: the client's default client scopes, and the optional ones that the request names.
import type { Context } from '../../service/context/context.ts'
import type { MapperContainer } from '../../service/context/store-types.ts'
import { listEnabledOrganizations, listMapperContainers, loadTokenUserData } from '../../service/login/token-content.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { ORGANIZATION_MEMBERSHIP } from '../mappers/organizations.ts'
import { OAuthError } from '../oauth-error.ts'
import { viewClient } from '../views.ts'

/** Scope values that are not client scopes. */
const PROTOCOL_SCOPES = ['openid']

/** Keycloak: the alias of all organizations, as in `organization:*`. */
const ALL_ORGANIZATIONS = '*'

/** Keycloak: the scope value that requests an offline session. */
export const OFFLINE_ACCESS = 'offline_access'

/** Returns the values of a `scope` parameter. */
export const parseScope = (scope: unknown): string[] =>
  typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []

/**
 * Returns the granted scope values: the requested ones in their order, then the client's default client scopes. Throws
 * invalid_scope. No statement, or two where organizations are requested by alias.
 */
export async function resolveScopes(context: Context, client: LiveObject, requested = ''): Promise<readonly string[]> {
  const scopes = [...new Set(parseScope(requested))]
  const other = listOtherScopes(client, scopes)
  if (other.length && !(await areOrganizationScopes(context, client, { scopes, other }))) {
    const reason = `Invalid scopes: ${scopes.join(' ')}`
    throw new OAuthError(400, 'invalid_scope', { description: reason, event: { error: 'invalid_request', reason } })
  }
  return addDefaultScopes(client, scopes)
}

/** Adds the client's default client scopes. Keycloak: `organization` is not added to `organization:acme`. */
export function addDefaultScopes(client: LiveObject, scopes: readonly string[]): readonly string[] {
  const { defaultClientScopes = [] } = viewClient(client)
  const included = new Set([...scopes, ...listOtherScopes(client, scopes).map(getScopeName)])
  return [...scopes, ...defaultClientScopes.filter((name) => !included.has(name))]
}

/** Returns the requested scope values that an earlier grant covers. RFC 6749, section 6. Default client scopes are always covered. */
export function limitScopes(client: LiveObject, granted: readonly string[], requested: readonly string[]): string[] {
  const covered = new Set([...granted, ...(viewClient(client).defaultClientScopes ?? [])])
  return requested.filter((scope) => covered.has(scope) || covered.has(`${getScopeName(scope)}:${ALL_ORGANIZATIONS}`))
}

/** Returns the scope values that are not the name of a client scope of the client. */
function listOtherScopes(client: LiveObject, scopes: readonly string[]): string[] {
  const { defaultClientScopes = [], optionalClientScopes = [] } = viewClient(client)
  const names = new Set([...PROTOCOL_SCOPES, ...defaultClientScopes, ...optionalClientScopes])
  return scopes.filter((scope) => !names.has(scope))
}

/** Whether a user has the role that offline access requires. Two statements. */
export async function canUseOfflineAccess(context: Context, client: LiveObject, user: string): Promise<boolean> {
  const containers = await listMapperContainers(context, { client: client.id, scopes: [OFFLINE_ACCESS] })
  const scopes = containers.flatMap(({ id, name }) => (name === null ? [] : [id]))
  const grant = { client: client.id, scopes, fullScope: true, roles: false }
  const { permitted } = await loadTokenUserData(context, user, grant)
  return permitted.length > 0
}

/** Throws not_allowed where offline access is requested and the user may not use it. No statement, or two. */
export async function requireOfflineAccess(
  context: Context,
  client: LiveObject,
  { user, scopes }: { readonly user: string; readonly scopes: readonly string[] },
): Promise<void> {
  if (scopes.includes(OFFLINE_ACCESS) && !(await canUseOfflineAccess(context, client, user))) {
    const reason = 'Offline tokens not allowed for the user or client'
    throw new OAuthError(400, 'not_allowed', { description: reason, event: { error: 'not_allowed', reason } })
  }
}

/** Returns the client scope of a scope value, such as that of `organization` for `organization:acme`. */
export function findMapperContainer(
  containers: readonly MapperContainer[],
  scope: string,
): MapperContainer | undefined {
  return (
    containers.find(({ name }) => name === scope) ??
    containers.find(
      (container) =>
        container.name !== null && container.name === getScopeName(scope) && isOrganizationScope(container),
    )
  )
}

/** Returns the names of the client scopes that scope values may belong to. */
export const listScopeNames = (scopes: readonly string[]): string[] => [
  ...new Set([...scopes, ...scopes.map(getScopeName)]),
]

/** Whether a client scope adds the user's organizations, so that its name may be followed by an alias. */
export const isOrganizationScope = ({ mappers }: MapperContainer): boolean =>
  mappers.some(({ type }) => type === ORGANIZATION_MEMBERSHIP)

/** Returns the requested organization aliases; undefined: the user's only organization; `*`: all of them. */
export function findOrganizationAliases(
  scopes: readonly string[],
): readonly string[] | typeof ALL_ORGANIZATIONS | undefined {
  const aliases = scopes.filter((scope) => scope.includes(':')).map((scope) => scope.slice(scope.lastIndexOf(':') + 1))
  return aliases.includes(ALL_ORGANIZATIONS) ? ALL_ORGANIZATIONS : aliases.length ? aliases : undefined
}

/** Returns a scope value without its organization alias. */
const getScopeName = (scope: string): string => scope.slice(0, Math.max(scope.lastIndexOf(':'), 0)) || scope

/** Whether the other scope values name existing organizations, and all values request them in the same form. */
async function areOrganizationScopes(
  context: Context,
  client: LiveObject,
  { scopes, other }: { readonly scopes: readonly string[]; readonly other: readonly string[] },
): Promise<boolean> {
  const containers = await listMapperContainers(context, { client: client.id, scopes: other.map(getScopeName) })
  if (!other.every((scope) => findMapperContainer(containers, scope))) return false
  if (containers.some(({ name }) => name !== null && scopes.includes(name))) return false
  const aliases = findOrganizationAliases(other)
  if (aliases === ALL_ORGANIZATIONS) return other.every((scope) => scope.endsWith(`:${ALL_ORGANIZATIONS}`))
  return aliases !== undefined && (await listEnabledOrganizations(context, aliases)).length > 0
}
