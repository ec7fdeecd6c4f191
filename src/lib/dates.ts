// Days as people and machines write them.

/** Whether the text is a day of ISO 8601: 2026-02-28. Keycloak: years before 0 and of more digits have a sign. */
export function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4}|-\d{4,9}|\+\d{5,9})-(\d{2})-(\d{2})$/.exec(text) ?? []
  return year !== undefined && exists(Number(year), Number(month), Number(day))
}

/**
 * Whether the text begins with a day as it is written in short in that language: 2/28/26 in English, 28.02.26 in German.
 * Keycloak: what follows is not looked at.
 */
export function isShortDate(text: string, language: string): boolean {
  const parts = shortFormat(language).formatToParts(0)
  const pattern = parts.map(({ type, value }) =>
    type === 'literal' ? value.trim().replace(/\W/g, '\\$&') : `(?<${type}>\\d+)`,
  )
  const { year, month, day } = new RegExp(`^\\s*${pattern.join('')}`).exec(text)?.groups ?? {}
  return year !== undefined && exists(Number(year), Number(month), Number(day))
}

/** Of what is no language, English. */
function shortFormat(language: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(language, { dateStyle: 'short' })
  } catch {
    return shortFormat('en')
  }
}

function exists(year: number, month: number, day: number): boolean {
  // The calendar is the same every 400 years, and JavaScript's does not go as far as texts do.
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
