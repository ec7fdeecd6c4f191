// Query parameters that the lists of events share: the time range, the order and the page.
import { failure } from '../../context/errors.ts'
import { type Period, parsePeriod } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'

const MAX = 100

/** The period and the page of a list of events. */
export interface EventRange extends Period {
  readonly oldestFirst: boolean
  readonly first: number
  readonly max: number
}

/** Returns the part of a list that a query requests. Throws invalid. */
export function parseEventRange(query: Query): EventRange {
  const { first, max, direction } = query
  if (direction && direction !== 'asc' && direction !== 'desc')
    throw failure('invalid', 'Invalid value for sortDirection, expected value is asc or desc', { form: 'error' })
  return {
    ...parsePeriod(query, { from: 'dateFrom', to: 'dateTo' }),
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
