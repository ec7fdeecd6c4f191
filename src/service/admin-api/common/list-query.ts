// Query parameters that several lists have: the page, and attributes to search for.
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
