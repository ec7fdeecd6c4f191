// A plan and its consequences as text for people. Pure; colours are the caller's.
import type { Action, Note } from '../model/action.ts'
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
import { at } from './words.ts'

export { by } from '../model/attribution.ts'
export { at, text } from './words.ts'

/** Puts a colour on a text, or not. */
export type Paint = (style: 'green' | 'yellow' | 'red' | 'dim' | 'bold', text: string) => string

/** No colours. */
export const plainly: Paint = (_style, text) => text

const COLOURS = { create: 'green', update: 'yellow', delete: 'red' } as const

/** The text of an outcome: object by object, field by field, with the place of each stated value. */
export function renderOutcome(shown: RenderedOutcome, how: OutcomeTense, paint: Paint = plainly): string {
  return [...outcomeLines(shown, how, paint)].join('\n')
}

/** The same, each piece made when it is asked for: of many people it is long. */
export function* outcomeLines(shown: RenderedOutcome, how: OutcomeTense, paint: Paint): Generator<string> {
  for (const realm of shown.realms) yield* realmLines(realm, paint)
  for (const note of shown.notes) yield renderNote(note, paint)
  yield summary(shown, how)
}

function* realmLines(outcome: RenderedOutcome['realms'][number], paint: Paint): Generator<string> {
  const realm = realmText(outcome)
  const name = paint('bold', `realm ${realm.name}${realm.creates ? ' (new)' : ''}`)
  yield realm.unchanged ? `${name}: unchanged` : name
  for (const action of realm.actions) yield* actionLines(action, paint)
  for (const { operation, text } of realm.follows) yield paint('dim', `  ${signs[operation]} ${text}`)
  for (const one of realm.ignoredDrift) yield paint('yellow', `  ! ${one}`)
  for (const note of realm.notes) yield renderNote(note, paint)
  for (const finding of realm.findings) yield paint('yellow', noteLine('lint', finding))
  for (const one of realm.approval) yield paint('yellow', `  ! ${one}`)
  if (realm.suspended) yield paint('yellow', `  suspended: ${realm.suspended}`)
}

/** What leads from one revision to another, object by object, as text. */
export function renderActions(actions: readonly Action[], paint: Paint = plainly): string {
  return actions.flatMap((action) => [...actionLines(actionText(action), paint)]).join('\n')
}

function* actionLines(
  { operation, name, position, deletedBy, losses, changes }: ActionText,
  paint: Paint,
): Generator<string> {
  const object = paint(COLOURS[operation], `${signs[operation]} ${name}`)
  yield `  ${object}${placed(position, paint)}${deletedBy ? paint('yellow', `  ${deletedBy}`) : ''}`
  for (const one of losses) yield paint('yellow', `      ! ${one}`)
  for (const change of changes) yield changeLine(change, paint)
}

function changeLine({ path, value, reason, position }: ChangeText, paint: Paint): string {
  const why = reason ? paint(reason.alarming ? 'yellow' : 'dim', `  ${reason.text}`) : ''
  const rest = `${why}${placed(position, paint)}`
  if (typeof value === 'string') return `      ${path}: ${value}${rest}`
  return [`      ${path}:${rest}`, ...value.map((one) => `        ${one}`)].join('\n')
}

/** Something that is no change, as a line. */
export function renderNote(note: Note, paint: Paint = plainly): string {
  return paint('dim', noteLine('note', note))
}

function noteLine(what: string, { message, position }: Note): string {
  return `  ${what}: ${message}${position ? `  ${at(position)}` : ''}`
}

function placed(position: Note['position'], paint: Paint): string {
  return position ? paint('dim', `  ${at(position)}`) : ''
}
