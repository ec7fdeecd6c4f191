// Prints the outcome of a command in the requested format.
import { stripVTControlCharacters } from 'node:util'
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
import { printHint } from './terminal/hint.ts'

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
        ...(target === undefined ? [] : [describeSelection(outcome, selected)]),
      ].join('\n'),
    markdown: () => renderMarkdownOutcome(selected, tense, { isSummary: summary === true }),
  })
  if (output === 'text' && isGrouped) printHint('Many objects are shown as groups. --full shows each.')
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

/** Prints a list as a table, or a sentence if it is empty. `json`: the value that JSON prints. `foot`: a hint about the table. */
export function printTable(
  format: Format,
  json: unknown,
  table: { head: readonly string[]; rows: string[][]; none: string; foot?: string },
): void {
  const { head, rows, none, foot } = table
  print(format, json, {
    text: () => (rows.length ? textTable(head, rows) : none),
    markdown: () => (rows.length ? renderMarkdownTable(head, rows, foot) : none),
  })
  if (format === 'text' && rows.length && foot) printHint(foot)
}

/** Characters between columns. Two, so that columns can be separated although values contain spaces. */
const GAP = '  '
/** Borders of a table without lines. */
const BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat('left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid')
    .map((part) => [part, '']),
)

/**
 * Renders rows as columns below their heads. A row is a line, so that other programs can read it; on a terminal, a cell may have several.
 * If the terminal is too narrow, each row becomes a paragraph.
 */
function textTable(head: readonly string[], rows: string[][]): string {
  const { isTTY, columns } = process.stdout
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 }
  const table = new Table({ chars: { ...BORDERS, middle: GAP }, style })
  const cells = isTTY ? rows : rows.map((row) => row.map((cell) => cell.replaceAll('\n', '; ')))
  table.push(
    head.map((name) => name.toUpperCase()),
    ...cells,
  )
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
  const width = Math.max(...lines.map((line) => stripVTControlCharacters(line).length))
  if (isTTY && width > columns) return rows.map((row) => `${paragraph(head, row)}\n`).join('\n')
  return [paint('bold', lines[0]!), ...lines.slice(1)].join('\n')
}

function paragraph(head: readonly string[], row: readonly string[]): string {
  const margin = Math.max(...head.map(({ length }) => length)) + 2
  return row
    .flatMap((cell, at) => (cell ? [head[at]!.padEnd(margin) + cell.replaceAll('\n', `\n${' '.repeat(margin)}`)] : []))
    .join('\n')
}
