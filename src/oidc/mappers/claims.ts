// How mappers write claims: where in a token, of which type of JSON, and which claims are not theirs to write.

/** The claims of something: a token, or an answer about one. */
export type Claims = Record<string, unknown>

/** The settings of a mapper. */
export type Settings = Readonly<Record<string, string>>

/** What a mapper says of these, or of anything inside of them, is ignored. Keycloak: `nbf` is written, and makes the token void. */
const FIXED = new Set(['exp', 'nbf', 'iat', 'iss', 'jti', 'typ', 'scope', 'nonce', 'session_state'])

/** Keycloak: these are texts, whatever the mapper's type of JSON is. */
const TEXTS = new Set(['sub', 'azp', 'sid', 'acr'])

/** Keycloak: what would be inside of these is ignored. */
const FLAT = new Set([...TEXTS, 'aud'])

/** Writes the claim that the settings name, if there is a value of the type that they say. */
export function setClaim(claims: Claims, settings: Settings, value: unknown): void {
  const typed = typedValue(settings, value)
  const path = claimPath(settings['claim.name'] ?? '')
  if (typed !== undefined && path.length) put(claims, path, typed)
}

/** Writes a claim; what stands there is replaced, but of two lists comes one. */
export function put(claims: Claims, path: readonly string[], value: unknown): void {
  const last = path.at(-1)!
  if (FIXED.has(path[0]!) || (path.length > 1 && FLAT.has(path[0]!))) return
  if (last === 'auth_time' && path.length === 1 && typeof value !== 'number') return
  const place = placeOf(claims, path.slice(0, -1))
  if (!place) return
  const there = Object.hasOwn(place, last) ? place[last] : undefined
  if (path.length === 1 && last === 'aud') place.aud = Array.isArray(value) ? value.map(String) : [String(value)]
  else if (path.length === 1 && TEXTS.has(last)) place[last] = String(value)
  else define(place, last, Array.isArray(there) && Array.isArray(value) ? [...new Set([...there, ...value])] : value)
}

/** Adds to the audience. */
export function addAudience(claims: Claims, audience: string): void {
  const there = claims.aud === undefined ? [] : [claims.aud].flat()
  claims.aud = [...new Set([...there, audience])]
}

/** The parts of a claim's name: dots nest, what follows a backslash is meant literally. */
export function claimPath(name: string): string[] {
  const parts: string[] = []
  let rest = name
  for (;;) {
    const part = /^((?:\\.|[^\\.])+)\./s.exec(rest)
    if (!part) break
    parts.push(part[1]!)
    rest = rest.slice(part[0].length)
  }
  // Keycloak: what begins with a dot is one part to the end.
  if (rest) parts.push(rest)
  return parts.map((part) => part.replace(/\\(.)/gs, '$1'))
}

/** The object of the path; undefined where something else stands in the way. */
function placeOf(claims: Claims, path: readonly string[]): Claims | undefined {
  let place = claims
  for (const part of path) {
    if (!Object.hasOwn(place, part)) define(place, part, {})
    const next = place[part]
    if (next === null || typeof next !== 'object' || Array.isArray(next)) return undefined
    place = next as Claims
  }
  return place
}

/** Sets an own member, also one called `__proto__`. */
function define(place: Claims, name: string, value: unknown): void {
  Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true })
}

/** The value as the settings have it: one or several, of a type of JSON; undefined where there is none of that type. */
function typedValue(settings: Settings, value: unknown): unknown {
  if (!Array.isArray(value)) return ofType(settings['jsonType.label'], value)
  if (!value.length) return undefined
  if (settings.multivalued !== 'true') return ofType(settings['jsonType.label'], value[0])
  const values = value.map((one) => ofType(settings['jsonType.label'], one))
  return values.includes(undefined) ? undefined : values
}

/** Keycloak: a mapper whose value is of another type than it says is left out; a type that nobody knows is any. */
function ofType(type: string | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return undefined
  switch (type) {
    case 'String':
      return String(value)
    case 'boolean':
      return String(value).toLowerCase() === 'true'
    case 'long':
      return wholeNumber(value, 2n ** 63n)
    case 'int':
      return wholeNumber(value, 2n ** 31n)
    case 'JSON':
      return typeof value === 'string' ? parsed(value) : value
    default:
      return value
  }
}

function wholeNumber(value: unknown, limit: bigint): number | undefined {
  const text = String(value)
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const number = BigInt(text.replace('+', ''))
  return number >= -limit && number < limit ? Number(number) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
