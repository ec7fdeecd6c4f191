import * as z from 'zod'

const FORM = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/
const error = 'must be a time such as 30s, 5m or 1h30m'

/** How long something takes, or is waited for, as resources write it. */
export const duration = z
  .string()
  .regex(FORM, { error, abort: true })
  .refine((written) => secondsOf(written) > 0, error)

/** A time such as `1h30m`, in seconds. */
export function secondsOf(written: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = FORM.exec(written) ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}
