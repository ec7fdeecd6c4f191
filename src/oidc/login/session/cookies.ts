// The cookies of logins. Scripts of applications depend on Keycloak's names.
import { createHash, randomBytes } from 'node:crypto'
import type { Cookie } from '../../../lib/http/cookies.ts'
import { isSealed, type Vault } from '../../../service/context/vault.ts'
import type { BrowserRequest } from './browser-request.ts'

/** The secret of a browser, which its logins in progress belong to. */
export const AUTH_SESSION = 'AUTH_SESSION_ID'
/** The authorization request, with which an expired login starts again. */
export const RESTART = 'KC_RESTART'
/** The cookie with the SSO session of the user. */
export const IDENTITY = 'KEYCLOAK_IDENTITY'
/** A hash of the session id, which scripts of applications compare. */
export const SESSION = 'KEYCLOAK_SESSION'
/** The cookie with the language that the user selected. */
export const LOCALE = 'KEYCLOAK_LOCALE'

/** Creates a cookie for the pages of a realm. `isCrossSite`: applications that embed a page in a frame need it too. */
export function createCookie(
  { base, realm }: Pick<BrowserRequest, 'base' | 'realm'>,
  name: string,
  { isCrossSite, ...cookie }: { value: string; isCrossSite?: true; readable?: true; maxAge?: number },
): Cookie {
  const { protocol, pathname } = new URL(base)
  const secure = protocol === 'https:'
  const path = `${pathname === '/' ? '' : pathname}/realms/${encodeURIComponent(realm)}/`
  return { name, path, secure, sameSite: isCrossSite && secure ? 'None' : 'Lax', ...cookie }
}

/** Returns a cookie that expires at once, so that the browser deletes the one of this name. */
export function expireCookie(request: Pick<BrowserRequest, 'base' | 'realm'>, name: string): Cookie {
  return createCookie(request, name, { value: '', maxAge: 0 })
}

/** Generates an unguessable secret. */
export const generateSecret = (): string => randomBytes(32).toString('base64url')

/** Whether a text has the form of a generated secret. */
export const hasSecretFormat = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** Returns the id under which a secret is stored, so that a leaked database reveals no secrets. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/** Returns the hash with which scripts compare the session of their token. Keycloak: SHA-384. */
export const hashSessionId = (session: string): string => createHash('sha384').update(session).digest('base64url')

/** Encrypts a JSON value for a purpose. */
export function seal(vault: Vault, purpose: string, value: unknown): string {
  return vault.seal(JSON.stringify({ purpose, value }))
}

/** Decrypts a value; undefined where it was encrypted for another purpose or with another key. */
export function unseal<T>(vault: Vault, purpose: string, sealed: string | undefined): T | undefined {
  if (sealed === undefined || !isSealed(sealed)) return undefined
  try {
    const content: { purpose: string; value: T } = JSON.parse(vault.open(sealed))
    return content.purpose === purpose ? content.value : undefined
  } catch {
    return undefined
  }
}
