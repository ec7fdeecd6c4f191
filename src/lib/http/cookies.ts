// Cookies of a browser: what it sends, and what it is told to keep.

/** A cookie to keep. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** Sent over HTTPS only. */
  readonly secure: boolean
  /** With which requests of other sites it is sent: with links only, or with all. */
  readonly sameSite: 'Lax' | 'None'
  /** Scripts of pages read it. */
  readonly readable?: true
  /** Seconds that it is kept; absent: until the browser closes. */
  readonly maxAge?: number
}

/** The text of a Set-Cookie header. Name, value and path must hold nothing that ends them. */
export function setCookie({ name, value, path, secure, sameSite, readable, maxAge }: Cookie): string {
  return [
    `${name}=${value}`,
    `Path=${path}`,
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    ...(secure ? ['Secure'] : []),
    ...(readable ? [] : ['HttpOnly']),
    `SameSite=${sameSite}`,
  ].join('; ')
}

/** The cookies of a Cookie header; of several of a name the first, which has the longest path. */
export function readCookies(header = ''): ReadonlyMap<string, string> {
  const pairs = header.split(';').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]]
  })
  return new Map(pairs.reverse())
}
