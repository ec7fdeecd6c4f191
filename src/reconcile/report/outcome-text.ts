// The texts of an outcome, which `text-report.ts` and `markdown-report.ts` lay out. Pure.
import { isSecret } from '../../kinds/compare.ts'
import { isKindName, kinds } from '../../kinds/index.ts'
import { isList } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import type { LintFinding } from '../lint/lint.ts'
import type { Action, DeletionReason, FieldChange, IgnoredDrift, Note, RealmPlan } from '../model/action.ts'
import { formatTime, renderAttribution, shortenRevision } from '../model/attribution.ts'
import {
  type ActionGroup,
  formatKindCount,
  groupActions,
  listGroupChanges,
  summarizeDrift,
  summarizeFields,
  summarizeNames,
} from './action-groups.ts'
import { type ApprovalState, describeApproval } from './approval-text.ts'
import {
  isBlock,
  listValueLines,
  renderChange,
  renderLiveChange,
  renderUserEffect,
  type ValueText,
} from './value-text.ts'
import { escapeControls, formatCount, renderValue, TEXT_LIMITS, type ValueLimits } from './whole-value.ts'

/** The outcome of a plan or an apply, in the form of its JSON. */
export interface RenderedOutcome {
  /** Absent for a rollback. */
  readonly sources?: readonly RenderedSource[]
  readonly realms: readonly (ApprovalState & {
    readonly plan: RealmPlan
    readonly consequences: readonly RenderedConsequence[]
    readonly effects?: readonly RenderedUserEffect[]
    readonly findings?: readonly LintFinding[]
    readonly suspended?: { readonly revision: number; readonly by: string; readonly at: string }
  })[]
  readonly notes: readonly Note[]
}

/** A source of an outcome, in the form of its JSON. */
export interface RenderedSource {
  readonly name: string
  readonly revision: string
  /** The files and folders that were read, if the source has more. Empty: the standard input. */
  readonly scope?: readonly string[]
  /** The apply before; absent if there was none. */
  readonly lastApplied?: { readonly revision: string; readonly at: string }
}

/** An effect of a deleted or disabled object on its users. */
export interface RenderedUserEffect {
  readonly kind: KindName
  readonly key: Key
  readonly effect: string
  readonly count: number
}

/** A change that follows without being declared, in the form of its JSON. */
export interface RenderedConsequence {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: string
  readonly key: Key
}

/** Whether an outcome is that of a plan or of an apply. */
export type OutcomeTense = 'planned' | 'applied'

/** An action of a plan as texts for a report. */
export interface ActionText {
  readonly operation: Action['operation']
  readonly name: string
  readonly position: SourcePosition | undefined
  /** The deletion that a creation reverts. */
  readonly deletedBy: string | undefined
  /** The reason of a deletion. */
  readonly deletion: string | undefined
  readonly userEffects: readonly string[]
  readonly changes: readonly ChangeText[]
}

/** A changed field as texts for a report. */
export interface ChangeText {
  readonly path: string
  readonly value: ValueText
  /** The reason for a change that the source did not make, such as drift; undefined for changes of the source. */
  readonly reason: { readonly text: string; readonly isWarning: boolean } | undefined
  readonly position: SourcePosition | undefined
}

/** Many similar actions as texts for a report. */
export interface GroupText {
  readonly operation: Action['operation']
  /** The number of objects and their kind: `1,000 clients`. */
  readonly objects: string
  /** The changed fields; empty for deletions. */
  readonly fields: string
  /** Effects on users, and live changes that are corrected or overwritten. */
  readonly warnings: readonly string[]
  /** The changes that all objects have in common, and those of fields that only a few objects change, with the names of these. */
  readonly changes: readonly (Pick<ChangeText, 'path' | 'value'> & { readonly names: readonly string[] })[]
  /** The first names. */
  readonly names: string
}

/** Drift that a plan does not correct, as texts for a report. */
export interface DriftText {
  readonly text: string
  /** The differences inside a long value. */
  readonly lines: readonly string[]
}

