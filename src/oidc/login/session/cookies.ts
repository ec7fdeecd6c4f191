// The cookies of log-ins. Names that scripts of applications depend on are the reference server's.
import { createHash, randomBytes } from 'node:crypto'
import type { Cookie } from '../../../lib/http/cookies.ts'
import { isSealed, type Vault } from '../../../service/context/vault.ts'
import type { BrowserRequest } from './browser.ts'

/** Which browser is about to log in. */
export const AUTH_SESSION = 'AUTH_SESSION_ID'
/** What began the log-in, so that it can begin anew when it took too long. */
export const RESTART = 'KC_RESTART'
/** Who is logged in. */
export const IDENTITY = 'KEYCLOAK_IDENTITY'
/** Tells scripts of applications whether that has changed. */
export const SESSION = 'KEYCLOAK_SESSION'
/** The language that was chosen. */
export const LOCALE = 'KEYCLOAK_LOCALE'

/** A cookie for the pages of the realm. Applications in frames need to know who is logged in: `everywhere`. */
export function cookie(
  { base, realm }: Pick<BrowserRequest, 'base' | 'realm'>,
  name: string,
  value: string,
  options: { everywhere?: true; readable?: true; maxAge?: number } = {},
): Cookie {
  const { everywhere, ...rest } = options
  const { protocol, pathname } = new URL(base)
  const secure = protocol === 'https:'
  const path = `${pathname === '/' ? '' : pathname}/realms/${encodeURIComponent(realm)}/`
  return { name, value, path, secure, sameSite: everywhere && secure ? 'None' : 'Lax', ...rest }
}

/** Takes a cookie away. */
export function noCookie(request: Pick<BrowserRequest, 'base' | 'realm'>, name: string): Cookie {
  return cookie(request, name, '', { maxAge: 0 })
}

/** A secret that nobody guesses. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Whether a browser's text looks like a secret of this server. */
export const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** Under what a secret is kept that a browser holds: who reads the store cannot use it. */
export const idOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/** Keycloak: what a script compares the session of its token with. */
export const sessionMark = (session: string): string => createHash('sha384').update(session).digest('base64url')

/** A value that only this server reads again, and only for that purpose. */
export function sealFor(vault: Vault, purpose: string, value: unknown): string {
  return vault.seal(JSON.stringify({ purpose, value }))
}

/** The value that was sealed for the purpose; undefined when it was not, or by another key. */
export function openFor<T>(vault: Vault, purpose: string, sealed: string | undefined): T | undefined {
  if (sealed === undefined || !isSealed(sealed)) return undefined
  try {
    const { purpose: meant, value } = JSON.parse(vault.open(sealed)) as { purpose: string; value: T }
    return meant === purpose ? value : undefined
  } catch {
    return undefined
  }
}
