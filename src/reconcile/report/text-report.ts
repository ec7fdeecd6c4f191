// A plan or an outcome as text for a terminal. Pure; colours are the caller's.
import { formatPosition } from '../../lib/source-position.ts'
import type { Action, Note } from '../model/action.ts'
import { groupActions } from './action-groups.ts'
import {
  type ActionText,
  type ChangeText,
  type GroupText,
  OPERATION_SIGNS,
  type OutcomeTense,
  type RealmText,
  type RenderedOutcome,
  renderSource,
  renderSummary,
  toActionText,
  toGroupText,
  toRealmText,
} from './outcome-text.ts'
import { type Paint, withoutColors } from './paint.ts'
import { isBlock, listValueLines } from './value-text.ts'
import { FULL_LIMITS, formatCount, TEXT_LIMITS } from './whole-value.ts'

/** The extent and the colours of a report. */
export interface TextReportOptions {
  readonly paint?: Paint
  /**
   * `summary`: numbers by kind; `objects`: also the objects; `fields`: also their fields, with the objects of large plans in groups;
   * `full`: all objects and whole values. Default: fields.
   */
  readonly detail?: 'summary' | 'objects' | 'fields' | 'full'
  /** Whether fields have their positions, and lint findings are listed instead of counted. Default: false. */
  readonly isVerbose?: boolean
}

const COLORS = { create: 'green', update: 'yellow', delete: 'red' } as const
/** The longest field name to which the values of an object are aligned. */
const MAX_ALIGNED = 48

/** Renders an outcome: numbers by kind, then object by object and field by field, with the position of each object. */
export function renderOutcome(outcome: RenderedOutcome, tense: OutcomeTense, options: TextReportOptions = {}): string {
  const { paint = withoutColors } = options
  const sources = (outcome.sources ?? []).map((source) => paint('dim', renderSource(source)))
  return [...sources, ...listOutcomeLines(outcome, tense, options)].join('\n')
}

/** Yields the lines of an outcome, each created on demand, since they may be many. */
export function* listOutcomeLines(
  outcome: RenderedOutcome,
  tense: OutcomeTense,
  { paint = withoutColors, detail = 'fields', isVerbose = false }: TextReportOptions = {},
): Generator<string> {
  const options = { paint, detail, isVerbose }
  for (const realm of outcome.realms) yield* listRealmLines(realm, options)
  for (const note of outcome.notes) yield renderNote(note, paint)
  yield paint('bold', renderSummary(outcome, tense))
}

function* listRealmLines(
  outcome: RenderedOutcome['realms'][number],
  options: Required<TextReportOptions>,
): Generator<string> {
  const { paint, detail, isVerbose } = options
  const realm = toRealmText(outcome, {
    limits: detail === 'full' ? FULL_LIMITS : TEXT_LIMITS,
    countsOne: detail === 'summary',
  })
  const name = paint('bold', `realm ${realm.name}${realm.isNew ? ' (new)' : ''}`)
  yield realm.isUnchanged ? `${name}: unchanged` : name
  for (const { operation, text } of realm.counts)
    yield `  ${paint(COLORS[operation], `${OPERATION_SIGNS[operation]} ${text}`)}`
  if (detail === 'summary') yield* realm.userEffects.map(({ name, text }) => paint('yellow', `  ! ${name}: ${text}`))
  else yield* listEntryLines(realm, options)
  for (const { text, lines } of realm.ignoredDrift) {
    yield paint('yellow', `  ! ${text}`)
    for (const line of lines) yield `        ${line}`
  }
  for (const note of realm.notes) yield renderNote(note, paint)
  yield* listFindingLines(realm, { paint, isVerbose })
  for (const text of realm.approval) yield paint('yellow', `  ! ${text}`)
  if (realm.suspended) yield paint('yellow', `  suspended: ${realm.suspended}`)
}

