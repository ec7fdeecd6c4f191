// The SSO session of a browser. An encrypted cookie contains its id.
import type { Cookie } from '../../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../../service/context/service.ts'
import type { UserSession } from '../../../service/context/store-types.ts'
import { findActiveSession } from '../../../service/login/sessions.ts'
import type { OidcRealm } from '../../oidc-realm.ts'
import type { BrowserRequest } from './browser-request.ts'
import { createCookie, expireCookie, hashSessionId, IDENTITY, SESSION, seal, unseal } from './cookies.ts'

/** The content of the identity cookie. */
interface Identity {
  /** The number of the realm, which no other realm ever has. */
  readonly realm: number
  /** The id of the session. */
  readonly session: string
}

/** Returns the active session of the browser. One statement, none without the cookie. */
export async function findSsoSession({
  service,
  realm,
  request,
}: {
  readonly service: Service
  readonly realm: OidcRealm
  readonly request: BrowserRequest
}): Promise<UserSession | undefined> {
  const identity = unseal<Identity>(service.vault, IDENTITY, request.cookies.get(IDENTITY))
  if (identity?.realm !== realm.number) return undefined
  return service.read(SYSTEM, realm, (context) =>
    findActiveSession(context, realm.settings, { id: identity.session, offline: false }),
  )
}

/** Creates the cookies of a session. With "remember me" they last for `maxAge` seconds, else until the browser is closed. */
export function createIdentityCookies(
  { service, realm }: { readonly service: Service; readonly realm: OidcRealm },
  request: Pick<BrowserRequest, 'base' | 'realm'>,
  { session, maxAge }: { readonly session: UserSession; readonly maxAge: number },
): Cookie[] {
  const lifetime = session.rememberMe && Number.isFinite(maxAge) ? { maxAge: Math.floor(maxAge) } : {}
  const identity: Identity = { realm: realm.number, session: session.id }
  return [
    createCookie(request, IDENTITY, {
      value: seal(service.vault, IDENTITY, identity),
      isCrossSite: true,
      ...lifetime,
    }),
    createCookie(request, SESSION, {
      value: hashSessionId(session.id),
      isCrossSite: true,
      readable: true,
      ...lifetime,
    }),
  ]
}

/** Deletes the cookies of a session. */
export const expireIdentityCookies = (request: BrowserRequest): Cookie[] => [
  expireCookie(request, IDENTITY),
  expireCookie(request, SESSION),
]
