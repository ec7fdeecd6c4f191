// Whether a client may be returned to at an address. Keycloak: RedirectUtils.

/** Addresses on the machine of the person, where a port is chosen anew each time (RFC 8252, section 7.3). */
const LOOPBACK = ['http://127.0.0.1', 'http://localhost', 'http://[::1]']

/** What a client says of its addresses. */
export interface Registered {
  readonly redirectUris: readonly string[]
  readonly rootUrl?: string | undefined
}

/** Whether the address is one of those that are registered; one that begins with a slash follows the root URL. */
export function isRegistered(address: string, { redirectUris, rootUrl = '' }: Registered): boolean {
  const url = URL.parse(address)
  if (!url || url.hash || address.includes('#') || isMisleading(address) || isScript(url)) return false
  const registered = redirectUris.map((one) => (one.startsWith('/') ? rootUrl.replace(/\/$/, '') + one : one))
  return [address, ...withoutPort(address)].some((one) => registered.some((pattern) => matches(one, url, pattern)))
}

function matches(address: string, url: URL, pattern: string): boolean {
  if (pattern === '*') return url.protocol === 'http:' || url.protocol === 'https:'
  if (!pattern.endsWith('*') || pattern.includes('?')) return address === pattern
  const path = address.split('?', 1)[0]!
  const start = pattern.slice(0, -1)
  if (canClimb(path)) return false
  return path.startsWith(start) || (start.endsWith('/') && path === start.slice(0, -1))
}

/**
 * Whether a server could read the path as one that leads out of its folder, however the dots are written: servlet containers cut
 * parameters off at `;`, a decoded `?` or `#` ends the path, proxies decode once more, and old decoders take overlong UTF-8 and end at a zero.
 */
function canClimb(path: string): boolean {
  const decoded = decodedOnce(path)
  // What is still encoded then means something else to whoever decodes again.
  if (decoded === undefined || /%[\da-f]{2}/i.test(decoded) || /[\p{Cc}\\]/u.test(decoded)) return true
  return decoded.split('/').some((segment) => /^\.\.?\s*$/.test(segment.split(/[;?#]/, 1)[0]!))
}

/** Undefined where it is no UTF-8, or an encoding is broken. */
function decodedOnce(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** `http://127.0.0.1:49152/cb` without its port. */
function withoutPort(address: string): string[] {
  return LOOPBACK.flatMap((host) => {
    const rest = address.startsWith(`${host}:`) ? /^\d+(\/.*)?$/.exec(address.slice(host.length + 1)) : null
    return rest ? [host + (rest[1] ?? '')] : []
  })
}

/** `https://app.example@evil.example/` looks as what it is not; so does what browsers read otherwise than it is written. */
function isMisleading(address: string): boolean {
  return /^[^/?#]*\/\/[^/?#]*@/.test(address) || /[\\\s\p{Cc}]/u.test(address)
}

function isScript({ protocol }: URL): boolean {
  return protocol === 'javascript:' || protocol === 'data:' || protocol === 'vbscript:'
}
