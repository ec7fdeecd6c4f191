// Texts of documents and people in markdown: always code, where nothing is markup, and `@somebody` calls nobody. Pure.

/** Characters of one text: the documents have it in full. */
const LONGEST = 200

/** A text as code in one line. */
export function code(value: string): string {
  const line = short(value)
  // Fenced by more backticks than the text has in a row.
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const space = longest || line.trim() === '' ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** Code in a cell of a table; an empty text is an empty cell. A bar would end the cell even within code. */
export function cell(value: string): string {
  if (value === '') return ''
  return value.includes('|') ? `<code>${entities(short(value), /[!-/:-@[-`{-~]/g)}</code>` : code(value)
}

/** Code in the summary of what is folded, where markdown counts for nothing. */
export function folded(value: string): string {
  return `<code>${entities(short(value), /[&<>]/g)}</code>`
}

/** A row of a table. */
export function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function entities(value: string, characters: RegExp): string {
  return value.replace(characters, (one) => `&#${one.codePointAt(0)};`)
}

/** In one line, and not too long. Controls, and marks that turn the direction of writing, are shown as what they are. */
function short(value: string): string {
  const line = value.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (one) => `\\u${one.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  )
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).toWellFormed()}…` : line
}
