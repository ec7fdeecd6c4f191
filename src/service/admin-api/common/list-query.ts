// Query parameters that several lists have: the page, a period, and attributes to search for.
import { failure } from '../../context/errors.ts'
import type { Query } from './resource.ts'

/** A page of a list: the index of its first element, and the most elements it has. */
export interface ListPage {
  readonly first?: number
  readonly max?: number
}

/** Returns the page that a query requests. Keycloak: values below 0 count as absent. */
export function parsePage({ first, max }: Query, defaultMax?: number): ListPage {
  const size = typeof max === 'number' ? max : defaultMax
  return {
    ...(typeof first === 'number' && first >= 0 && { first }),
    ...(size !== undefined && size >= 0 && { max: size }),
  }
}

/** A period of time. Without `from` or `until`, it has no beginning or no end. */
export interface Period {
  readonly from?: Date
  /** Exclusive. */
  readonly until?: Date
}

/** Returns the period between two parameters, by their names. The day or millisecond of `to` is included. Throws invalid. */
export function parsePeriod(query: Query, names: { readonly from: string; readonly to: string }): Period {
  const from = parseMoment(names.from, query[names.from])
  const to = parseMoment(names.to, query[names.to])
  return { ...(from && { from: from.at }), ...(to && { until: new Date(to.at.getTime() + to.length) }) }
}

const DAY = 24 * 60 * 60 * 1000

/** Keycloak: a day or a number of milliseconds since 1970. `length`: a day or a millisecond, in milliseconds. */
function parseMoment(name: string, value: unknown): { at: Date; length: number } | undefined {
  if (!value) return undefined
  const text = String(value)
  if (/^\d{1,15}$/.test(text)) return { at: new Date(Number(text)), length: 1 }
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? text : Number.NaN)
  // Date parses a day that does not exist, such as 2025-02-30, as another day.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text))
    throw failure('invalid', `Invalid value for '${name}', expected format is yyyy-MM-dd or an Epoch timestamp`, {
      form: 'error',
    })
  return { at, length: DAY }
}

/** The most characters of an attribute query. */
const LONGEST_QUERY = 2000
/** The most words or attributes of a search. Each is a condition of the statement, whose planning takes more than linear time. */
const MOST_TERMS = 20

/** A name with or without a value, or any other character. It never backtracks: each character is read once. */
const PAIR = /(?:"([^"]+)"|([^\s:"]+))(?::(?:"([^"]*)"|(\S*)))?|./gs

/** Parses an attribute query such as `name:value "other name":"other value"`. A name without a colon is ignored. Throws invalid if it is too long or has too many attributes. */
export function parseAttributeQuery(q: string): Record<string, string> {
  if (q.length > LONGEST_QUERY) throw tooLong('q', `${LONGEST_QUERY} characters`)
  const attributes = Object.fromEntries(
    [...q.matchAll(PAIR)].flatMap(([, quoted, name, text, word]) => {
      const value = text ?? word
      return value === undefined ? [] : [[quoted ?? name!, value]]
    }),
  )
  if (Object.keys(attributes).length > MOST_TERMS) throw tooLong('q', `${MOST_TERMS} attributes`)
  return attributes
}

/** Returns the words of a search. Throws invalid if there are too many. */
export function parseSearchWords(search: string): string[] {
  const words = search.split(/\s+/)
  if (words.length > MOST_TERMS) throw tooLong('search', `${MOST_TERMS} words`)
  return words
}

const tooLong = (parameter: string, limit: string) =>
  failure('invalid', `The parameter ${parameter} must not have more than ${limit}`, {
    form: { error: 'invalid_request' },
  })
