// What a token stands on, as it is now: its client, its user, its session, and the credential that its user logged in with.
import { findStanding, hasCredential, type TokenNames } from '../store/standing.ts'
import type { Context } from './context.ts'
import type { Service } from './service.ts'

/**
 * Keycloak: through a client without full scope, roles count that its scope mappings name. There are none yet: so such
 * a client carries no administrative power, but for the realm's own clients for administration.
 */
const ADMIN_CLIENTS = ['admin-cli', 'security-admin-console']

/** What there is to say of a token now. */
export interface TokenStanding {
  /** Whether the token counts. */
  readonly counts: boolean
  /** Whether its user's administrative power goes with it. */
  readonly power: boolean
  /** Why it does not count, where that may be told. */
  readonly why?: 'user_disabled'
}

/**
 * Whether a token that was issued at that time (seconds since 1970) counts: its client and its user are enabled, neither
 * has ended what was issued until then, nobody revoked it, and the session that it names is there. One statement.
 */
export async function standingOf(
  service: Service,
  realm: { readonly number: number },
  names: TokenNames & { readonly issuedAt: number },
): Promise<TokenStanding> {
  const found = await service.look((tx) => findStanding(tx, realm.number, names))
  const nothing = { counts: false, power: false }
  if (!found?.enabled || names.issuedAt < found.notBefore || found.revoked) return nothing
  if (!found.userEnabled) return { ...nothing, why: 'user_disabled' }
  if (names.session !== undefined && !found.session) return nothing
  return { counts: true, power: found.fullScope || ADMIN_CLIENTS.includes(names.client) }
}

/** Whether the user still has the credential that they logged in with. One statement. */
export function stillHas({ tx, realm }: Context, user: string, credential: string): Promise<boolean> {
  return hasCredential(tx, realm.number, user, credential)
}
