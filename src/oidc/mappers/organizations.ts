// Mappers of the user's organizations, if the scope requests them.
import type { TokenOrganization } from '../../service/context/store-types.ts'
import { type Claims, isClaims, type MapperConfig, parseClaimPath, setClaim, writeClaim } from './claims.ts'
import type { MapperFacts } from './mapper.ts'

/** The type of mapper that makes a client scope an organization scope, whose name may be followed by a colon and an alias. */
export const ORGANIZATION_MEMBERSHIP = 'oidc-organization-membership-mapper'

/** Adds the aliases of the user's organizations to the claims; with details, an object by alias. */
export function mapOrganizations(claims: Claims, config: MapperConfig, facts: MapperFacts): void {
  const aliases = (facts.organizations ?? []).map(({ alias }) => alias)
  if (config.multivalued !== 'true') setClaim(claims, config, aliases[0])
  else if (hasDetails(config)) setClaim(claims, { ...config, 'jsonType.label': 'JSON' }, buildDetails(config, facts))
  else setClaim(claims, config, aliases)
}

const hasDetails = (config: MapperConfig): boolean =>
  config['jsonType.label'] === 'JSON' ||
  config.addOrganizationAttributes === 'true' ||
  config.addOrganizationId === 'true'

function buildDetails(config: MapperConfig, { organizations = [], user }: MapperFacts): Claims | undefined {
  const userDomain = user.email?.split('@').at(-1)
  const details = organizations.map(({ alias, id, attributes, domains }): [string, Claims] => [
    alias,
    {
      ...(config.addOrganizationAttributes === 'true' && attributes),
      ...(config.addOrganizationId === 'true' && { id }),
      // Keycloak: only the domain of the user's email address.
      ...(config.addOrganizationDomain === 'true' &&
        userDomain &&
        domains.includes(userDomain) && { domain: userDomain }),
    },
  ])
  return details.length ? Object.fromEntries(details) : undefined
}

/**
 * Adds the paths of the user's groups to each organization of the organization claim, and their roles if the mapper adds them. Keycloak:
 * only the groups that the user is a direct member of, and roles also outside of the client's scope.
 */
export function mapOrganizationGroups(
  claims: Claims,
  { addGroupRoleMappings }: MapperConfig,
  { organizations, mappers }: MapperFacts,
): void {
  if (!organizations) return
  const membership = mappers.find(({ type }) => type === ORGANIZATION_MEMBERSHIP)
  const path = parseClaimPath(membership?.config['claim.name'] ?? 'organization')
  const existing = path.reduce<unknown>((value, part) => (isClaims(value) ? value[part] : undefined), claims)
  const details = isClaims(existing) ? existing : {}
  const withGroups = organizations.map(({ alias, groups, roles }) => {
    const organization = details[alias]
    const roleClaims = addGroupRoleMappings === 'true' ? buildRoleClaims(roles) : {}
    return [alias, { ...(isClaims(organization) && organization), ...roleClaims, groups }]
  })
  writeClaim(claims, path, Object.fromEntries(withGroups))
}

/** Returns the claims `realm_access` and `resource_access` with the roles, each if there are any. */
function buildRoleClaims(roles: TokenOrganization['roles']): Claims {
  const namesByClient = Map.groupBy(roles, ({ client }) => client)
  const toAccess = (names: typeof roles = []) => ({ roles: names.map(({ name }) => name) })
  const realmRoles = namesByClient.get(null)
  const clients = [...namesByClient].filter(([client]) => client !== null)
  return {
    ...(realmRoles && { realm_access: toAccess(realmRoles) }),
    ...(clients.length && {
      resource_access: Object.fromEntries(clients.map(([client, names]) => [client, toAccess(names)])),
    }),
  }
}
