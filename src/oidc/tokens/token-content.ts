// The claims about a user for a client: in tokens, UserInfo, introspection and token responses. See decision 0024.
import type { Context } from '../../service/context/context.ts'
import { cachePerRevision } from '../../service/context/realm-values.ts'
import type { Service } from '../../service/context/service.ts'
import type { MapperContainer, TokenOrganization, TokenUserData } from '../../service/context/store-types.ts'
import { listMapperContainers, loadTokenUserData } from '../../service/login/token-content.ts'
import { isActiveFor, listActiveMappers, mapRoles, needsRoles } from '../mappers/active-mappers.ts'
import type { Claims } from '../mappers/claims.ts'
import { claimMappers } from '../mappers/index.ts'
import type { ClaimTarget, MapperFacts, TokenSubject } from '../mappers/mapper.ts'
import { viewClient } from '../views.ts'
import { findMapperContainer, findOrganizationAliases, isOrganizationScope, listScopeNames } from './scopes.ts'

export type { Claims } from '../mappers/claims.ts'

/** The claims about a user for a client. */
export interface TokenContent {
  /** The `scope` claim. */
  readonly scope: string
  /** All granted scope values, also those that the `scope` claim leaves out. */
  readonly scopes: readonly string[]
  /**
   * Returns the claims for a target, without those about the token itself, such as `exp`. `token` has the claims of an
   * introspected token, to which the mappers add.
   */
  claims(target: ClaimTarget, token?: Claims): Claims
}

/** Builds the claims about a user for the targets. Two statements at most, whatever the user has. */
export async function buildTokenContent(
  context: Context,
  {
    service,
    subject,
    targets,
  }: { readonly service: Service; readonly subject: TokenSubject; readonly targets: readonly ClaimTarget[] },
): Promise<TokenContent> {
  const { client, user } = subject
  const granted = await listGrantedContainers(service, context, subject)
  const userData = await loadTokenUserData(context, user.id, {
    client: client.id,
    scopes: granted.flatMap(({ id, name }) => (name === null ? [] : [id])),
    fullScope: viewClient(client).fullScopeAllowed === true,
    roles: listActiveMappers(granted).some((mapper) => targets.some((target) => needsRoles(mapper, target, subject))),
  })
  const containers = granted.filter(({ id, name }) => name === null || userData.permitted.includes(id))
  const scopes = subject.scopes.filter((scope) => isScopePermitted(scope, containers, userData))
  const scope = scopes.filter((value) => findMapperContainer(containers, value)?.isInTokenScope ?? true).join(' ')
  const mappers = listActiveMappers(containers)
  const facts = {
    ...subject,
    roles: mapRoles(mappers, userData.roles, subject),
    groups: userData.groups,
    organizations: findOrganizations(subject, listOrganizationScopes(scopes, containers), userData),
    mappers,
  }
  return { scope, scopes, claims: (target, token) => buildClaims({ ...facts, target }, { scope, ...token }) }
}

/** Returns the client scopes of the granted scope values, and the client, with their mappers. */
async function listGrantedContainers(
  service: Service,
  context: Context,
  { client, scopes }: TokenSubject,
): Promise<MapperContainer[]> {
  const containers = await listCachedContainers(service, context, {
    client: client.id,
    scopes: listScopeNames(scopes),
  })
  const granted = new Set(scopes.map((scope) => findMapperContainer(containers, scope)))
  return containers.filter((container) => container.name === null || granted.has(container))
}

/** The maximum number of cached scope combinations per realm. */
const MAX_CACHED = 1_000

const getContainerCache = cachePerRevision(async (_service, { revision }) => ({
  revision,
  value: new Map<string, MapperContainer[]>(),
}))

/** Returns the client and those of its client scopes that are named. One statement, none where they are cached. */
async function listCachedContainers(
  service: Service,
  context: Context,
  search: { readonly client: string; readonly scopes: readonly string[] },
): Promise<readonly MapperContainer[]> {
  // Loading the cache opens no transaction of its own, so that it may be called inside this one.
  const cache = await getContainerCache(service, context.realm)
  const key = JSON.stringify([search.client, ...[...search.scopes].sort()])
  const containers = cache.get(key) ?? (await listMapperContainers(context, search))
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(key, containers)
  return containers
}

/** Keycloak: a client scope with roles requires one of them; a scope value with an organization requires its membership. */
function isScopePermitted(
  scope: string,
  containers: readonly MapperContainer[],
  { organizations }: TokenUserData,
): boolean {
  const container = findMapperContainer(containers, scope)
  if (!container) return scope === 'openid'
  const aliases = container.name === scope ? undefined : findOrganizationAliases([scope])
  return !Array.isArray(aliases) || organizations.some(({ alias }) => aliases.includes(alias))
}

function listOrganizationScopes(scopes: readonly string[], containers: readonly MapperContainer[]): string[] {
  return scopes.filter((scope) => {
    const container = findMapperContainer(containers, scope)
    return container && isOrganizationScope(container)
  })
}

/** Returns the organizations that the scope values request; undefined where they request none. */
function findOrganizations(
  { realm }: TokenSubject,
  organizationScopes: readonly string[],
  { organizations }: TokenUserData,
): readonly TokenOrganization[] | undefined {
  if (!organizationScopes.length || realm.settings.organizationsEnabled !== true) return undefined
  const aliases = findOrganizationAliases(organizationScopes)
  // A member of several organizations would have to select one; there is no page for that yet.
  if (aliases === undefined) return organizations.length === 1 ? organizations : []
  return organizations.filter(({ alias }) => aliases === '*' || aliases.includes(alias))
}

function buildClaims(facts: MapperFacts, issued: Claims): Claims {
  const { target } = facts
  const claims: Claims = { ...getInitialClaims(facts, issued)[target] }
  for (const mapper of facts.mappers) {
    if (isActiveFor(mapper, target, facts)) claimMappers[mapper.type]!.map(claims, mapper.config, facts)
  }
  if (target === 'userInfo') return { sub: facts.user.id, ...omitTokenClaims(claims) }
  const { aud, ...rest } = claims
  const allowed = target === 'accessToken' && facts.audience ? facts.audience : undefined
  const audience = aud === undefined ? [] : [aud].flat().filter((name) => allowed?.includes(String(name)) ?? true)
  return { ...rest, ...(audience.length && { aud: audience.length === 1 ? audience[0] : audience }) }
}

/** Keycloak: UserInfo leaves out claims about the token. */
function omitTokenClaims({ azp: _client, sid: _session, acr: _level, auth_time: _time, ...claims }: Claims): Claims {
  return claims
}

/** Returns the claims that precede those of the mappers. */
function getInitialClaims({ client, user, session, nonce }: MapperFacts, issued: Claims): Record<ClaimTarget, Claims> {
  const azp = client.key[0]!
  const sid = session && { sid: session.id }
  return {
    accessToken: { ...(!session && { sub: user.id }), azp, ...sid, scope: issued.scope },
    idToken: { sub: user.id, aud: [azp], azp, ...sid, ...(nonce !== undefined && { nonce }) },
    userInfo: {},
    introspection: issued,
    response: {},
  }
}
