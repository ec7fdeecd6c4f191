// What a token stands on, as it is now: its client, its user, its session, and the credential that its user logged in with.
import { findStanding, hasCredential, type Standing, type TokenNames } from '../../store/users/standing.ts'
import type { Context, RuntimeContext } from '../context/context.ts'
import { everything, type Power, powerFrom, within } from '../context/power.ts'
import type { Service } from '../context/service.ts'
import { timesUsed } from '../context/single-use.ts'
import { wholePower } from '../permissions/administrators.ts'

/** What a token says of where it comes from; `issuedAt` in seconds since 1970. */
export interface IssuedToken extends Omit<TokenNames, 'revoked'> {
  readonly id: string
  readonly issuedAt: number
}

/** What there is to say of a token now: what it stands on, or why it does not count. Keycloak: in its words, which are its codes in part. */
export type TokenStanding =
  | { readonly counts: false; readonly why?: 'User disabled' | 'user_session_not_found' }
  | {
      readonly counts: true
      /** The client's name. */
      readonly client: string
      readonly user: { readonly id: string; readonly username: string }
      /**
       * As much of its user's administrative power as goes with it: that of the roles that its client shows, as in Keycloak, and that
       * the last editor of the client could grant.
       */
      readonly limit: Power
      /** What its user may administer with it now; absent unless it was asked for. */
      readonly power?: Power
      readonly session: Standing['session']
    }

/**
 * Whether a token that was issued at that time (seconds since 1970) counts: its client and its user are enabled, neither
 * has ended what was issued until then, nobody revoked it, and the session that it names is there. One statement.
 */
export async function standingOf(
  service: Service,
  realm: { readonly number: number; readonly name: string },
  names: IssuedToken,
  withPower = false,
): Promise<TokenStanding> {
  const token = { ...names, revoked: keyOf(names.id) }
  const found = await service.look((tx) =>
    findStanding(tx, realm.number, { token, stop: wholePower(realm.name), withRoles: withPower }),
  )
  if (!found?.enabled || names.issuedAt < found.notBefore || found.revoked) return { counts: false }
  const { client, user, session, scope, editorRoles, roles } = found
  if (user?.enabled === false) return { counts: false, why: 'User disabled' }
  if (names.session !== undefined && !session) return { counts: false, why: 'user_session_not_found' }
  const [shown, edited] = [scope, editorRoles].map((limited) => (limited ? powerFrom(realm.name, limited) : everything))
  const limit = within(shown!, edited!)
  const power = roles && within(powerFrom(realm.name, roles), limit)
  return user ? { counts: true, client, user, limit, ...(power && { power }), session } : { counts: false }
}

const keyOf = (id: string) => `revoked ${id}`

/** Voids the token with that id for the rest of its time. One statement. */
export async function revokeToken(context: RuntimeContext, id: string, expiresAt: Date): Promise<void> {
  await timesUsed(context, keyOf(id), expiresAt)
}

/** Whether the user still has the credential that they logged in with. One statement. */
export function stillHas({ tx, realm }: Context, user: string, credential: string): Promise<boolean> {
  return hasCredential(tx, realm.number, { user, id: credential })
}
