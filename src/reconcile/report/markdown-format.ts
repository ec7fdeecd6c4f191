// Markdown tables, lists and code. Texts of documents and users are always code, so that they are no markup and mention nobody. Pure.
import { formatCount } from './value-text.ts'

/** The longest comment that GitHub accepts, in characters. */
const MAX_COMMENT = 65_536
/** Characters that are reserved for the number of omitted items. */
const RESERVED = 300
/** The longest text, in characters: documents have it in full. */
const MAX_TEXT = 200
/** Items of a list. */
const MAX_ITEMS = 50

/** Returns a text as code in one line. */
export function toCode(value: string): string {
  const line = shorten(value)
  // The fence has more backticks than any run of them in the text.
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const space = longest || line.trim() === '' ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** Returns a text as code in a cell of a table; an empty text is an empty cell. A bar would end the cell even in code. */
export function toCell(value: string): string {
  if (value === '') return ''
  return value.includes('|') ? `<code>${escapeHtml(shorten(value), /[!-/:-@[-`{-~]/g)}</code>` : toCode(value)
}

/** Returns a text as code in the summary of a folded section, where only HTML is read. */
export function toHtmlCode(value: string): string {
  return `<code>${escapeHtml(shorten(value), /[&<>]/g)}</code>`
}

/** Returns a row of a Markdown table. */
export function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** Returns the head of a Markdown table, with the line below it. */
export function toHead(cells: readonly string[]): string {
  return `${toRow(cells)}\n${toRow(cells.map(() => '---'))}`
}

/** Renders a table with a text below it. Rows beyond the length of a comment are counted. */
export function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[], foot = ''): string {
  const toLines = (value: string) => value.split('\n').map(toCell).join('<br>')
  return fitComment([`\n\n${toHead(head)}`, ...rows.map((cells) => `\n${toRow(cells.map(toLines))}`)], foot)
}

/** Yields a list with a title; nothing if there are no items. */
export function* listItems(title: string, items: readonly string[]): Generator<string> {
  if (items.length) yield `\n\n**${title}**\n`
  for (const item of items) yield `\n- ${item}`
}

/** Returns the first items, and the number of further ones. */
export function limitItems(items: readonly string[]): string[] {
  const rest = items.length - MAX_ITEMS
  return rest > 0 ? [...items.slice(0, MAX_ITEMS), `and ${formatCount(rest)} more`] : [...items]
}

/** Joins pieces up to the length of a comment, and counts the rest. Each piece begins with its separator. */
export function fitComment(pieces: Iterable<string>, foot = ''): string {
  const fitting: string[] = []
  let length = foot.length
  let omitted = 0
  for (const piece of pieces) {
    if (omitted || length + piece.length > MAX_COMMENT - RESERVED) omitted++
    else {
      fitting.push(piece)
      length += piece.length
    }
  }
  const rest = omitted
    ? `**${formatCount(omitted)} more are omitted, since a comment is limited in length. Run the command to see all as text.**`
    : ''
  return [fitting.join('').trimStart(), rest, foot].filter(Boolean).join('\n\n')
}

function escapeHtml(value: string, characters: RegExp): string {
  return value.replace(characters, (character) => `&#${character.codePointAt(0)};`)
}

/** Returns a text in one line of limited length. Control characters and marks of writing direction are shown as escapes. */
function shorten(value: string): string {
  const line = value.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  )
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1).toWellFormed()}…` : line
}
