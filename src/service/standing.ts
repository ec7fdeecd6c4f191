// What a token stands on, as it is now: the client that got it, and the credential that its user logged in with.
import { findTokenClient, hasCredential } from '../store/standing.ts'
import type { Context } from './context.ts'
import type { Service } from './service.ts'

/**
 * Keycloak: through a client without full scope, roles count that its scope mappings name. There are none yet: so such
 * a client carries no administrative power, but for the realm's own clients for administration.
 */
const ADMIN_CLIENTS = ['admin-cli', 'security-admin-console']

/** Whether tokens that the client got at that time (seconds since 1970) count, and with them its user's power. One statement. */
export async function standingOf(
  service: Service,
  realm: { readonly number: number },
  clientId: string,
  issuedAt: number,
): Promise<{ counts: boolean; power: boolean }> {
  const client = await service.look((tx) => findTokenClient(tx, realm.number, clientId))
  if (!client?.enabled || issuedAt < client.notBefore) return { counts: false, power: false }
  return { counts: true, power: client.fullScope || ADMIN_CLIENTS.includes(clientId) }
}

/** Whether the user still has the credential that they logged in with. One statement. */
export function stillHas({ tx, realm }: Context, user: string, credential: string): Promise<boolean> {
  return hasCredential(tx, realm.number, user, credential)
}
