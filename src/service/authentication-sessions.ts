// Log-ins that people are about to do, in the context's realm: see store/authentication-sessions.ts.
import {
  type AuthenticationSession,
  deleteAuthenticationSession,
  findAuthenticationSession,
  insertAuthenticationSession,
  type Tab,
  takeCode,
  updateAuthenticationSession,
} from '../store/authentication-sessions.ts'
import type { Context, RuntimeContext } from './context.ts'

export type { AuthenticationSession, Tab } from '../store/authentication-sessions.ts'

/** Begins a log-in. One statement. */
export function beginLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<void> {
  return insertAuthenticationSession(tx, realm.number, session)
}

/** A log-in that is not over. One statement. */
export function findLogin({ tx, realm, now }: Context, tab: Tab): Promise<AuthenticationSession | undefined> {
  return findAuthenticationSession(tx, realm.number, tab, now)
}

/** Takes the code that a form brought, and puts another in its place: a form counts once. One statement. */
export function takeLogin(
  { tx, realm, now }: RuntimeContext,
  tab: Tab,
  code: string,
  next: string,
): Promise<AuthenticationSession | undefined> {
  return takeCode(tx, realm.number, tab, code, next, now)
}

/** Keeps how far a log-in is; whether no other form was faster. One statement. */
export function keepLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<boolean> {
  return updateAuthenticationSession(tx, realm.number, session)
}

/** Ends a log-in; whether no other form was faster. One statement. */
export function endLogin({ tx, realm }: RuntimeContext, session: AuthenticationSession): Promise<boolean> {
  return deleteAuthenticationSession(tx, realm.number, session)
}
