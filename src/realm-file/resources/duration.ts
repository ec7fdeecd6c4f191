// Durations in resources, such as `1h30m`.
import * as z from 'zod'

/** At most 11 years in hours, 19 years in minutes and 31 years in seconds. */
const PATTERN = /^(?:(\d{1,5})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?$/
/** As PATTERN, with a digit other than 0. A structural schema has one pattern, without lookahead. */
const POSITIVE =
  /^(?:0*[1-9]\d{0,4}h(?:\d{1,7}m)?(?:\d{1,9}s)?|(?:\d{1,5}h)?0*[1-9]\d{0,6}m(?:\d{1,9}s)?|(?:\d{1,5}h)?(?:\d{1,7}m)?0*[1-9]\d{0,8}s)$/
const MAX_LENGTH = 24

/** The schema of a duration, which must be positive. */
export const duration = z
  .string()
  .max(MAX_LENGTH)
  .regex(POSITIVE, { error: 'must be a duration such as 30s, 5m or 1h30m' })

/** The schema of an interval; `0s` means that nothing is repeated. */
export const interval = z
  .string()
  .min(2)
  .max(MAX_LENGTH)
  .regex(PATTERN, { error: 'must be a duration such as 30s, 5m or 1h30m, or 0s for none' })

/** Parses a duration such as `1h30m`. Returns seconds. */
export function parseDuration(text: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = PATTERN.exec(text) ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}
