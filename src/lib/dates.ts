// Calendar days in texts: ISO 8601, and the short formats of languages.

/** Whether the text is a date of ISO 8601, such as 2026-02-28. Keycloak: years before 0, or of more than four digits, have a sign. */
export function isIsoDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4}|-\d{4,9}|\+\d{5,9})-(\d{2})-(\d{2})$/.exec(text) ?? []
  return year !== undefined && isCalendarDay(Number(year), Number(month), Number(day))
}

/**
 * Whether the text begins with a date in the short format of the language: 2/28/26 in English, 28.02.26 in German.
 * Keycloak: the rest of the text is ignored.
 */
export function isShortDate(text: string, language: string): boolean {
  const parts = createShortFormat(language).formatToParts(0)
  const pattern = parts.map(({ type, value }) =>
    type === 'literal' ? value.trim().replace(/\W/g, '\\$&') : `(?<${type}>\\d+)`,
  )
  const { year, month, day } = new RegExp(`^\\s*${pattern.join('')}`).exec(text)?.groups ?? {}
  return year !== undefined && isCalendarDay(Number(year), Number(month), Number(day))
}

/** Returns the short date format of a language, or that of English if the language is unknown. */
function createShortFormat(language: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(language, { dateStyle: 'short' })
  } catch {
    return createShortFormat('en')
  }
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  // The calendar repeats every 400 years, and JavaScript's dates cover fewer years than the text may name.
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
