// Policies that grant access at certain times. Keycloak: TimePolicyProvider.
import { type Attributes, DATE_TIME } from './attributes.ts'
import { PolicyError } from './policy-error.ts'

type Config = Readonly<Record<string, string>>

/** The parts of a time that a policy can limit, by the name of the setting. */
const parts: Readonly<Record<string, (time: Date) => number>> = {
  dayMonth: (time) => time.getUTCDate(),
  month: (time) => time.getUTCMonth() + 1,
  year: (time) => time.getUTCFullYear(),
  hour: (time) => time.getUTCHours(),
  minute: (time) => time.getUTCMinutes(),
}

/**
 * Whether the time of the request is in the ranges of the settings. Times have no time zone: they are compared as written. Keycloak:
 * `noa`, not on or after, includes that time itself.
 * @throws PolicyError if a time or number is malformed
 */
export function isInTime(config: Config, attributes: Attributes): boolean {
  const time = parseTime(attributes.get(DATE_TIME)?.[0] ?? '')
  if (config.nbf && time < parseTime(toTime(config.nbf))) return false
  if (config.noa && time > parseTime(toTime(config.noa))) return false
  return Object.entries(parts).every(([name, getPart]) => isInRange(getPart(time), config[name], config[`${name}End`]))
}

function isInRange(value: number, start: string | undefined, end: string | undefined): boolean {
  if (start === undefined) return true
  if (end === undefined) return value === parseNumber(start)
  return value >= parseNumber(start) && value <= parseNumber(end)
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new PolicyError(`"${text}" is no number.`)
  return Number(text)
}

/** A setting may be a day. */
const toTime = (text: string): string => (text.trim().length === 10 ? `${text.trim()} 00:00:00` : text)

/** Parses a time such as 2026-11-28 09:30:00. Keycloak: 32 January is 1 February, and the rest of the text is ignored. */
function parseTime(text: string): Date {
  const match = /^\s*(\d+)-(\d+)-(\d+)\s+(\d+):(\d+):(\d+)/.exec(text)
  if (!match) throw new PolicyError(`"${text}" is no time such as 2026-11-28 09:30:00.`)
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number)
  const time = new Date(0)
  time.setUTCFullYear(year!, month! - 1, day!)
  time.setUTCHours(hour!, minute!, second!)
  return time
}
