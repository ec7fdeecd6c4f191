// What lists of several resources are asked for: a page, attributes.
import { failure } from '../../context/errors.ts'
import type { Query } from './resource.ts'

/** The part of a list that the query asks for; `max`: what it gives at most unless it is told. Keycloak: below 0 is as absent. */
export function pageOf({ first, max }: Query, most?: number): { first?: number; max?: number } {
  const asked = typeof max === 'number' ? max : most
  return {
    ...(typeof first === 'number' && first >= 0 && { first }),
    ...(asked !== undefined && asked >= 0 && { max: asked }),
  }
}

/** Characters that a query for attributes may have. */
const LONGEST_QUERY = 2000

/** A name with or without a value, or what belongs to neither: each character is looked at once. */
const PAIR = /(?:"([^"]+)"|([^\s:"]+))(?::(?:"([^"]*)"|(\S+)))?|./gs

/** The attributes that `name:value "other name":"other value"` asks for. Throws bad_request for a query that is too long. */
export function attributesOf(q: string): Record<string, string> {
  if (q.length > LONGEST_QUERY)
    throw failure('bad_request', `The parameter q has more than ${LONGEST_QUERY} characters`)
  return Object.fromEntries(
    [...q.matchAll(PAIR)].flatMap(([, quoted, name, text, word]) => {
      const value = text ?? word
      return value === undefined ? [] : [[quoted ?? name!, value]]
    }),
  )
}
