// Writing of claims by mappers.
import { reservedClaims } from '../../kinds/mapper-types.ts'
import { setMember } from '../../lib/set-member.ts'

/** The claims of a token or response. */
export type Claims = Record<string, unknown>

/** The configuration of a protocol mapper. */
export type MapperConfig = Readonly<Record<string, string>>

const RESERVED: ReadonlySet<string> = new Set(reservedClaims)

/** Keycloak: these claims are texts, whatever JSON type the mapper has. */
const TEXTS = new Set(['sub', 'azp', 'sid', 'acr'])

/** Keycloak: members of these claims are ignored. */
const FLAT = new Set([...TEXTS, 'aud'])

/** Whether a value is an object of claims. */
export const isClaims = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Writes the claim of a mapper's configuration, if the value has the configured JSON type. */
export function setClaim(claims: Claims, config: MapperConfig, value: unknown): void {
  const converted = convertValue(config, value)
  const path = parseClaimPath(config['claim.name'] ?? '')
  if (converted !== undefined && path.length) writeClaim(claims, path, converted)
}

/** Writes a claim at a path. It replaces the existing value, but two lists are merged. */
export function writeClaim(claims: Claims, path: readonly string[], value: unknown): void {
  const name = path.at(-1)!
  const isTopLevel = path.length === 1
  if (RESERVED.has(path[0]!) || (!isTopLevel && FLAT.has(path[0]!))) return
  if (isTopLevel && name === 'auth_time' && typeof value !== 'number') return
  const parent = findParent(claims, path.slice(0, -1))
  if (!parent) return
  const existing = Object.hasOwn(parent, name) ? parent[name] : undefined
  if (isTopLevel && name === 'aud') parent.aud = Array.isArray(value) ? value.map(String) : [String(value)]
  else if (isTopLevel && TEXTS.has(name)) parent[name] = String(value)
  else {
    const areLists = Array.isArray(existing) && Array.isArray(value)
    setMember(parent, name, areLists ? [...new Set([...existing, ...value])] : value)
  }
}

/** Adds a client or another recipient to the `aud` claim. */
export function addAudience(claims: Claims, audience: string): void {
  const existing = claims.aud === undefined ? [] : [claims.aud].flat()
  claims.aud = [...new Set([...existing, audience])]
}

/** Splits a claim name at its dots; a backslash escapes the next character. */
export function parseClaimPath(name: string): string[] {
  const parts: string[] = []
  let rest = name
  for (;;) {
    const part = /^((?:\\.|[^\\.])+)\./s.exec(rest)
    if (!part) break
    parts.push(part[1]!)
    rest = rest.slice(part[0].length)
  }
  // Keycloak: a rest that begins with a dot is a single part.
  if (rest) parts.push(rest)
  return parts.map((part) => part.replace(/\\(.)/gs, '$1'))
}

/** Returns the object at a path, and creates missing objects; undefined where another value is in the way. */
function findParent(claims: Claims, path: readonly string[]): Claims | undefined {
  let parent = claims
  for (const part of path) {
    if (!Object.hasOwn(parent, part)) setMember(parent, part, {})
    const next = parent[part]
    if (!isClaims(next)) return undefined
    parent = next
  }
  return parent
}

/** Converts a value, or each value of a multivalued mapper, to the JSON type; undefined where that is not possible. */
function convertValue(config: MapperConfig, value: unknown): unknown {
  const type = config['jsonType.label']
  if (!Array.isArray(value)) return toJsonType(type, value)
  if (!value.length) return undefined
  if (config.multivalued !== 'true') return toJsonType(type, value[0])
  const values = value.map((element) => toJsonType(type, element))
  return values.includes(undefined) ? undefined : values
}

/** Keycloak: a claim whose value does not have the JSON type is left out; an unsupported JSON type accepts any value. */
function toJsonType(type: string | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return undefined
  switch (type) {
    case 'String':
      return String(value)
    case 'boolean':
      return String(value).toLowerCase() === 'true'
    case 'long':
      return parseInteger(value, 2n ** 63n)
    case 'int':
      return parseInteger(value, 2n ** 31n)
    case 'JSON':
      return typeof value === 'string' ? parseJson(value) : value
    default:
      return value
  }
}

function parseInteger(value: unknown, limit: bigint): number | undefined {
  const text = String(value)
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const number = BigInt(text.replace('+', ''))
  return number >= -limit && number < limit ? Number(number) : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
