// A plan or an outcome as markdown, for a comment on a pull request. Pure.
import { formatPosition } from '../../lib/source-position.ts'
import type { Action, Note } from '../model/action.ts'
import { type CommentPiece, fitComment, limitItems, listItems, toCode, toFence, toHtmlCode } from './markdown-format.ts'
import {
  type ActionText,
  type ChangeText,
  OPERATION_SIGNS,
  type OutcomeTense,
  type RenderedOutcome,
  renderSource,
  renderSummary,
  toActionText,
  toRealmText,
} from './outcome-text.ts'
import { isBlock, listValueLines } from './value-text.ts'
import { escapeControls, formatCount, MARKDOWN_LIMITS } from './whole-value.ts'

/** Up to this number of objects, their sections are open. */
const MAX_OPEN_OBJECTS = 10

/** Renders an outcome as a comment: a heading per realm, what follows, then a section per object. `isSummary`: without these sections. */
export function renderMarkdownOutcome(
  outcome: RenderedOutcome,
  tense: OutcomeTense,
  { isSummary = false }: { readonly isSummary?: boolean } = {},
): string {
  return fitComment(listOutcomePieces(outcome, tense, isSummary))
}

/** Renders actions as a comment, such as those between two revisions. */
export function renderMarkdownActions(actions: readonly Action[]): string {
  const isOpen = actions.length <= MAX_OPEN_OBJECTS
  return fitComment(actions.map((action) => renderAction(toActionText(action, MARKDOWN_LIMITS), isOpen)))
}

function* listOutcomePieces(
  outcome: RenderedOutcome,
  tense: OutcomeTense,
  isSummary: boolean,
): Generator<string | CommentPiece> {
  yield `\n\n**${renderSummary(outcome, tense)}**`
  for (const source of outcome.sources ?? []) yield `\n\n${toCode(renderSource(source))}`
  const isOneOfMany = outcome.realms.length > 1
  for (const realm of outcome.realms) yield* listRealmPieces(realm, isOneOfMany ? tense : undefined, isSummary)
  yield* listItems('Notes', outcome.notes.map(renderNote))
}

/** Yields the pieces of a realm. `tense`: of the realm's own summary; absent: none. */
function* listRealmPieces(
  outcome: RenderedOutcome['realms'][number],
  tense: OutcomeTense | undefined,
  isSummary: boolean,
): Generator<string | CommentPiece> {
  const realm = toRealmText(outcome, { limits: MARKDOWN_LIMITS, countsOne: isSummary })
  const heading = `\n\n### Realm ${toCode(realm.name)}${realm.isNew ? ' (new)' : ''}`
  const summary = tense ? `\n\n${renderSummary({ realms: [outcome] }, tense)}` : ''
  yield realm.isUnchanged ? `${heading}: unchanged` : heading + summary
  if (realm.counts.length) yield '\n'
  for (const { operation, text } of realm.counts) yield `\n- **${OPERATION_SIGNS[operation]}** ${text}`
  if (realm.suspended) yield `\n\n**Suspended:** ${toCode(realm.suspended)}`
  yield* listItems('Approval', realm.approval.map(toCode))
  yield* listItems(
    'Effects on users',
    limitItems(realm.userEffects.map(({ name, text }) => `${toCode(name)}: ${text}`)),
  )
  yield* listItems(
    'Consequences',
    realm.consequences.map(({ operation, text }) => `**${OPERATION_SIGNS[operation]}** ${toCode(text)}`),
  )
  yield* listItems(
    'Ignored drift',
    realm.ignoredDrift.map(({ text, lines }) => [text, ...lines].map(toCode).join('<br>')),
  )
  yield* listItems('Notes', realm.notes.map(renderNote))
  yield* listItems('Lint findings', realm.findings.map(renderNote))
  const isOpen = outcome.plan.actions.length <= MAX_OPEN_OBJECTS
  if (!isSummary) for (const action of realm.actions) yield renderAction(action, isOpen)
}

/** Renders an action as a section, whose fields GitHub shows as differences. */
function renderAction(
  { operation, name, position, deletedBy, deletion, changes }: ActionText,
  isOpen: boolean,
): CommentPiece {
  const location = position && formatPosition(position)
  const sign = OPERATION_SIGNS[operation]
  const reason = deletion ?? deletedBy
  const explanation = reason ? `\n\n${toCode(reason)}` : ''
  const title = `\n\n**${sign}** ${toCode(name)}${location ? ` ${toCode(location)}` : ''}${explanation}`
  if (!changes.length) return { text: title }
  const fields = changes.length === 1 ? '1 field' : `${formatCount(changes.length)} fields`
  const summary = [`<b>${sign}</b>`, toHtmlCode(name), location && toHtmlCode(location), fields]
  const head = `<details${isOpen ? ' open' : ''}><summary>${summary.filter(Boolean).join(' ')}</summary>`
  const differences = toFence('diff', changes.flatMap((change) => listDifferences(change, operation)).join('\n'))
  return {
    text: `\n\n${head}${explanation}\n\n${differences}\n\n</details>`,
    short: `${title}\n\n${fields}: not shown here`,
  }
}

/** Returns the lines of a field: removed ones begin with `-`, added ones with `+`, remarks with `#`. */
function listDifferences({ path, value, reason }: ChangeText, operation: Action['operation']): string[] {
  const remarks = reason ? [`# ${escapeControls(reason.text)}`] : []
  switch (value.form) {
    case 'value':
      return [`+ ${path}: ${value.to}`, ...remarks]
    case 'pair':
      return [`- ${path}: ${value.from}`, `+ ${path}: ${value.to}`, ...remarks]
    case 'elements':
      return [
        ...value.removed.map((element) => `- ${path}: ${element}`),
        ...value.added.map((element) => `+ ${path}: ${element}`),
        ...remarks,
      ]
    default: {
      const sign = operation === 'create' ? '+' : ' '
      if (!isBlock(value)) return [`${sign === '+' ? '+' : '!'} ${path}: ${listValueLines(value)[0]}`, ...remarks]
      const lines = listValueLines(value).map((line) => (operation === 'create' ? `+   ${line}` : line))
      return [`${sign} ${path}:`, ...lines, ...remarks]
    }
  }
}

function renderNote({ message, position }: Note): string {
  return position ? `${toCode(message)} ${toCode(formatPosition(position))}` : toCode(message)
}
