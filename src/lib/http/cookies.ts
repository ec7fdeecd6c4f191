// Cookies: rendering Set-Cookie, and parsing Cookie.

/** A cookie to set. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** Sent over HTTPS only. */
  readonly secure: boolean
  /** `Lax`: requests of other sites send the cookie for links only; `None`: for all of them. */
  readonly sameSite: 'Lax' | 'None'
  /** Scripts may read the cookie. */
  readonly readable?: true
  /** Lifespan in seconds; absent: until the browser closes. */
  readonly maxAge?: number
}

/** Returns a Set-Cookie header. Name, value and path are not escaped: they must not contain a semicolon. */
export function renderSetCookie({ name, value, path, secure, sameSite, readable, maxAge }: Cookie): string {
  return [
    `${name}=${value}`,
    `Path=${path}`,
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    ...(secure ? ['Secure'] : []),
    ...(readable ? [] : ['HttpOnly']),
    `SameSite=${sameSite}`,
  ].join('; ')
}

/** Returns the cookies of a Cookie header by name; of several with one name the first, which has the longest path. */
export function parseCookies(header = ''): ReadonlyMap<string, string> {
  const pairs = header.split(';').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]]
  })
  return new Map(pairs.reverse())
}