function* listEntryLines(realm: RealmText, options: Required<TextReportOptions>): Generator<string> {
  const { paint, detail } = options
  if (realm.counts.length && !realm.isUnchanged) yield ''
  for (const entry of detail === 'full' ? realm.actions : realm.groups)
    yield* 'objects' in entry ? listGroupLines(entry, options) : listActionLines(entry, options)
  for (const { operation, text } of realm.consequences)
    yield paint('dim', `  ${OPERATION_SIGNS[operation]} ${text} (consequence)`)
  if (realm.counts.length && detail !== 'objects') yield ''
}

function* listFindingLines(
  { findings, findingCount }: RealmText,
  { paint, isVerbose }: Pick<Required<TextReportOptions>, 'paint' | 'isVerbose'>,
): Generator<string> {
  if (isVerbose) yield* findings.map((finding) => paint('yellow', renderLabelled('lint', finding)))
  else if (findingCount) {
    const count = findingCount === 1 ? '1 finding' : `${formatCount(findingCount)} findings`
    yield paint('yellow', `  lint: ${count}; "regent lint" lists them`)
  }
}

/** Renders actions, such as those between two revisions: object by object, field by field. */
export function renderActions(
  actions: readonly Action[],
  { paint = withoutColors, detail = 'fields', isVerbose = false }: TextReportOptions = {},
): string {
  const options = { paint, detail, isVerbose }
  const limits = detail === 'full' ? FULL_LIMITS : TEXT_LIMITS
  const entries = detail === 'full' ? actions : groupActions({ actions })
  return entries
    .flatMap((entry) => [
      ...('actions' in entry
        ? listGroupLines(toGroupText(entry, [], limits), options)
        : listActionLines(toActionText(entry, limits), options)),
    ])
    .join('\n')
}

function* listGroupLines(
  { operation, objects, fields, warnings, changes, names }: GroupText,
  { paint, detail }: Required<TextReportOptions>,
): Generator<string> {
  yield `  ${paint(COLORS[operation], `${OPERATION_SIGNS[operation]} ${objects}`)}${fields && `: ${fields}`}`
  for (const warning of warnings) yield paint('yellow', `      ! ${warning}`)
  if (detail !== 'objects')
    for (const change of changes) {
      const lines = listValueLines(change.value, paint)
      const place = change.names.length ? `  (${change.names.join(', ')})` : ''
      yield isBlock(change.value)
        ? [`      ${change.path}:${place}`, ...lines.map((line) => `        ${line}`)].join('\n')
        : `      ${change.path}: ${lines[0]}${place}`
    }
  yield paint('dim', `      ${names}`)
}

function* listActionLines(
  { operation, name, position, deletedBy, deletion, userEffects, changes }: ActionText,
  { paint, detail, isVerbose }: Required<TextReportOptions>,
): Generator<string> {
  const object = paint(COLORS[operation], `${OPERATION_SIGNS[operation]} ${name}`)
  const reason = deletion ? paint('dim', `  ${deletion}`) : deletedBy ? paint('yellow', `  ${deletedBy}`) : ''
  yield `  ${object}${renderSuffix(position, paint)}${reason}`
  for (const effect of userEffects) yield paint('yellow', `      ! ${effect}`)
  if (detail === 'objects') return
  const width = Math.max(0, ...changes.filter(isAligned).map(({ path }) => path.length))
  for (const change of changes) yield renderChangeLine(change, { width, paint, isVerbose })
}

const isAligned = ({ path, value }: ChangeText): boolean => !isBlock(value) && path.length <= MAX_ALIGNED

function renderChangeLine(
  { path, value, reason, position }: ChangeText,
  { width, paint, isVerbose }: { readonly width: number; readonly paint: Paint; readonly isVerbose: boolean },
): string {
  const reasonText = reason ? paint(reason.isWarning ? 'yellow' : 'dim', `  ${reason.text}`) : ''
  const suffix = `${reasonText}${isVerbose ? renderSuffix(position, paint) : ''}`
  const lines = listValueLines(value, paint)
  if (!isBlock(value)) return `      ${`${path}:`.padEnd(width + 1)} ${lines[0]}${suffix}`
  return [`      ${path}:${suffix}`, ...lines.map((line) => `        ${line}`)].join('\n')
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
