// Patterns of LIKE on folded columns.

/** Texts that hold this one, in any case. */
export function containing(text: string): string {
  return `%${literal(text)}%`
}

/** Texts that look like this one, in any case; `*` in it stands for anything. */
export function matching(text: string): string {
  return literal(text).replaceAll('*', '%')
}

/** The text in lower case, nothing in it a wildcard. */
function literal(text: string): string {
  return text.toLowerCase().replace(/[\\%_]/g, '\\$&')
}
