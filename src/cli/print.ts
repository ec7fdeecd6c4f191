// The outcome of a command, in the form that was asked for.
import Table from 'cli-table3'
import { markdownOutcome, markdownTable } from '../reconcile/report/markdown.ts'
import type { OutcomeTense, RenderedOutcome } from '../reconcile/report/outcome-text.ts'
import { renderOutcome } from '../reconcile/report/render.ts'
import { paint } from './paint.ts'

/** What commands can print: for people, for programs, for a comment on a pull request. */
export type Format = 'text' | 'json' | 'markdown'

/** Prints a value in the form that was asked for: each maker makes one. */
export function print(format: Format, value: unknown, make: { text: () => string; markdown: () => string }): void {
  console.log(format === 'json' ? JSON.stringify(value, null, 2) : make[format]())
}

/** Prints the outcome of a plan or an apply. `whole`: printed as JSON instead of the outcome. */
export function printOutcome(
  format: Format,
  outcome: RenderedOutcome,
  { tense, whole = outcome }: { tense: OutcomeTense; whole?: unknown },
): void {
  print(format, whole, {
    text: () => renderOutcome(outcome, tense, paint),
    markdown: () => markdownOutcome(outcome, tense),
  })
}

/** Prints a list as a table, with what is to be said below it, or what is said where it is empty. */
export function printTable(
  format: Format,
  found: readonly unknown[],
  table: { head: readonly string[]; rows: string[][]; none: string; foot?: string },
): void {
  const { head, rows, none, foot } = table
  print(format, found, {
    text: () => (rows.length ? [textTable(head, rows), ...(foot ? [foot] : [])].join('\n') : none),
    markdown: () => (rows.length ? markdownTable(head, rows, foot) : none),
  })
}

/** A table; where the terminal is too narrow for it, a paragraph for each row. In a pipe a row stays a row. */
function textTable(head: readonly string[], rows: string[][]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } })
  table.push(...rows)
  const text = table.toString()
  const width = process.stdout.columns || Number.POSITIVE_INFINITY
  return text.indexOf('\n') <= width ? text : rows.map((row) => `${paragraph(head, row)}\n`).join('\n')
}

function paragraph(head: readonly string[], row: readonly string[]): string {
  const margin = Math.max(...head.map(({ length }) => length)) + 2
  return row
    .flatMap((cell, at) => (cell ? [head[at]!.padEnd(margin) + cell.replaceAll('\n', `\n${' '.repeat(margin)}`)] : []))
    .join('\n')
}
