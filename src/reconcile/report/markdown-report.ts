// A plan or an outcome as markdown, for a comment on a pull request. Pure.
import { formatPosition } from '../../lib/source-position.ts'
import type { Action, Note } from '../model/action.ts'
import {
  type CommentPiece,
  fitComment,
  limitItems,
  listItems,
  toCell,
  toCode,
  toHead,
  toHtmlCode,
  toRow,
} from './markdown-format.ts'
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
import { formatCount, MARKDOWN_LIMITS } from './whole-value.ts'

/** Up to this number of fields, an action is not folded. */
const MAX_UNFOLDED_FIELDS = 6

/** Renders an outcome as a comment: a heading per realm, what follows, then its objects; long ones are folded. */
export function renderMarkdownOutcome(outcome: RenderedOutcome, tense: OutcomeTense): string {
  return fitComment(listOutcomePieces(outcome, tense))
}

/** Renders actions as a comment, such as those between two revisions. */
export function renderMarkdownActions(actions: readonly Action[]): string {
  return fitComment(actions.map((action) => renderAction(toActionText(action, MARKDOWN_LIMITS))))
}

function* listOutcomePieces(outcome: RenderedOutcome, tense: OutcomeTense): Generator<string | CommentPiece> {
  yield `\n\n**${renderSummary(outcome, tense)}**`
  for (const source of outcome.sources ?? []) yield `\n\n${toCode(renderSource(source))}`
  const isOneOfMany = outcome.realms.length > 1
  for (const realm of outcome.realms) yield* listRealmPieces(realm, isOneOfMany ? tense : undefined)
  yield* listItems('Notes', outcome.notes.map(renderNote))
}

/** Yields the pieces of a realm. `tense`: of the realm's own summary; absent: none. */
function* listRealmPieces(
  outcome: RenderedOutcome['realms'][number],
  tense: OutcomeTense | undefined,
): Generator<string | CommentPiece> {
  const realm = toRealmText(outcome, MARKDOWN_LIMITS)
  const heading = `\n\n### Realm ${toCode(realm.name)}${realm.isNew ? ' (new)' : ''}`
  const summary = tense ? `\n\n${renderSummary({ realms: [outcome] }, tense)}` : ''
  yield realm.isUnchanged ? `${heading}: unchanged` : heading + summary
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
  for (const action of realm.actions) yield renderAction(action)
}

function renderAction({ operation, name, position, deletedBy, deletion, changes }: ActionText): CommentPiece {
  const location = position && formatPosition(position)
  const sign = OPERATION_SIGNS[operation]
  const reason = deletion ?? deletedBy
  const explanation = reason ? `\n\n${toCode(reason)}` : ''
  const title = `\n\n**${sign}** ${toCode(name)}${location ? ` ${toCode(location)}` : ''}${explanation}`
  if (!changes.length) return { text: title }
  const table = renderFields(changes)
  const fields = changes.length === 1 ? '1 field' : `${formatCount(changes.length)} fields`
  const short = `${title}\n\n${fields}: not shown here`
  if (changes.length <= MAX_UNFOLDED_FIELDS) return { text: `${title}\n\n${table}`, short }
  const summary = [`<b>${sign}</b>`, toHtmlCode(name), location && toHtmlCode(location), fields]
  const head = `<details><summary>${summary.filter(Boolean).join(' ')}</summary>`
  return { text: `\n\n${head}${explanation}\n\n${table}\n\n</details>`, short }
}

function renderFields(changes: readonly ChangeText[]): string {
  const hasReasons = changes.some(({ reason }) => reason)
  const head = ['Field', 'Value', ...(hasReasons ? ['Reason'] : []), 'Declared at']
  const rows = changes.map(({ path, value, reason, position }) => {
    const reasons = hasReasons ? [toCell(reason?.text ?? '')] : []
    const values = [value].flat().map(toCell).join('<br>')
    return toRow([toCell(path), values, ...reasons, position ? toCell(formatPosition(position)) : ''])
  })
  return [toHead(head), ...rows].join('\n')
}

function renderNote({ message, position }: Note): string {
  return position ? `${toCode(message)} ${toCode(formatPosition(position))}` : toCode(message)
}
