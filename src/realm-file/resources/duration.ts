// Durations in resources, such as `1h30m`.
import * as z from 'zod'

const PATTERN = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/
const error = 'must be a duration such as 30s, 5m or 1h30m'

/** The schema of a duration. It must be positive. */
export const duration = z
  .string()
  .regex(PATTERN, { error, abort: true })
  .refine((text) => parseDuration(text) > 0, error)

/** Parses a duration such as `1h30m`. Returns seconds. */
export function parseDuration(text: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = PATTERN.exec(text) ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}
