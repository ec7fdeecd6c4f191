// What a request wishes by its `claims` parameter. OpenID Connect Core, section 5.5.
import { type Claims, claimPath, put, type Settings } from './claims.ts'
import type { Facts, Target } from './mapper.ts'
import { fullName, ownAttribute } from './user.ts'

/** How a request wishes for one claim. */
export interface Wish {
  readonly essential?: unknown
  readonly value?: unknown
  readonly values?: unknown
}

/** Claims of the user that can be wished for, with the attributes that they come from. */
const ATTRIBUTES = { given_name: 'firstName', family_name: 'lastName', preferred_username: 'username', email: 'email' }

/** What is wished for in one place; nothing where the parameter cannot be read. */
export function wishesOf(text: string | undefined, place: 'id_token' | 'userinfo'): Record<string, Wish | null> {
  try {
    const wishes: unknown = JSON.parse(text ?? '{}')?.[place]
    return wishes !== null && typeof wishes === 'object' ? (wishes as Record<string, Wish | null>) : {}
  } catch {
    return {}
  }
}

/** What the request holds for essential, of what users say of themselves. */
export function wishedClaims(claims: Claims, settings: Settings, facts: Facts, target: Target): void {
  const wishes = wishesOf(facts.claims, target === 'idToken' ? 'id_token' : 'userinfo')
  if (wishes.name?.essential === true) fullName(claims, settings, facts)
  for (const [claim, attribute] of Object.entries(ATTRIBUTES)) {
    const [value] = ownAttribute(facts.user, attribute)
    if (wishes[claim]?.essential === true && value !== undefined) put(claims, [claim], value)
  }
}

/** A claim with the very value that the request names and holds for essential. */
export function wishedValue(claims: Claims, { 'claim.name': name = '' }: Settings, facts: Facts): void {
  const wish = wishesOf(facts.claims, 'id_token')[name]
  const path = claimPath(name)
  if (wish?.essential === true && typeof wish.value === 'string' && path.length) put(claims, path, wish.value)
}
