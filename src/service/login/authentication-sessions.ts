// Log-ins that people are about to do, in the context's realm: see store/authentication-sessions.ts.
import { randomInt } from 'node:crypto'
import {
  type AuthenticationSession,
  deleteAuthenticationSession,
  deleteOldestAuthenticationSessions,
  findAuthenticationSession,
  insertAuthenticationSession,
  moveAuthenticationSessions,
  type Tab,
  takeCode,
  updateAuthenticationSession,
} from '../../store/login/authentication-sessions.ts'
import type { Context, RuntimeContext } from '../context/context.ts'

/** Keycloak: how many log-ins a browser has under way at most; and here a realm. */
const MOST_OF_BROWSER = 300
const MOST_OF_REALM = 50_000
/** To count the log-ins of a realm takes longer than to begin one: one of so many does. */
const COUNTED = 50

/** Begins a log-in, and forgets the oldest where there are too many. Statements: one, seldom two. */
export async function beginLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<void> {
  if (randomInt(COUNTED) === 0) await deleteOldestAuthenticationSessions(tx, realm.number, MOST_OF_REALM - COUNTED)
  return insertAuthenticationSession(tx, realm.number, { session, mostOfBrowser: MOST_OF_BROWSER })
}

/** A log-in that is not over. One statement. */
export function findLogin({ tx, realm, now }: Context, tab: Tab): Promise<AuthenticationSession | undefined> {
  return findAuthenticationSession(tx, realm.number, { login: tab, now })
}

/** Takes the code that a form brought, and puts another in its place: a form counts once. One statement. */
export function takeLogin(
  { tx, realm, now }: RuntimeContext,
  tab: Tab,
  code: string,
  next: string,
): Promise<AuthenticationSession | undefined> {
  return takeCode(tx, realm.number, { login: tab, code, next, now })
}

/** Keeps how far a log-in is, also under another id; whether no other form was faster. One statement. */
export function keepLogin({ tx, realm }: RuntimeContext, tab: Tab, session: AuthenticationSession): Promise<boolean> {
  return updateAuthenticationSession(tx, realm.number, { login: tab, session })
}

/** Moves the log-ins of a browser, whose secret is another one now. One statement. */
export function moveLogins({ tx, realm }: RuntimeContext, from: string, to: string): Promise<void> {
  return moveAuthenticationSessions(tx, realm.number, { from, to })
}

/** Ends a log-in; whether no other form was faster. One statement. */
export function endLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<boolean> {
  return deleteAuthenticationSession(tx, realm.number, session)
}
