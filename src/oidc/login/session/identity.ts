// Who is logged in in a browser: a sealed cookie names the session, and the session says the rest.

import type { Cookie } from '../../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../../service/context/service.ts'
import type { UserSession } from '../../../service/context/store-types.ts'
import { findGoingOn } from '../../../service/login/sessions.ts'
import type { TokenRealm } from '../../realm.ts'
import type { BrowserRequest } from './browser.ts'
import { cookie, IDENTITY, noCookie, openFor, SESSION, sealFor, sessionMark } from './cookies.ts'

/** What the cookie says: the session, and the realm by its number, which no other realm will ever have. */
interface Identity {
  readonly realm: number
  readonly session: string
}

/** The session that goes on in the browser. Statements: one, or none. */
export async function findSso({
  service,
  realm,
  request,
}: {
  readonly service: Service
  readonly realm: TokenRealm
  readonly request: BrowserRequest
}): Promise<UserSession | undefined> {
  const identity = openFor<Identity>(service.vault, IDENTITY, request.cookies.get(IDENTITY))
  if (identity?.realm !== realm.number) return undefined
  return service.read(SYSTEM, realm, (context) =>
    findGoingOn(context, realm.settings, { id: identity.session, offline: false }),
  )
}

/** The cookies of a session; they outlive the browser where the session is remembered. */
export function identityCookies(
  service: Service,
  realm: TokenRealm,
  request: Pick<BrowserRequest, 'base' | 'realm'>,
  session: UserSession,
  maxAge: number,
): Cookie[] {
  const kept = session.rememberMe && Number.isFinite(maxAge) ? { maxAge: Math.floor(maxAge) } : {}
  const identity: Identity = { realm: realm.number, session: session.id }
  return [
    cookie(request, IDENTITY, sealFor(service.vault, IDENTITY, identity), { everywhere: true, ...kept }),
    cookie(request, SESSION, sessionMark(session.id), { everywhere: true, readable: true, ...kept }),
  ]
}

/** Takes them away. */
export const noIdentityCookies = (request: BrowserRequest): Cookie[] => [
  noCookie(request, IDENTITY),
  noCookie(request, SESSION),
]
