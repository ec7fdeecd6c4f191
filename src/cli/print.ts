// Prints the outcome of a command in the requested format.
import Table from 'cli-table3'
import { isKindName } from '../kinds/index.ts'
import type { Key } from '../kinds/kind.ts'
import { createPathScope } from '../reconcile/history/object-path.ts'
import { hasGroups } from '../reconcile/report/action-groups.ts'
import { renderMarkdownTable } from '../reconcile/report/markdown-format.ts'
import { renderMarkdownOutcome } from '../reconcile/report/markdown-report.ts'
import type { OutcomeTense, RenderedOutcome } from '../reconcile/report/outcome-text.ts'
import { renderOutcome } from '../reconcile/report/text-report.ts'
import { formatCount } from '../reconcile/report/whole-value.ts'
import { paint } from './paint.ts'

/** An output format: for a terminal, for programs, or for a comment on a pull request. */
export type Format = 'text' | 'json' | 'markdown'

/** Prints a value in the requested format. `markdown`: default: as text. */
export function print(
  format: Format,
  value: unknown,
  { text, markdown = text }: { readonly text: () => string; readonly markdown?: () => string },
): void {
  console.log(format === 'json' ? JSON.stringify(value, null, 2) : format === 'markdown' ? markdown() : text())
}

/** The flags for the extent of a printed outcome. */
export interface OutcomeFlags {
  readonly output: Format
  readonly verbose?: true
  readonly full?: true
  readonly summary?: true
  /** A realm, or a path below one, such as `acme/clients/shop`: only its objects are printed. */
  readonly target?: string
}

/** Prints the outcome of a plan or an apply. With JSON it prints `json` instead, if given. */
export function printOutcome(
  { output, verbose, full, summary, target }: OutcomeFlags,
  outcome: RenderedOutcome,
  { tense, json }: { tense: OutcomeTense; json?: unknown },
): void {
  const selected = target === undefined ? outcome : selectTarget(outcome, target)
  const detail = full ? 'full' : summary ? 'summary' : tense === 'applied' ? 'objects' : 'fields'
  const isGrouped = detail !== 'full' && detail !== 'summary' && selected.realms.some(({ plan }) => hasGroups(plan))
  print(output, json ?? selected, {
    text: () =>
      [
        renderOutcome(selected, tense, { paint, detail, isVerbose: verbose === true }),
        ...(isGrouped ? [paint('dim', 'Many objects are shown as groups. --full shows each.')] : []),
        ...(target === undefined ? [] : [describeSelection(outcome, selected)]),
      ].join('\n'),
    markdown: () => renderMarkdownOutcome(selected, tense),
  })
}

/** Returns the part of an outcome at a path, such as `acme` or `acme/clients/shop`. @throws Error for a realm that it lacks. */
function selectTarget(outcome: RenderedOutcome, target: string): RenderedOutcome {
  const [name = '', ...steps] = target.split('/')
  const realm = outcome.realms.find(({ plan }) => plan.realm === name)
  if (!realm) {
    const realms = outcome.realms.map(({ plan }) => plan.realm)
    throw new Error(
      `--target ${target}: the source declares no realm ${name}. Begin it with one of its realms: ${realms.join(', ')}.`,
    )
  }
  if (!steps.length) return { ...outcome, realms: [realm] }
  const { includes } = createPathScope(name, [steps.join('/')], false)
  const isIncluded = ({ kind, key }: { readonly kind: string; readonly key: Key }) =>
    isKindName(kind) && includes(kind, key)
  return {
    ...outcome,
    realms: [
      {
        ...realm,
        plan: {
          ...realm.plan,
          actions: realm.plan.actions.filter(isIncluded),
          ignoredDrift: realm.plan.ignoredDrift.filter(isIncluded),
        },
        consequences: realm.consequences.filter(isIncluded),
        ...(realm.effects && { effects: realm.effects.filter(isIncluded) }),
        ...(realm.findings && { findings: realm.findings.filter(isIncluded) }),
      },
    ],
  }
}

function describeSelection(outcome: RenderedOutcome, selected: RenderedOutcome): string {
  const count = ({ realms }: RenderedOutcome) => realms.reduce((sum, { plan }) => sum + plan.actions.length, 0)
  return `--target shows ${formatCount(count(selected))} of ${formatCount(count(outcome))} changed objects. An apply changes all of them.`
}

/** Prints a list as a table with an optional line below it, or a sentence if it is empty. `json`: the value that JSON prints. */
export function printTable(
  format: Format,
  json: unknown,
  table: { head: readonly string[]; rows: string[][]; none: string; foot?: string },
): void {
  const { head, rows, none, foot } = table
  print(format, json, {
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
