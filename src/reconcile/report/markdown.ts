// Outcomes as markdown, for a comment on a pull request. Pure.
import type { Action, Note } from '../model/action.ts'
import { cell, code, folded, row } from './markdown-code.ts'
import {
  type ActionText,
  actionText,
  type ChangeText,
  type OutcomeTense,
  type RenderedOutcome,
  realmText,
  signs,
  summary,
} from './outcome-text.ts'
import { at, number } from './words.ts'

/** GitHub takes no longer comment. */
const LIMIT = 65_536
/** Kept for what is said of the rest. */
const RESERVE = 300
/** Objects by which people lose something. */
const ITEMS = 50
/** Fields of an object that are shown without unfolding, and at all; lines of a value. */
const [OPEN, FIELDS, LINES] = [6, 60, 20]

/** An outcome as a comment: a heading per realm, what follows, then its objects; long ones are folded. */
export function markdownOutcome(shown: RenderedOutcome, how: OutcomeTense): string {
  return fitted(outcomePieces(shown, how))
}

/** What leads from one revision to another. */
export function markdownActions(actions: readonly Action[]): string {
  return fitted(actions.map((action) => actionPiece(actionText(action))))
}

/** A table with what is to be said below it. Rows that are too many are counted. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[], foot = ''): string {
  return fitted(
    [`\n\n${row(head)}\n${row(head.map(() => '---'))}`, ...rows.map((one) => `\n${row(one.map(lines))}`)],
    foot,
  )
}

function* outcomePieces(shown: RenderedOutcome, how: OutcomeTense): Generator<string> {
  yield `\n\n**${summary(shown, how)}**`
  for (const realm of shown.realms) yield* realmPieces(realm, shown.realms.length > 1 ? how : undefined)
  yield* list('Notes', shown.notes.map(noteItem))
}

/** `how`: with a count of its own. */
function* realmPieces(outcome: RenderedOutcome['realms'][number], how: OutcomeTense | undefined): Generator<string> {
  const realm = realmText(outcome)
  const heading = `\n\n### Realm ${code(realm.name)}${realm.creates ? ' (new)' : ''}`
  const counts = how ? `\n\n${summary({ realms: [outcome] }, how)}` : ''
  yield realm.unchanged ? `${heading}: unchanged` : heading + counts
  if (realm.suspended) yield `\n\n**Suspended:** ${code(realm.suspended)}`
  yield* list('Approval', realm.approval.map(code))
  yield* list('What people lose', some(realm.losses.map(({ name, text }) => `${code(name)}: ${text}`)))
  yield* list(
    'What follows',
    realm.follows.map(({ operation, text }) => `**${signs[operation]}** ${code(text)}`),
  )
  yield* list('Left as it is', realm.ignoredDrift.map(code))
  yield* list('Notes', realm.notes.map(noteItem))
  yield* list('Advised against', realm.findings.map(noteItem))
  for (const action of realm.actions) yield actionPiece(action)
}

function actionPiece({ operation, name, position, deletedBy, changes }: ActionText): string {
  const place = position && at(position)
  const told = deletedBy ? `\n\n${code(deletedBy)}` : ''
  const title = `\n\n**${signs[operation]}** ${code(name)}${place ? ` ${code(place)}` : ''}${told}`
  if (!changes.length) return title
  const table = fieldTable(changes)
  if (changes.length <= OPEN) return `${title}\n\n${table}`
  const summary = [`<b>${signs[operation]}</b>`, folded(name), place && folded(place), `${changes.length} fields`]
  return `\n\n<details><summary>${summary.filter(Boolean).join(' ')}</summary>${told}\n\n${table}\n\n</details>`
}

function fieldTable(changes: readonly ChangeText[]): string {
  const why = changes.some(({ reason }) => reason)
  const head = ['Field', 'Value', ...(why ? ['Why'] : []), 'Stated at']
  const rows = changes.slice(0, FIELDS).map(({ path, value, reason, position }) => {
    const all = typeof value === 'string' ? [value] : value
    const shown = [...all.slice(0, LINES).map(cell), ...(all.length > LINES ? ['…'] : [])].join('<br>')
    return row([cell(path), shown, ...(why ? [cell(reason?.text ?? '')] : []), position ? cell(at(position)) : ''])
  })
  const more =
    changes.length > FIELDS ? [row([`and ${changes.length - FIELDS} more`, ...head.slice(1).map(() => '')])] : []
  return [row(head), row(head.map(() => '---')), ...rows, ...more].join('\n')
}

/** Each line of a cell by itself. */
function lines(value: string): string {
  return value.split('\n').map(cell).join('<br>')
}

function noteItem({ message, position }: Note): string {
  return position ? `${code(message)} ${code(at(position))}` : code(message)
}

/** The first of many, and how many more there are. */
function some(items: readonly string[]): string[] {
  const rest = items.length - ITEMS
  return rest > 0 ? [...items.slice(0, ITEMS), `and ${number(rest)} more`] : [...items]
}

function* list(title: string, items: readonly string[]): Generator<string> {
  if (items.length) yield `\n\n**${title}**\n`
  for (const item of items) yield `\n- ${item}`
}

/** So many pieces as a comment takes, and how many are left out. Each begins with what separates it from the one before. */
function fitted(pieces: Iterable<string>, foot = ''): string {
  const kept: string[] = []
  let length = foot.length
  let left = 0
  for (const piece of pieces) {
    if (left || length + piece.length > LIMIT - RESERVE) left++
    else {
      kept.push(piece)
      length += piece.length
    }
  }
  const rest = left
    ? `**${number(left)} more are left out, since a comment takes no more: the command shows all as text.**`
    : ''
  return [kept.join('').trimStart(), rest, foot].filter(Boolean).join('\n\n')
}