/** The outcome of a realm as texts for a report. */
export interface RealmText {
  readonly name: string
  readonly isNew: boolean
  readonly isUnchanged: boolean
  /** The numbers of created, updated and deleted objects by kind, with consequences; empty for a single object, unless it is requested. */
  readonly counts: readonly { readonly operation: Action['operation']; readonly text: string }[]
  /** Created on demand, since they may be many. */
  readonly actions: Iterable<ActionText>
  /** The actions, with those of a large plan in groups. */
  readonly groups: Iterable<ActionText | GroupText>
  /** The effects on users, one text per object. */
  readonly userEffects: readonly { readonly name: string; readonly text: string }[]
  readonly consequences: readonly { readonly operation: Action['operation']; readonly text: string }[]
  readonly ignoredDrift: readonly DriftText[]
  readonly notes: readonly Note[]
  /** The findings of lint; of a rule with many, the first ones. */
  readonly findings: readonly Note[]
  readonly findingCount: number
  readonly suspended: string | undefined
  /** The guards of a plan that is pending approval, or its approver. */
  readonly approval: readonly string[]
}

/** The sign of each operation. */
export const OPERATION_SIGNS = { create: '+', update: '~', delete: '-' } as const
const PAST_TENSE = { create: 'created', update: 'updated', delete: 'deleted' } as const
/** Up to this number, consequences of one operation and kind, and findings of one rule, are listed one by one. */
const MAX_LISTED = 10

/** Renders the outcome in a realm as texts. `countsOne`: whether a single object is counted too. Default: false. */
export function toRealmText(
  realm: RenderedOutcome['realms'][number],
  { limits = TEXT_LIMITS, countsOne = false }: { readonly limits?: ValueLimits; readonly countsOne?: boolean } = {},
): RealmText {
  const { plan, consequences, effects = [], findings = [], suspended } = realm
  const approval = describeApproval(realm)
  const isUnchanged = !plan.actions.length && !plan.creates && !approval.length
  const effectsByObject = Map.groupBy(effects, ({ kind, key }) => formatAddress(kind, key))
  return {
    name: plan.realm,
    isNew: plan.creates,
    isUnchanged,
    counts: isUnchanged || (!countsOne && isSingleObject(realm)) ? [] : countByKind(plan, consequences),
    actions: createActionTexts(plan, effectsByObject, limits),
    groups: createGroupTexts(plan, effectsByObject, limits),
    userEffects: [...effectsByObject.values()].map((all) => ({
      name: describeObject(all[0]!.kind, all[0]!.key),
      text: all.map(renderUserEffect).join('; '),
    })),
    consequences: isUnchanged ? [] : renderConsequences(consequences),
    ignoredDrift: plan.ignoredDrift.map((drift) => renderIgnoredDrift(drift, limits)),
    notes: plan.notes,
    findings: toFindingNotes(findings),
    findingCount: findings.length,
    suspended:
      suspended &&
      `${suspended.by} rolled back to r${suspended.revision} at ${formatTime(suspended.at)}; not applied until the sources declare the values of r${suspended.revision}, or "regent source resume" ends this`,
    approval,
  }
}

type EffectsByObject = ReadonlyMap<string, readonly RenderedUserEffect[]>

function* createActionTexts(plan: RealmPlan, effects: EffectsByObject, limits: ValueLimits): Generator<ActionText> {
  for (const action of plan.actions) yield toActionText(action, limits, getActionContext(plan, effects, action))
}

function* createGroupTexts(
  plan: RealmPlan,
  effects: EffectsByObject,
  limits: ValueLimits,
): Generator<ActionText | GroupText> {
  const contextOf = (action: Action) => getActionContext(plan, effects, action)
  for (const entry of groupActions(plan))
    yield 'actions' in entry
      ? toGroupText(
          entry,
          entry.actions.flatMap((action) => contextOf(action).effects),
          limits,
        )
      : toActionText(entry, limits, contextOf(entry))
}

/** Returns the operation to show for an action, and its effects on users. */
function getActionContext(plan: RealmPlan, effects: EffectsByObject, action: Action) {
  return {
    operation: getShownOperation(plan, action),
    effects: effects.get(formatAddress(action.kind, action.key)) ?? [],
  }
}

/** Renders a group of actions as texts. */
export function toGroupText(
  group: ActionGroup,
  effects: readonly RenderedUserEffect[],
  limits: ValueLimits,
): GroupText {
  const counts = [...Map.groupBy(effects, ({ effect }) => effect)].map(([effect, all]) => ({
    effect,
    count: all.reduce((sum, { count }) => sum + count, 0),
  }))
  const drift = summarizeDrift(group)
  return {
    operation: group.operation,
    objects: formatKindCount(group.actions.length, group.kind),
    fields: summarizeFields(group),
    warnings: [...counts.map(renderUserEffect), ...(drift === undefined ? [] : [drift])],
    changes: listGroupChanges(group).map(({ change, names }) => ({
      path: escapeControls(change.path),
      value: renderChange(change, { kind: group.kind, operation: group.operation, limits }),
      names: names.map(escapeControls),
    })),
    names: summarizeNames(group),
  }
}

