// Log-in with the authorization code flow and PKCE. Tokens are in memory only: a reload logs in again by the session of the browser.
import { signal } from '@preact/signals'
import { findRealm, root } from './location.ts'

/** The user who is logged in. */
export interface LoggedInUser {
  readonly name: string
  readonly realm: string
}

interface Tokens {
  readonly access: string
  readonly refresh: string
  readonly id: string
  /** Milliseconds since 1970. */
  readonly accessExpires: number
}

/** A log-in in progress, stored until the browser comes back. */
interface PendingLogin {
  readonly verifier: string
  /** The address to open afterwards. */
  readonly address: string
}

const CLIENT = 'security-admin-console'
/** Milliseconds before its end at which a token is replaced. */
const EARLY = 5_000
const LOGIN_PREFIX = 'regent-login '

/** The user; undefined before the log-in. */
export const user = signal<LoggedInUser | undefined>(undefined)
/** Whether the session has ended, so that the user must log in again. */
export const isSessionOver = signal(false)

let tokens: Tokens | undefined
let refreshing: Promise<void> | undefined

const realm = findRealm()

function getEndpoint(name: string): string {
  return `${root}realms/${encodeURIComponent(realm)}/protocol/openid-connect/${name}`
}

/** The address to which the log-in returns. */
const redirectUri = `${root}console/${encodeURIComponent(realm)}/`

/**
 * Completes a log-in, or begins one and leaves the page. Returns whether the user is logged in.
 *
 * @throws Error if the log-in failed
 */
export async function logIn(): Promise<boolean> {
  const parameters = new URLSearchParams(location.search)
  const state = parameters.get('state')
  const pending = state === null ? undefined : takePendingLogin(state)
  if (!pending) {
    await beginLogin()
    return false
  }
  const failure = parameters.get('error_description') ?? parameters.get('error')
  history.replaceState(null, '', pending.address)
  if (failure !== null) throw new Error(failure)
  await requestTokens({
    grant_type: 'authorization_code',
    code: parameters.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: pending.verifier,
  })
  return true
}

/** Leaves the page to log in, and comes back to the current address. */
export async function beginLogin(): Promise<void> {
  const verifier = createRandomText()
  const state = createRandomText()
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const pending: PendingLogin = { verifier, address: location.href }
  sessionStorage.setItem(LOGIN_PREFIX + state, JSON.stringify(pending))
  const query = new URLSearchParams({
    client_id: CLIENT,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state,
    code_challenge: encodeBase64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  })
  location.replace(`${getEndpoint('auth')}?${query}`)
}

/** Leaves the page to end the session. */
export function logOut(): void {
  const query = new URLSearchParams({
    client_id: CLIENT,
    post_logout_redirect_uri: redirectUri,
    ...(tokens && { id_token_hint: tokens.id }),
  })
  location.assign(`${getEndpoint('logout')}?${query}`)
}

/**
 * Returns a valid access token.
 *
 * @param isRejected the last one was rejected, and is replaced
 * @throws SessionOver if the user must log in again; TypeError without a connection
 */
export async function getToken(isRejected = false): Promise<string> {
  if (!tokens || isSessionOver.value) throw new SessionOver()
  if (isRejected || tokens.accessExpires - EARLY < Date.now()) {
    refreshing ??= requestTokens({ grant_type: 'refresh_token', refresh_token: tokens.refresh }).finally(() => {
      refreshing = undefined
    })
    await refreshing
  }
  return tokens.access
}

/** The session of the user has ended. */
export class SessionOver extends Error {}

function takePendingLogin(state: string): PendingLogin | undefined {
  const text = sessionStorage.getItem(LOGIN_PREFIX + state)
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(LOGIN_PREFIX)) sessionStorage.removeItem(key)
  return text === null ? undefined : JSON.parse(text)
}

async function requestTokens(fields: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(getEndpoint('token'), {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT, ...fields }),
    signal: AbortSignal.timeout(15_000),
  })
  if (response.status === 400 || response.status === 401) {
    isSessionOver.value = true
    throw new SessionOver()
  }
  if (!response.ok) throw new TypeError(`HTTP ${response.status}`)
  const body = await response.json()
  tokens = {
    access: body.access_token,
    refresh: body.refresh_token,
    id: body.id_token ?? tokens?.id ?? '',
    accessExpires: Date.now() + body.expires_in * 1000,
  }
  const claims = readClaims(tokens.id)
  user.value ??= { name: claims.preferred_username ?? claims.sub ?? '', realm }
}

function readClaims(token: string): { readonly preferred_username?: string; readonly sub?: string } {
  const [, payload = ''] = token.split('.')
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (text) => text.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes))
}

function createRandomText(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
