// Markdown tables, lists and code. Texts of documents and users are always code, so that they are no markup and mention nobody. Pure.
import { escapeControls, formatCount } from './whole-value.ts'

/** The longest comment that GitHub accepts, in characters. */
const MAX_COMMENT = 65_536
/** Characters that are reserved for the warning about what is left out. */
const RESERVED = 500
/** Items of a list. */
const MAX_ITEMS = 50

/** Returns a text as code in one line. */
export function toCode(value: string): string {
  const line = escapeControls(value)
  // The fence has more backticks than any run of them in the text.
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const space = longest || line.trim() === '' ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

/** Returns lines as a block of code in a language. */
export function toFence(language: string, lines: string): string {
  const longest = Math.max(2, ...(lines.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${lines}\n${fence}`
}

/** Returns a text as code in a cell of a table; an empty text is an empty cell. A bar would end the cell even in code. */
export function toCell(value: string): string {
  if (value === '') return ''
  return value.includes('|') ? `<code>${escapeHtml(escapeControls(value), /[!-/:-@[-`{-~]/g)}</code>` : toCode(value)
}

/** Returns a text as code in the summary of a folded section, where only HTML is read. */
export function toHtmlCode(value: string): string {
  return `<code>${escapeHtml(escapeControls(value), /[&<>]/g)}</code>`
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
  return rest > 0
    ? [...items.slice(0, MAX_ITEMS), `and ${formatCount(rest)} more: --output json shows them`]
    : [...items]
}

/** A part of a comment, which begins with its separator. */
export interface CommentPiece {
  readonly text: string
  /** The text if the whole one is too long: the name of an object without its fields. */
  readonly short?: string
}

/** Joins pieces up to the length of a comment. A warning at the top says how much is left out, since it is approved too. */
export function fitComment(pieces: Iterable<string | CommentPiece>, foot = ''): string {
  const fitting: string[] = []
  let length = foot.length
  let [shortened, omitted] = [0, 0]
  for (const piece of pieces) {
    const { text, short = undefined } = typeof piece === 'string' ? { text: piece } : piece
    const fits = (candidate: string) => length + candidate.length <= MAX_COMMENT - RESERVED
    const fitted = fits(text) ? text : short !== undefined && fits(short) ? short : undefined
    if (fitted === undefined) omitted++
    else {
      if (fitted !== text) shortened++
      fitting.push(fitted)
      length += fitted.length
    }
  }
  const missing = [
    ...(shortened ? [`the fields of ${formatCount(shortened)} objects`] : []),
    ...(omitted ? [`${formatCount(omitted)} more entries`] : []),
  ]
  const warning = missing.length
    ? `**This comment is incomplete: ${missing.join(' and ')} are left out, since a comment is limited in length. Run the command with \`--output json\` to see all.**`
    : ''
  return [warning, fitting.join('').trimStart(), foot].filter(Boolean).join('\n\n')
}

function escapeHtml(value: string, characters: RegExp): string {
  return value.replace(characters, (character) => `&#${character.codePointAt(0)};`)
}