/** Counts the objects of a plan and its consequences by operation and kind: `3 clients, 1 user (consequence)`. */
function countByKind(plan: RealmPlan, consequences: readonly RenderedConsequence[]): RealmText['counts'] {
  const actions = [...(isNewWithoutAction(plan) ? [REALM_CREATION] : []), ...plan.actions]
  return (['create', 'update', 'delete'] as const).flatMap((operation) => {
    const ofActions = Map.groupBy(
      actions.filter((action) => getShownOperation(plan, action) === operation),
      ({ kind }) => kind,
    )
    const following = Map.groupBy(
      consequences.filter((consequence) => consequence.operation === operation),
      ({ kind }) => kind,
    )
    const texts = [
      ...[...ofActions].map(([kind, all]) => formatKindCount(all.length, kind)),
      ...[...following].flatMap(([kind, all]) =>
        isKindName(kind)
          ? [`${formatKindCount(all.length, kind)} (${all.length === 1 ? 'consequence' : 'consequences'})`]
          : [],
      ),
    ]
    return texts.length ? [{ operation, text: texts.join(', ') }] : []
  })
}

/** Whether a plan with its consequences changes at most one object. */
function isSingleObject({ plan, consequences }: Pick<RenderedOutcome['realms'][number], 'plan' | 'consequences'>) {
  return Number(isNewWithoutAction(plan)) + plan.actions.length + consequences.length < 2
}

/** The creation of a realm whose settings are the defaults. */
const REALM_CREATION = { operation: 'create', kind: 'realm' } as const

/** Whether a plan creates a realm and sets none of its fields. */
const isNewWithoutAction = ({ creates, actions }: RealmPlan): boolean =>
  creates && !actions.some(({ kind }) => kind === 'realm')

/** Renders an action as texts. */
export function toActionText(
  action: Action,
  limits: ValueLimits,
  {
    operation = action.operation,
    effects = [],
  }: { readonly operation?: Action['operation']; readonly effects?: readonly RenderedUserEffect[] } = {},
): ActionText {
  return {
    operation,
    name: escapeControls(describeObject(action.kind, action.key)),
    position: action.position,
    deletedBy:
      action.deletedBy && `was deleted by ${renderAttribution(action.deletedBy)}; its id and its dependents are lost`,
    deletion: action.deletion && renderDeletion(action.deletion),
    userEffects: effects.map(renderUserEffect),
    changes: action.changes
      .filter((change) => !repeatsName(action, change))
      .toSorted(byPosition)
      .map((change) => ({
        path: escapeControls(change.path),
        value: renderChange(change, { kind: action.kind, operation, limits }),
        reason: renderReason(change),
        position: change.position,
      })),
  }
}

/** Orders changes as the document declares them; those that it does not declare come last. */
function byPosition({ position: a }: FieldChange, { position: b }: FieldChange): number {
  if (!a || !b) return Number(!a) - Number(!b)
  return a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1
}

function renderDeletion(deletion: DeletionReason): string {
  return deletion.reason === 'removed'
    ? `removed from ${deletion.file}, line ${deletion.line}`
    : 'not declared, and its list is authoritative'
}

/** Renders the numbers of created, updated and deleted objects. A new realm counts as one. */
export function renderSummary(outcome: Pick<RenderedOutcome, 'realms' | 'sources'>, tense: OutcomeTense): string {
  const { realms } = outcome
  const counted = realms.filter((realm) => !((realm.suspended || realm.pendingApproval) && tense === 'applied'))
  const operations = counted.flatMap(({ plan }) => {
    const ofActions = plan.actions.map((action) => getShownOperation(plan, action))
    return isNewWithoutAction(plan) ? ['create' as const, ...ofActions] : ofActions
  })
  const isBlocked = tense === 'planned' && realms.some(({ guards }) => guards?.length)
  if (!operations.length && !isBlocked) return renderNothingDone(outcome, tense)
  const parts = (['create', 'update', 'delete'] as const).map((operation) => {
    const count = formatCount(operations.filter((other) => other === operation).length)
    return tense === 'planned' ? `${count} to ${operation}` : `${count} ${PAST_TENSE[operation]}`
  })
  const consequences = counted.reduce((sum, realm) => sum + realm.consequences.length, 0)
  const following = consequences === 1 ? '1 consequence' : `${formatCount(consequences)} consequences`
  return `${tense === 'planned' ? 'Plan' : 'Applied'}: ${[...parts, ...(consequences ? [following] : [])].join(', ')}.`
}

