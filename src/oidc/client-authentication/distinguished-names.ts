// Distinguished names of certificates. RFC 4514. Keycloak compares and matches them in the form of Java.
import type { X509Certificate } from 'node:crypto'

/** An attribute of a name: its type in upper case, and its value. */
type NameAttribute = readonly [type: string, value: string]

/** Java's names of attribute types that OpenSSL abbreviates. */
const javaTypes: ReadonlyMap<string, string> = new Map([
  ['GN', 'GIVENNAME'],
  ['SN', 'SURNAME'],
  ['EMAIL', 'EMAILADDRESS'],
  ['E', 'EMAILADDRESS'],
  ['S', 'ST'],
])

/** Returns the subject of a certificate as Java writes it: the most specific attribute first, as in `CN=a, O=b`. */
export function getSubjectName({ subject }: Pick<X509Certificate, 'subject'>): string {
  // OpenSSL writes one attribute per line, and escapes line breaks within values.
  const attributes = (subject ?? '').split('\n').reverse().flatMap(parseName)
  return attributes.map(([type, value]) => `${type}=${/[,+=<>#;"\\]/.test(value) ? quote(value) : value}`).join(', ')
}

const quote = (value: string): string => `"${value.replace(/["\\]/g, '\\$&')}"`

/** Whether two names have the same attributes in the same order. Types and surrounding spaces do not differ by case. */
export function isSameName(a: string, b: string): boolean {
  const [first, second] = [parseName(a), parseName(b)]
  const isEqual = ([type, value]: NameAttribute, other: NameAttribute | undefined) =>
    type === other?.[0] && value.toLowerCase() === other[1].toLowerCase()
  return (
    first.length > 0 && first.length === second.length && first.every((attribute, at) => isEqual(attribute, second[at]))
  )
}

/** Returns the attributes of a name; none if it is not valid. Values may be quoted, or have escaped characters. */
function parseName(name: string): NameAttribute[] {
  const attribute = /\s*([A-Za-z][\w.-]*|\d+(?:\.\d+)*)\s*=\s*("(?:\\.|[^"\\])*"|(?:\\.|[^\\,+])*)\s*(?:[,+]|$)/suy
  const attributes: NameAttribute[] = []
  while (attribute.lastIndex < name.length) {
    const [, type, value] = attribute.exec(name) ?? []
    if (type === undefined || value === undefined) return []
    const upper = type.toUpperCase()
    attributes.push([javaTypes.get(upper) ?? upper, unescapeValue(value.trim())])
  }
  return attributes
}

function unescapeValue(text: string): string {
  const value = /^"(.*)"$/s.exec(text)?.[1] ?? text
  const bytes = value.replace(/(?:\\[\dA-Fa-f]{2})+/g, (pairs) =>
    Buffer.from(pairs.replaceAll('\\', ''), 'hex').toString('utf8'),
  )
  return bytes.replace(/\\(.)/gs, '$1')
}
