// Quotes texts for a shell, such as in commands that messages propose.

/** Returns a text as one word of a shell command: quoted, unless it consists of harmless characters. */
export function quoteWord(text: string): string {
  return /^[\w./:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