/** Renders a source in a line: its name and revision, and its last apply. */
export function renderSource({ name, revision, scope, lastApplied }: RenderedSource): string {
  const part = scope === undefined ? '' : `, only ${scope.join(', ') || 'the standard input'}`
  const before = lastApplied
    ? `last applied at ${shortenRevision(lastApplied.revision)}, ${formatTime(lastApplied.at)}`
    : 'never applied before'
  return `Source ${name} at ${shortenRevision(revision)}${part}; ${before}`
}

/** Explains why there is no operation. */
function renderNothingDone(
  { realms, sources = [] }: Pick<RenderedOutcome, 'realms' | 'sources'>,
  tense: OutcomeTense,
): string {
  const suspended = tense === 'applied' ? realms.flatMap((realm) => (realm.suspended ? [realm.plan.realm] : [])) : []
  const commands = sources.map(({ name }) => `"regent source resume ${name}"`).join(', ')
  if (suspended.length)
    return `Nothing was applied, since a rollback suspended the sources of ${suspended.join(', ')}.${commands && ` To resume: ${commands}`}`
  return realms.some(({ pendingApproval }) => pendingApproval) ? 'Nothing was applied.' : 'Nothing to do.'
}

/** Returns the operation to show: the update of a realm that the same plan creates is part of its creation. */
export function getShownOperation(
  { creates }: RealmPlan,
  { kind, operation }: Pick<Action, 'kind' | 'operation'>,
): Action['operation'] {
  return creates && kind === 'realm' ? 'create' : operation
}

/** Whether a change sets the natural key of a new object, which its name already shows. */
function repeatsName({ operation, kind }: Action, { path }: FieldChange): boolean {
  return operation === 'create' && path === kinds[kind].naturalKey
}

function renderReason({ reason, by }: FieldChange): ChangeText['reason'] {
  if (reason === 'undeclared') return { text: 'removed from the source', isWarning: false }
  return (
    by && {
      text: `${reason === 'drift' ? 'corrects' : 'overwrites'} a change by ${renderAttribution(by)}`,
      isWarning: true,
    }
  )
}

/** Renders consequences, or their number if there are many of one operation and kind. */
function renderConsequences(consequences: readonly RenderedConsequence[]): RealmText['consequences'] {
  const groups = Map.groupBy(consequences, ({ operation, kind }) => `${operation} ${kind}`)
  return [...groups.values()].flatMap((group) => {
    const { operation, kind } = group[0]!
    if (!isKindName(kind)) return []
    if (group.length > MAX_LISTED)
      return [{ operation, text: `${formatKindCount(group.length, kind)}: --output json shows them` }]
    return group.map(({ key }) => ({ operation, text: `${describeObject(kind, key)}` }))
  })
}

/** Returns findings with their rules, and for a rule with many findings the first ones and a count. */
function toFindingNotes(findings: readonly LintFinding[]): Note[] {
  const byRule = Map.groupBy(findings, ({ rule }) => rule)
  return [...byRule].flatMap(([rule, all]) => [
    ...all.slice(0, MAX_LISTED).map(({ message, position }) => ({ message: `${message} (${rule})`, position })),
    ...(all.length > MAX_LISTED
      ? [{ message: `and ${formatCount(all.length - MAX_LISTED)} more: "regent lint" lists them (${rule})` }]
      : []),
  ])
}

function renderIgnoredDrift(drift: IgnoredDrift, limits: ValueLimits): DriftText {
  const { kind, key, path, declared, live, encrypted, accepted, by } = drift
  const name = describeObject(kind, key)
  const author = by ? ` by ${renderAttribution(by)}` : ''
  if (path === undefined) {
    const ending = accepted ? ', since that is accepted' : ''
    return { text: `${name} was deleted${author}; it is not created again${ending}`, lines: [] }
  }
  const isShown = !encrypted && !isSecret(kinds[kind], path)
  const change = renderLiveChange({ kind, path, from: declared, to: live }, limits)
  const isShort = isShown && !isBlock(change) && !isList(live)
  const value = isShort ? ` to ${renderValue(live, limits)}` : ''
  const ending = accepted ? 'accepted until the document declares another value' : 'reported only'
  return {
    text: `${name}: ${path} was changed${value}${author}; ${ending}`,
    lines: isShown && !isShort ? listValueLines(change) : [],
  }
}
