// The `claims` parameter of an authorization request. OpenID Connect Core, section 5.5.
import { type Claims, isClaims, type MapperConfig, parseClaimPath, writeClaim } from './claims.ts'
import type { MapperFacts } from './mapper.ts'
import { listUserAttribute, mapFullName } from './user.ts'

/** A claim that the `claims` parameter of a login requests. */
export interface RequestedClaim {
  readonly essential?: unknown
  readonly value?: unknown
  readonly values?: unknown
}

/** Claims that can be requested, and the user attributes with their values. */
const ATTRIBUTES = { given_name: 'firstName', family_name: 'lastName', preferred_username: 'username', email: 'email' }

/** Returns the requested claims by name; none where the parameter is invalid. */
export function parseRequestedClaims(
  text: string | undefined,
  member: 'id_token' | 'userinfo',
): Readonly<Record<string, RequestedClaim | undefined>> {
  try {
    const requested: unknown = JSON.parse(text ?? '{}')?.[member]
    if (!isClaims(requested)) return {}
    return Object.fromEntries(
      Object.entries(requested).flatMap(([name, claim]) => (isClaims(claim) ? [[name, claim]] : [])),
    )
  } catch {
    return {}
  }
}

/** Returns the `acr` values of a `claims` parameter, and whether they are essential. Section 5.5.1.1. */
export function parseRequestedLevels(text: string | undefined): { values: string[]; isEssential: boolean } {
  const { acr } = parseRequestedClaims(text, 'id_token')
  const values = [acr?.value, acr?.values].flat().filter((value) => typeof value === 'string')
  return { values, isEssential: acr?.essential === true }
}

/** Writes the claims about the user that the `claims` parameter requests as essential. */
export function mapRequestedClaims(claims: Claims, config: MapperConfig, facts: MapperFacts): void {
  const requested = parseRequestedClaims(facts.claims, facts.target === 'idToken' ? 'id_token' : 'userinfo')
  if (requested.name?.essential === true) mapFullName(claims, config, facts)
  for (const [claim, attribute] of Object.entries(ATTRIBUTES)) {
    const [value] = listUserAttribute(facts.user, attribute)
    if (requested[claim]?.essential === true && value !== undefined) writeClaim(claims, [claim], value)
  }
}

/** Writes an essential claim with the value that the request contains. */
export function mapRequestedValue(claims: Claims, { 'claim.name': name = '' }: MapperConfig, facts: MapperFacts): void {
  const requested = parseRequestedClaims(facts.claims, 'id_token')[name]
  const path = parseClaimPath(name)
  if (requested?.essential === true && typeof requested.value === 'string' && path.length)
    writeClaim(claims, path, requested.value)
}
