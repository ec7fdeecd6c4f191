// What the lists of events have in common: which moments, which page, in which order.
import { failure } from '../../context/errors.ts'
import type { Query } from './resource.ts'

const MAX = 100
const DAY = 24 * 60 * 60 * 1000

/** A stretch of a list of events. */
export interface Stretch {
  readonly from?: Date
  /** Before that moment. */
  readonly until?: Date
  readonly oldestFirst: boolean
  readonly first: number
  readonly max: number
}

/** What of a list the query asks for. Throws malformed. */
export function stretchOf({ first, max, direction, dateFrom, dateTo }: Query): Stretch {
  const from = momentOf('dateFrom', dateFrom)
  const to = momentOf('dateTo', dateTo)
  if (direction && direction !== 'asc' && direction !== 'desc')
    throw failure('malformed', 'Invalid value for sortDirection, expected value is asc or desc')
  return {
    ...(from && { from: from.at }),
    ...(to && { until: new Date(to.at.getTime() + to.length) }),
    oldestFirst: direction === 'asc',
    first: typeof first === 'number' && first > 0 ? first : 0,
    max: typeof max === 'number' && max >= 0 ? max : MAX,
  }
}

/** The values of a parameter, if there are any. Throws malformed at one that is not known. */
export function valuesAmong(name: string, given: unknown, known: readonly string[]): readonly string[] | undefined {
  const values = (given ?? []) as string[]
  const unknown = values.find((value) => !known.includes(value))
  if (unknown !== undefined) throw failure('malformed', `Invalid value for '${name}': ${unknown}`)
  return values.length ? values : undefined
}

/** Keycloak: a day or a number of milliseconds. What is meant lasts as long as it is written. */
function momentOf(name: string, given: unknown): { at: Date; length: number } | undefined {
  if (!given) return undefined
  const text = String(given)
  if (/^\d{1,15}$/.test(text)) return { at: new Date(Number(text)), length: 1 }
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? text : Number.NaN)
  // A day that does not exist is taken for one that does.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text))
    throw failure('malformed', `Invalid value for '${name}', expected format is yyyy-MM-dd or an Epoch timestamp`)
  return { at, length: DAY }
}
