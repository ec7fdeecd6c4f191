// Durations as Keycloak writes them in workflows. Keycloak: DurationConverter.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const SIMPLE = /^([+-]?\d+)(ms|[smhd])?$/i
const ISO_8601 =
  /^([+-]?)P(?=[\dT+-])(?:([+-]?\d+)D)?(?:T(?=[\d+-])(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+(?:\.\d{0,9})?)S)?)?$/i

/**
 * Returns the milliseconds of a duration: a number of seconds, a number with a unit (`ms`, `s`, `m`, `h` or `d`), or an ISO 8601 duration without
 * years, months and weeks. Undefined if it is neither.
 */
export function parseDuration(text: string): number | undefined {
  const simple = SIMPLE.exec(text)
  if (simple) return Number(simple[1]) * UNITS[(simple[2] ?? 's').toLowerCase()]!
  const iso = ISO_8601.exec(text)
  if (!iso) return undefined
  const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0] = iso
  const milliseconds =
    Number(days) * UNITS.d! + Number(hours) * UNITS.h! + Number(minutes) * UNITS.m! + Number(seconds) * UNITS.s!
  return Math.trunc(sign === '-' ? -milliseconds : milliseconds)
}
