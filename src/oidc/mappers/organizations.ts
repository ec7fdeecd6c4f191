// Organizations that the user belongs to, as far as the scope asks for them.
import { type Claims, claimPath, put, type Settings, setClaim } from './claims.ts'
import type { Facts } from './mapper.ts'

/** The type of mapper that makes a client scope one of organizations: its name may be followed by a colon and an alias. */
export const MEMBERSHIP = 'oidc-organization-membership-mapper'

/** By alias: alone, or with what the organization says of itself. */
export function organizationMembership(claims: Claims, settings: Settings, facts: Facts): void {
  const aliases = (facts.organizations ?? []).map(({ alias }) => alias)
  if (settings.multivalued !== 'true') setClaim(claims, settings, aliases[0])
  else if (saysMore(settings)) setClaim(claims, { ...settings, 'jsonType.label': 'JSON' }, detailed(settings, facts))
  else setClaim(claims, settings, aliases)
}

const saysMore = (settings: Settings): boolean =>
  settings['jsonType.label'] === 'JSON' ||
  settings.addOrganizationAttributes === 'true' ||
  settings.addOrganizationId === 'true'

function detailed(settings: Settings, { organizations = [], user }: Facts): Claims | undefined {
  const of = user.email?.split('@').at(-1)
  const said = organizations.map(({ alias, id, attributes, domains }): [string, Claims] => [
    alias,
    {
      ...(settings.addOrganizationAttributes === 'true' && attributes),
      ...(settings.addOrganizationId === 'true' && { id }),
      // Keycloak: the domain by which the user would be known to belong to it.
      ...(settings.addOrganizationDomain === 'true' && of && domains.includes(of) && { domain: of }),
    },
  ])
  return said.length ? Object.fromEntries(said) : undefined
}

/** Adds an empty list `groups` to each organization of the organization claim: organizations have no groups yet. */
export function organizationGroups(claims: Claims, _settings: Settings, { organizations, mappers }: Facts): void {
  if (!organizations) return
  const membership = mappers.find(({ type }) => type === MEMBERSHIP)
  const path = claimPath(membership?.settings['claim.name'] ?? 'organization')
  const there = path.reduce<unknown>((at, part) => (at as Claims | undefined)?.[part], claims)
  const said = there !== null && typeof there === 'object' && !Array.isArray(there) ? (there as Claims) : {}
  const completed = organizations.map(({ alias }) => [alias, { ...(said[alias] as Claims | undefined), groups: [] }])
  put(claims, path, Object.fromEntries(completed))
}
