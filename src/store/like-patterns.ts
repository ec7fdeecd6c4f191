// Patterns of LIKE for columns in lower case. Each ignores the case of the text.

/** Returns the pattern of values that contain the text. */
export function toContainsPattern(text: string): string {
  return `%${escapeLike(text)}%`
}

/** Returns the pattern of values that contain the text, in which `*` matches any text. */
export function toContainsWildcardPattern(text: string): string {
  return `%${toWildcardPattern(text)}%`
}

/** Returns the pattern of values that equal the text, in which `*` matches any text. */
export function toWildcardPattern(text: string): string {
  return escapeLike(text).replaceAll('*', '%')
}

/** Returns the pattern of values that begin with the text, in which `*` matches any text. */
export function toPrefixPattern(text: string): string {
  return `${toWildcardPattern(text)}%`
}

/** Returns the pattern of values that equal the text. */
export function toExactPattern(text: string): string {
  return escapeLike(text)
}

/** Returns the text in lower case with its wildcards escaped. */
function escapeLike(text: string): string {
  return text.toLowerCase().replace(/[\\%_]/g, '\\$&')
}
