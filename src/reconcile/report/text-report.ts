// A plan or an outcome as text for a terminal. Pure; colours are the caller's.
import { formatPosition } from '../../lib/source-position.ts'
import type { Action, Note } from '../model/action.ts'
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
import { TEXT_LIMITS } from './whole-value.ts'

/** Styles a text, or returns it as it is. */
export type Paint = (style: 'green' | 'yellow' | 'red' | 'dim' | 'bold', text: string) => string

/** Returns the text without colours. */
export const withoutColors: Paint = (_style, text) => text

const COLORS = { create: 'green', update: 'yellow', delete: 'red' } as const

/** Renders an outcome: object by object, field by field, with the position of each declared value. */
export function renderOutcome(outcome: RenderedOutcome, tense: OutcomeTense, paint: Paint = withoutColors): string {
  const sources = (outcome.sources ?? []).map((source) => paint('dim', renderSource(source)))
  return [...sources, ...listOutcomeLines(outcome, tense, paint)].join('\n')
}

/** Yields the lines of an outcome, each created on demand, since they may be many. */
export function* listOutcomeLines(outcome: RenderedOutcome, tense: OutcomeTense, paint: Paint): Generator<string> {
  for (const realm of outcome.realms) yield* listRealmLines(realm, paint)
  for (const note of outcome.notes) yield renderNote(note, paint)
  yield renderSummary(outcome, tense)
}

function* listRealmLines(outcome: RenderedOutcome['realms'][number], paint: Paint): Generator<string> {
  const realm = toRealmText(outcome)
  const name = paint('bold', `realm ${realm.name}${realm.isNew ? ' (new)' : ''}`)
  yield realm.isUnchanged ? `${name}: unchanged` : name
  for (const action of realm.actions) yield* listActionLines(action, paint)
  for (const { operation, text } of realm.consequences)
    yield paint('dim', `  ${OPERATION_SIGNS[operation]} ${text} (consequence)`)
  for (const { text, lines } of realm.ignoredDrift) {
    yield paint('yellow', `  ! ${text}`)
    for (const line of lines) yield `        ${line}`
  }
  for (const note of realm.notes) yield renderNote(note, paint)
  for (const finding of realm.findings) yield paint('yellow', renderLabelled('lint', finding))
  for (const text of realm.approval) yield paint('yellow', `  ! ${text}`)
  if (realm.suspended) yield paint('yellow', `  suspended: ${realm.suspended}`)
}

/** Renders actions, such as those between two revisions: object by object, field by field. */
export function renderActions(actions: readonly Action[], paint: Paint = withoutColors): string {
  return actions.flatMap((action) => [...listActionLines(toActionText(action, TEXT_LIMITS), paint)]).join('\n')
}

function* listActionLines(
  { operation, name, position, deletedBy, deletion, userEffects, changes }: ActionText,
  paint: Paint,
): Generator<string> {
  const object = paint(COLORS[operation], `${OPERATION_SIGNS[operation]} ${name}`)
  const reason = deletion ? paint('dim', `  ${deletion}`) : deletedBy ? paint('yellow', `  ${deletedBy}`) : ''
  yield `  ${object}${renderSuffix(position, paint)}${reason}`
  for (const effect of userEffects) yield paint('yellow', `      ! ${effect}`)
  for (const change of changes) yield renderChangeLine(change, paint)
}

function renderChangeLine({ path, value, reason, position }: ChangeText, paint: Paint): string {
  const reasonText = reason ? paint(reason.isWarning ? 'yellow' : 'dim', `  ${reason.text}`) : ''
  const suffix = `${reasonText}${renderSuffix(position, paint)}`
  if (typeof value === 'string') return `      ${path}: ${value}${suffix}`
  return [`      ${path}:${suffix}`, ...value.map((line) => `        ${line}`)].join('\n')
}

/** Renders a note as a line. */
export function renderNote(note: Note, paint: Paint = withoutColors): string {
  return paint('dim', renderLabelled('note', note))
}

function renderLabelled(label: string, { message, position }: Note): string {
  return `  ${label}: ${message}${position ? `  ${formatPosition(position)}` : ''}`
}

function renderSuffix(position: Note['position'], paint: Paint): string {
  return position ? paint('dim', `  ${formatPosition(position)}`) : ''
}
