// What a token stands on, as it is now: its client, its user, its session, and the credential that its user logged in with.
import { findStanding, hasCredential, type TokenNames } from '../store/standing.ts'
import type { Context, RuntimeContext } from './context.ts'
import type { Service } from './service.ts'
import { timesUsed } from './single-use.ts'

/**
 * Keycloak: through a client without full scope, roles count that its scope mappings name. There are none yet: so such
 * a client carries no administrative power, but for the realm's own clients for administration.
 */
const ADMIN_CLIENTS = ['admin-cli', 'security-admin-console']

/** What a token says of where it comes from; `issuedAt` in seconds since 1970. */
export interface IssuedToken extends Omit<TokenNames, 'revoked'> {
  readonly id: string
  readonly issuedAt: number
}

/** What there is to say of a token now. */
export interface TokenStanding {
  /** Whether the token counts. */
  readonly counts: boolean
  /** Whether its user's administrative power goes with it. */
  readonly power: boolean
  /** Why it does not count. Keycloak: in its words, which are its codes in part. */
  readonly why?: 'User disabled' | 'user_session_not_found'
}

/**
 * Whether a token that was issued at that time (seconds since 1970) counts: its client and its user are enabled, neither
 * has ended what was issued until then, nobody revoked it, and the session that it names is there. One statement.
 */
export async function standingOf(
  service: Service,
  realm: { readonly number: number },
  names: IssuedToken,
): Promise<TokenStanding> {
  const found = await service.look((tx) => findStanding(tx, realm.number, { ...names, revoked: keyOf(names.id) }))
  const nothing = { counts: false, power: false }
  if (!found?.enabled || names.issuedAt < found.notBefore || found.revoked) return nothing
  if (!found.userEnabled) return { ...nothing, why: 'User disabled' }
  if (names.session !== undefined && !found.session) return { ...nothing, why: 'user_session_not_found' }
  return { counts: true, power: found.fullScope || ADMIN_CLIENTS.includes(names.client) }
}

const keyOf = (id: string) => `revoked ${id}`

/** Voids the token with that id for the rest of its time. One statement. */
export async function revokeToken(context: RuntimeContext, id: string, expiresAt: Date): Promise<void> {
  await timesUsed(context, keyOf(id), expiresAt)
}

/** Whether the user still has the credential that they logged in with. One statement. */
export function stillHas({ tx, realm }: Context, user: string, credential: string): Promise<boolean> {
  return hasCredential(tx, realm.number, user, credential)
}
