// Query parameters that the lists of events share: the time range, the order and the page.
import { failure } from '../../context/errors.ts'
import type { Query } from '../common/resource.ts'

const MAX = 100
const DAY = 24 * 60 * 60 * 1000

/** The period and the page of a list of events. */
export interface EventRange {
  readonly from?: Date
  /** Exclusive. */
  readonly until?: Date
  readonly oldestFirst: boolean
  readonly first: number
  readonly max: number
}

/** Returns the part of a list that a query requests. Throws invalid. */
export function parseEventRange({ first, max, direction, dateFrom, dateTo }: Query): EventRange {
  const from = parseMoment('dateFrom', dateFrom)
  const to = parseMoment('dateTo', dateTo)
  if (direction && direction !== 'asc' && direction !== 'desc')
    throw failure('invalid', 'Invalid value for sortDirection, expected value is asc or desc', { form: 'error' })
  return {
    ...(from && { from: from.at }),
    ...(to && { until: new Date(to.at.getTime() + to.length) }),
    oldestFirst: direction === 'asc',
    first: typeof first === 'number' && first > 0 ? first : 0,
    max: typeof max === 'number' && max >= 0 ? max : MAX,
  }
}

/** Returns the texts of a parameter, which may be separated by commas, or undefined if it has none. Throws invalid if one is not among the choices. */
export function parseChoices(name: string, value: unknown, choices: readonly string[]): readonly string[] | undefined {
  const texts = (Array.isArray(value) ? value : [])
    .flatMap((text) => String(text).split(','))
    .map((text) => text.trim())
  const unknown = texts.find((text) => !choices.includes(text))
  if (unknown !== undefined) throw failure('invalid', `Invalid value for '${name}': ${unknown}`, { form: 'error' })
  return texts.length ? texts : undefined
}

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
