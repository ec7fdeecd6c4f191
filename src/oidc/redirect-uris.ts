// The redirect URIs of a client. Keycloak: RedirectUtils.
import { readFlag } from '../kinds/json.ts'

/** Loopback addresses, at which a native application may use any port. RFC 8252, section 7.3. */
const LOOPBACK = ['http://127.0.0.1', 'http://localhost', 'http://[::1]']

/** Parameters of responses, in lower case. */
const RESPONSE_PARAMETERS: ReadonlySet<string> = new Set([
  'access_token',
  'code',
  'error',
  'error_description',
  'expires_in',
  'id_token',
  'iss',
  'kc_action',
  'kc_action_status',
  'response',
  'session_state',
  'state',
  'token_type',
])

/** The registered redirect URIs of a client. */
export interface RegisteredUris {
  readonly redirectUris: readonly string[]
  readonly rootUrl?: string | undefined
  /** Whether an address may have parameters with the names of those of a response. */
  readonly acceptsResponseParameters?: boolean
}

/** Whether a client accepts parameters of responses in its redirect URIs. Keycloak: allow.oidc.params.in.redirect.uris. */
export const acceptsResponseParameters = ({
  attributes,
}: {
  readonly attributes?: Readonly<Record<string, string>> | undefined
}): boolean => readFlag(attributes?.['allow.oidc.params.in.redirect.uris'])

/** Keycloak: the built-in client of its admin console, with which users log in to the console and the command line of Regent. */
export const CONSOLE_CLIENT = 'security-admin-console'

/**
 * Returns the part of a redirect URI that must be registered. Keycloak: its console, whose addresses below the page are in the fragment, comes back to
 * where the user was.
 */
export function omitConsolePath(clientId: string | undefined, address: string): string {
  return clientId === CONSOLE_CLIENT ? address.replace(/#.*$/s, '') : address
}

/** Returns the redirect URIs of a client that the server allows without their registration: those of its own console. */
export function listServerRedirectUris(clientId: string | undefined, base: string): string[] {
  return clientId === CONSOLE_CLIENT ? [`${base}/console/*`] : []
}

/** The address at which the command line waits for the response to a log-in, on any port. */
const COMMAND_LISTENER = 'http://127.0.0.1/regent-log-in'

/** The path of the page of the server that shows the code of a log-in, for a command line on a machine without a browser. */
export const CODE_PAGE = '/regent/log-in/code'

/** Returns the redirect URIs of a client that the server allows for log-ins with its command line, without their registration. */
export function listCommandRedirectUris(clientId: string | undefined, base: string): string[] {
  return clientId === CONSOLE_CLIENT ? [COMMAND_LISTENER, `${base}${CODE_PAGE}`] : []
}

/**
 * Whether users must enter their credentials before a response is sent to a redirect URI, although they are logged in. Any program can listen
 * on a loopback address, so no response is sent without an action of the user. RFC 8252, section 8.6.
 */
export function requiresCredentials(clientId: string | undefined, redirectUri: string, base: string): boolean {
  const target = omitConsolePath(clientId, redirectUri)
  return isRegisteredRedirectUri(target, { redirectUris: listCommandRedirectUris(clientId, base) })
}

/** Returns the root URL of a client, in which variables name the server. Keycloak: without one, it is the server. */
export function resolveRootUrl(rootUrl: string | undefined, base: string): string {
  return rootUrl?.replace(/^\$\{auth(?:Base|Admin)Url\}/, base) || base
}

/** Whether an address matches a registered redirect URI, and is safe for a response. The registered URI may end with `*` for any suffix; if it begins with a slash, it is relative to the root URL. */
export function isRegisteredRedirectUri(
  address: string,
  { redirectUris, rootUrl = '', acceptsResponseParameters = false }: RegisteredUris,
): boolean {
  const url = URL.parse(address)
  if (!url || url.hash || address.includes('#') || isAmbiguous(address) || hasScriptScheme(url)) return false
  if (!acceptsResponseParameters && hasResponseParameter(url)) return false
  const patterns = redirectUris.map((uri) => (uri.startsWith('/') ? rootUrl.replace(/\/$/, '') + uri : uri))
  const candidates = [address, ...withoutLoopbackPort(address)]
  return candidates.some((candidate) => patterns.some((pattern) => matches(candidate, url, pattern)))
}

function matches(address: string, url: URL, pattern: string): boolean {
  if (pattern === '*') return url.protocol === 'http:' || url.protocol === 'https:'
  if (!pattern.endsWith('*') || pattern.includes('?')) return address === pattern
  const path = address.split('?', 1)[0]!
  const start = pattern.slice(0, -1)
  if (canTraverse(path)) return false
  return path.startsWith(start) || (start.endsWith('/') && path === start.slice(0, -1))
}

/**
 * Whether a server could read the path as a path traversal, however the dots are encoded: servlet containers cut
 * parameters off at `;`, a decoded `?` or `#` ends the path, proxies decode a second time, and old decoders accept overlong
 * UTF-8 and end at a zero byte.
 */
function canTraverse(path: string): boolean {
  const decoded = decodeOnce(path)
  // What is still encoded has another meaning for a server that decodes a second time.
  if (decoded === undefined || /%[\da-f]{2}/i.test(decoded) || /[\p{Cc}\\]/u.test(decoded)) return true
  return decoded.split('/').some((segment) => /^\.\.?\s*$/.test(segment.split(/[;?#]/, 1)[0]!))
}

/** Returns the percent-decoded path; undefined where it is not valid UTF-8, or an encoding is broken. */
function decodeOnce(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Returns a loopback address without its port, such as `http://127.0.0.1/cb` for `http://127.0.0.1:49152/cb`. */
function withoutLoopbackPort(address: string): string[] {
  return LOOPBACK.flatMap((host) => {
    const rest = address.startsWith(`${host}:`) ? /^\d+(\/.*)?$/.exec(address.slice(host.length + 1)) : null
    return rest ? [host + (rest[1] ?? '')] : []
  })
}

/** Whether an address looks like another one, as `https://app.example@evil.example/` does, or is read differently by browsers. */
function isAmbiguous(address: string): boolean {
  return /^[^/?#]*\/\/[^/?#]*@/.test(address) || /[\\\s\p{Cc}]/u.test(address)
}

/** Whether an address has a parameter that an application could mistake for one of the response, which is appended. RFC 9700, section 4.5. */
function hasResponseParameter({ searchParams }: URL): boolean {
  return [...searchParams.keys()].some((name) => RESPONSE_PARAMETERS.has(name.toLowerCase()))
}

function hasScriptScheme({ protocol }: URL): boolean {
  return protocol === 'javascript:' || protocol === 'data:' || protocol === 'vbscript:'
}
