// Prints the outcome of a command in the requested format.
import Table from 'cli-table3'
import { renderMarkdownTable } from '../reconcile/report/markdown-format.ts'
import { renderMarkdownOutcome } from '../reconcile/report/markdown-report.ts'
import type { OutcomeTense, RenderedOutcome } from '../reconcile/report/outcome-text.ts'
import { renderOutcome } from '../reconcile/report/text-report.ts'
import { paint } from './paint.ts'

/** An output format: for a terminal, for programs, or for a comment on a pull request. */
export type Format = 'text' | 'json' | 'markdown'

/** Prints a value in the requested format. */
export function print(format: Format, value: unknown, renderers: { text: () => string; markdown: () => string }): void {
  console.log(format === 'json' ? JSON.stringify(value, null, 2) : renderers[format]())
}

/** Prints the outcome of a plan or an apply. With JSON it prints `json` instead, if given. */
export function printOutcome(
  format: Format,
  outcome: RenderedOutcome,
  { tense, json = outcome }: { tense: OutcomeTense; json?: unknown },
): void {
  print(format, json, {
    text: () => renderOutcome(outcome, tense, paint),
    markdown: () => renderMarkdownOutcome(outcome, tense),
  })
}

/** Prints a list as a table with an optional line below it, or a sentence if it is empty. */
export function printTable(
  format: Format,
  items: readonly unknown[],
  table: { head: readonly string[]; rows: string[][]; none: string; foot?: string },
): void {
  const { head, rows, none, foot } = table
  print(format, items, {
    text: () => (rows.length ? [textTable(head, rows), ...(foot ? [foot] : [])].join('\n') : none),
    markdown: () => (rows.length ? renderMarkdownTable(head, rows, foot) : none),
  })
}

/** Renders a table. If the terminal is too narrow, each row becomes a paragraph. */
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
