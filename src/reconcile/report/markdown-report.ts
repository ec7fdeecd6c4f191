// A plan or an outcome as markdown, for a comment on a pull request. Pure.
import { formatPosition } from '../../lib/source-position.ts'
import type { Action, Note } from '../model/action.ts'
import { fitComment, limitItems, listItems, toCell, toCode, toHead, toHtmlCode, toRow } from './markdown-format.ts'
import {
  type ActionText,
  type ChangeText,
  OPERATION_SIGNS,
  type OutcomeTense,
  type RenderedOutcome,
  renderSummary,
  toActionText,
  toRealmText,
} from './outcome-text.ts'

/** Up to this number of fields, an action is not folded. */
const MAX_UNFOLDED_FIELDS = 6
/** The fields of an action, and the lines of a value. */
const MAX_FIELDS = 60
const MAX_LINES = 20

/** Renders an outcome as a comment: a heading per realm, what follows, then its objects; long ones are folded. */
export function renderMarkdownOutcome(outcome: RenderedOutcome, tense: OutcomeTense): string {
  return fitComment(listOutcomePieces(outcome, tense))
}

/** Renders actions as a comment, such as those between two revisions. */
export function renderMarkdownActions(actions: readonly Action[]): string {
  return fitComment(actions.map((action) => renderAction(toActionText(action))))
}

function* listOutcomePieces(outcome: RenderedOutcome, tense: OutcomeTense): Generator<string> {
  yield `\n\n**${renderSummary(outcome, tense)}**`
  const isOneOfMany = outcome.realms.length > 1
  for (const realm of outcome.realms) yield* listRealmPieces(realm, isOneOfMany ? tense : undefined)
  yield* listItems('Notes', outcome.notes.map(renderNote))
}

/** Yields the pieces of a realm. `tense`: of the realm's own summary; absent: none. */
function* listRealmPieces(
  outcome: RenderedOutcome['realms'][number],
  tense: OutcomeTense | undefined,
): Generator<string> {
  const realm = toRealmText(outcome)
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
  yield* listItems('Ignored drift', realm.ignoredDrift.map(toCode))
  yield* listItems('Notes', realm.notes.map(renderNote))
  yield* listItems('Lint findings', realm.findings.map(renderNote))
  for (const action of realm.actions) yield renderAction(action)
}

function renderAction({ operation, name, position, deletedBy, changes }: ActionText): string {
  const location = position && formatPosition(position)
  const sign = OPERATION_SIGNS[operation]
  const deletion = deletedBy ? `\n\n${toCode(deletedBy)}` : ''
  const title = `\n\n**${sign}** ${toCode(name)}${location ? ` ${toCode(location)}` : ''}${deletion}`
  if (!changes.length) return title
  const table = renderFields(changes)
  if (changes.length <= MAX_UNFOLDED_FIELDS) return `${title}\n\n${table}`
  const summary = [`<b>${sign}</b>`, toHtmlCode(name), location && toHtmlCode(location), `${changes.length} fields`]
  return `\n\n<details><summary>${summary.filter(Boolean).join(' ')}</summary>${deletion}\n\n${table}\n\n</details>`
}

function renderFields(changes: readonly ChangeText[]): string {
  const hasReasons = changes.some(({ reason }) => reason)
  const head = ['Field', 'Value', ...(hasReasons ? ['Reason'] : []), 'Declared at']
  const rows = changes.slice(0, MAX_FIELDS).map(({ path, value, reason, position }) => {
    const lines = typeof value === 'string' ? [value] : value
    const values = [...lines.slice(0, MAX_LINES).map(toCell), ...(lines.length > MAX_LINES ? ['…'] : [])].join('<br>')
    const reasons = hasReasons ? [toCell(reason?.text ?? '')] : []
    return toRow([toCell(path), values, ...reasons, position ? toCell(formatPosition(position)) : ''])
  })
  const rest = changes.length - MAX_FIELDS
  const restRow = rest > 0 ? [toRow([`and ${rest} more`, ...head.slice(1).map(() => '')])] : []
  return [toHead(head), ...rows, ...restRow].join('\n')
}

function renderNote({ message, position }: Note): string {
  return position ? `${toCode(message)} ${toCode(formatPosition(position))}` : toCode(message)
}
