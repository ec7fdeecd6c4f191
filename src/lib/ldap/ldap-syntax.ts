// Filters and distinguished names of LDAP as texts.

/** Returns a value for a filter. RFC 4515, section 3. */
export function escapeFilterValue(value: string | Buffer): string {
  if (typeof value !== 'string') return [...value].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('')
  return value.replace(/[\\*()\0]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** Returns a filter that matches entries that all of the filters match; undefined filters are omitted. */
export function allOf(...filters: readonly (string | undefined)[]): string {
  const present = filters.filter((filter) => filter !== undefined)
  return present.length === 1 ? present[0]! : `(&${present.join('')})`
}

/** Returns a filter that matches entries that one of the filters matches. */
export function anyOf(filters: readonly string[]): string {
  return filters.length === 1 ? filters[0]! : `(|${filters.join('')})`
}

/** Returns a value for a distinguished name. RFC 4514, section 2.4. */
export function escapeNameValue(value: string): string {
  return value
    .replace(/[\\,+"<>;=]/g, (character) => `\\${character}`)
    .replace(/\0/g, '\\00')
    .replace(/^[ #]/, (character) => `\\${character}`)
    .replace(/ $/, '\\ ')
}

/** An attribute and a value of a relative distinguished name. */
export interface NamePart {
  readonly attribute: string
  readonly value: string
}

/** Returns the parts of a distinguished name, the most specific first. A part with several attributes has its first one. */
export function parseName(dn: string): NamePart[] {
  return splitName(dn).map((part) => {
    const at = part.indexOf('=')
    return { attribute: part.slice(0, at).trim(), value: unescapeNameValue(part.slice(at + 1).trim()) }
  })
}

/** Returns the distinguished name of the entry above. */
export function getParentName(dn: string): string {
  return splitName(dn).slice(1).join(',')
}

/** Returns a distinguished name in the form in which two names of one entry are equal: in lower case, without optional spaces. */
export function normalizeName(dn: string): string {
  return parseName(dn)
    .map(({ attribute, value }) => `${attribute}=${escapeNameValue(value)}`.toLowerCase())
    .join(',')
}

function splitName(dn: string): string[] {
  return dn.match(/(?:\\.|"[^"]*"|[^\\,"])+/gs)?.map((part) => part.trim()) ?? []
}

function unescapeNameValue(text: string): string {
  const unquoted = text.replace(/^"(.*)"$/s, '$1')
  const bytes = unquoted.replace(/(?:\\[0-9a-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('\\', ''), 'hex').toString('utf8'),
  )
  return bytes.replace(/\\(.)/gs, '$1')
}
