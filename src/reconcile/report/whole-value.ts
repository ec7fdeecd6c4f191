// A value as text, in full or cut with a remark. Pure.
import { hash } from 'node:crypto'
import type { Json } from '../../kinds/json.ts'
import { renderCertificates } from './certificate-text.ts'

/** The limits of a value in a report, in characters and lines. */
export interface ValueLimits {
  /** A value that is shown as a whole. */
  readonly value: number
  /** A line of the differences inside a value. */
  readonly line: number
  /** The lines of the differences inside a value. */
  readonly lines: number
}

/** The limits for a terminal: a value as a whole fits in a line, since the document has it in full. */
export const TEXT_LIMITS: ValueLimits = { value: 160, line: 1_000, lines: 100 }

/** The limits for a comment on a pull request: reviewers approve what they see, so only its length limits a value. */
export const MARKDOWN_LIMITS: ValueLimits = { value: 20_000, line: 20_000, lines: 1_000 }

/** The limits of a report in full. */
export const FULL_LIMITS: ValueLimits = {
  value: Number.POSITIVE_INFINITY,
  line: Number.POSITIVE_INFINITY,
  lines: Number.POSITIVE_INFINITY,
}

/** Characters that a remark takes: fewer are not left out. */
const REMARK = 80

/** Renders a value in one line. A cut value names its length and digest, so that different values never look the same. */
export function renderValue(value: Json, { value: max }: Pick<ValueLimits, 'value'> = TEXT_LIMITS): string {
  const line = renderWholeValue(value)
  return line.length > max ? (renderCertificates(value) ?? cutLine(line, max)) : line
}

/** Renders a value in one line, in full: simple texts as they are, others as JSON. */
export function renderWholeValue(value: Json): string {
  if (value === null) return 'none'
  return typeof value === 'string' && /^[\w./:*@${} -]+$/.test(value) ? value : renderJson(value)
}

/** Renders a value as JSON. */
export function renderJson(value: Json): string {
  return escapeControls(JSON.stringify(value))
}

/** Returns a line of about this length at most, or its start and a remark about the rest. */
export function cutLine(line: string, max: number): string {
  if (line.length <= max + REMARK) return line
  const start = line.slice(0, max).toWellFormed()
  return `${start}… ${describeOmission(`${formatCount(line.length - start.length)} more characters`, line)}`
}

/** Returns the first lines, and a remark about the rest. */
export function cutLines(lines: readonly string[], { line, lines: max }: ValueLimits): string[] {
  const fitting = lines.slice(0, max).map((text) => cutLine(text, line))
  const rest = lines.slice(max)
  return rest.length
    ? [...fitting, `… ${describeOmission(`${formatCount(rest.length)} more lines`, rest.join('\n'))}`]
    : fitting
}

function describeOmission(amount: string, text: string): string {
  return `${amount} (SHA-256 ${hash('sha256', text, 'hex').slice(0, 16)}): --output json shows them`
}

/** Returns a text with control characters and marks of writing direction as escapes. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  )
}

/** Returns a number with separators of thousands: `1,204`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en')
}
