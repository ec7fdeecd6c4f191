// Mappers of the user's organizations, if the scope requests them.
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

/** Adds an empty list `groups` to each organization of the organization claim, since organizations have no groups yet. */
export function mapOrganizationGroups(
  claims: Claims,
  _config: MapperConfig,
  { organizations, mappers }: MapperFacts,
): void {
  if (!organizations) return
  const membership = mappers.find(({ type }) => type === ORGANIZATION_MEMBERSHIP)
  const path = parseClaimPath(membership?.config['claim.name'] ?? 'organization')
  const existing = path.reduce<unknown>((value, part) => (isClaims(value) ? value[part] : undefined), claims)
  const details = isClaims(existing) ? existing : {}
  const groups = organizations.map(({ alias }) => {
    const organization = details[alias]
    return [alias, { ...(isClaims(organization) && organization), groups: [] }]
  })
  writeClaim(claims, path, Object.fromEntries(groups))
}
