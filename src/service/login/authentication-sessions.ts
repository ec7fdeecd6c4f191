// Logins in progress (Keycloak's authentication sessions) in the realm of the context. A browser has one per tab.
import { randomInt } from 'node:crypto'
import {
  type AuthenticationSession,
  type AuthenticationSessionKey,
  changeAuthenticationSessionId,
  deleteAuthenticationSession,
  deleteOldestAuthenticationSessions,
  findAuthenticationSession,
  insertAuthenticationSession,
  rotateCode,
  updateAuthenticationSession,
} from '../../store/login/authentication-sessions.ts'
import type { Context, RuntimeContext } from '../context/context.ts'

/** Keycloak: the most logins in progress per browser; Regent also limits them per realm. */
const MAX_PER_BROWSER = 300
const MAX_PER_REALM = 50_000
/** Counting the logins of a realm takes longer than starting one, so on average one start out of this many counts. */
const STARTS_PER_COUNT = 50

/** Starts a login, and deletes the oldest ones above the limits. Usually one statement, seldom two. */
export async function startLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<void> {
  if (randomInt(STARTS_PER_COUNT) === 0)
    await deleteOldestAuthenticationSessions(tx, realm.number, MAX_PER_REALM - STARTS_PER_COUNT)
  return insertAuthenticationSession(tx, realm.number, { session, mostOfBrowser: MAX_PER_BROWSER })
}

/** Returns the login of a tab, or undefined if there is none or it has expired. One statement. */
export function findLogin(
  { tx, realm, now }: Context,
  tab: AuthenticationSessionKey,
): Promise<AuthenticationSession | undefined> {
  return findAuthenticationSession(tx, realm.number, { login: tab, now })
}

/**
 * Redeems the code of a submitted form and replaces it by `next`, so that a form counts once. Returns undefined if the
 * code is not the current one. One statement.
 */
export function takeLoginCode(
  { tx, realm, now }: RuntimeContext,
  tab: AuthenticationSessionKey,
  { code, next }: { readonly code: string; readonly next: string },
): Promise<AuthenticationSession | undefined> {
  return rotateCode(tx, realm.number, { login: tab, code, next, now })
}

/** Saves the state of a login, also under another id. Returns false if another form was faster. One statement. */
export function updateLogin(
  { tx, realm }: RuntimeContext,
  tab: AuthenticationSessionKey,
  session: AuthenticationSession,
): Promise<boolean> {
  return updateAuthenticationSession(tx, realm.number, { login: tab, session })
}

/** Moves the logins of a browser to its new secret. One statement. */
export function moveLogins({ tx, realm }: RuntimeContext, from: string, to: string): Promise<void> {
  return changeAuthenticationSessionId(tx, realm.number, { from, to })
}

/** Ends a login. Returns false if another form was faster. One statement. */
export function endLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<boolean> {
  return deleteAuthenticationSession(tx, realm.number, session)
}
