// The texts of an outcome, piece by piece: `render.ts` and `markdown.ts` make lines of them. Pure.
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address, describe } from '../../kinds/tree.ts'
import type { Position } from '../../lib/position.ts'
import type { Finding } from '../lint/index.ts'
import type { Action, FieldChange, IgnoredDrift, Note, RealmPlan } from '../model/action.ts'
import { by, moment } from '../model/attribution.ts'
import { type ApprovalState, describeApproval } from './approvals.ts'
import { loss, number, text, values } from './words.ts'

/** What an outcome looks like, whether it was planned or applied. */
export interface RenderedOutcome {
  readonly realms: readonly (ApprovalState & {
    readonly plan: RealmPlan
    readonly consequences: readonly Consequence[]
    readonly effects?: readonly UserImpact[]
    readonly findings?: readonly Finding[]
    readonly suspended?: { readonly revision: number; readonly by: string; readonly at: string }
  })[]
  readonly notes: readonly Note[]
}

/** What people lose by an object that ends. */
export interface UserImpact {
  readonly kind: KindName
  readonly key: Key
  readonly what: string
  readonly count: number
}

/** Something that follows without being stated. */
export interface Consequence {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: string
  readonly key: Key
}

/** Whether it was done, or is only shown. */
export type OutcomeTense = 'planned' | 'applied'

/** One action, as people are told of it. */
export interface ActionText {
  readonly operation: Action['operation']
  readonly name: string
  readonly position: Position | undefined
  /** Whose deletion it makes up for. */
  readonly deletedBy: string | undefined
  /** What people lose by it. */
  readonly losses: readonly string[]
  readonly changes: readonly ChangeText[]
}

/** One field of it. */
export interface ChangeText {
  readonly path: string
  /** A list: each stands on a line of its own. */
  readonly value: string | readonly string[]
  readonly reason: { readonly text: string; readonly alarming: boolean } | undefined
  readonly position: Position | undefined
}

/** One realm, as people are told of it. */
export interface RealmText {
  readonly name: string
  readonly creates: boolean
  readonly unchanged: boolean
  /** Each is made when it is asked for: they may be many. */
  readonly actions: Iterable<ActionText>
  /** What people lose, object by object. */
  readonly losses: readonly { readonly name: string; readonly text: string }[]
  readonly follows: readonly { readonly operation: Action['operation']; readonly text: string }[]
  readonly ignoredDrift: readonly string[]
  readonly notes: readonly Note[]
  readonly findings: readonly Note[]
  readonly suspended: string | undefined
  /** Why it waits for an approval, or who gave it. */
  readonly approval: readonly string[]
}

/** The sign of an operation. */
export const signs = { create: '+', update: '~', delete: '-' } as const
/** Words of the design: what was done, by operation. */
const OUTCOMES = { create: 'created', update: 'configured', delete: 'deleted' } as const
/** Consequences of one sort that are told one by one. */
const FEW = 10

/** A realm of an outcome in words. */
export function realmText(realm: RenderedOutcome['realms'][number]): RealmText {
  const { plan, consequences, effects = [], findings = [], suspended } = realm
  const waiting = describeApproval(realm)
  const unchanged = !plan.actions.length && !plan.creates && !waiting.length
  const losses = Map.groupBy(effects, ({ kind, key }) => address(kind, key))
  return {
    name: plan.realm,
    creates: plan.creates,
    unchanged,
    actions: actionsOf(plan, losses),
    losses: [...losses.values()].map((all) => ({
      name: describe(all[0]!.kind, all[0]!.key),
      text: all.map(loss).join('; '),
    })),
    follows: unchanged ? [] : follows(consequences),
    ignoredDrift: plan.ignoredDrift.map(ignoredDriftText),
    notes: plan.notes,
    findings: shownFindings(findings),
    suspended:
      suspended &&
      `${suspended.by} rolled back to r${suspended.revision} at ${moment(suspended.at)}; not applied until the sources declare the same, or "regent source resume"`,
    approval: waiting,
  }
}

function* actionsOf(plan: RealmPlan, losses: ReadonlyMap<string, readonly UserImpact[]>): Generator<ActionText> {
  for (const action of plan.actions)
    yield actionText(action, operationOf(plan, action), losses.get(address(action.kind, action.key)))
}

/** An action in words. */
export function actionText(
  action: Action,
  operation = action.operation,
  losses: readonly UserImpact[] = [],
): ActionText {
  return {
    operation,
    name: describe(action.kind, action.key),
    position: action.position,
    deletedBy: action.deletedBy && `was deleted by ${by(action.deletedBy)}; its id and its dependents are lost`,
    losses: losses.map(loss),
    changes: action.changes
      .filter((change) => !repeatsName(action, change))
      .map((change) => ({
        path: change.path,
        value: values(action.kind, action.operation, change),
        reason: reasonOf(change),
        position: change.position,
      })),
  }
}

/** How many objects are created, changed and deleted. A new realm counts as one of them. */
export function summary({ realms }: Pick<RenderedOutcome, 'realms'>, how: OutcomeTense): string {
  const done = realms.flatMap(({ plan, suspended, pendingApproval }) => {
    if ((suspended || pendingApproval) && how === 'applied') return []
    const operations = plan.actions.map((action) => operationOf(plan, action))
    const named = plan.actions.some(({ kind }) => kind === 'realm')
    return plan.creates && !named ? ['create' as const, ...operations] : operations
  })
  const waits = realms.some(({ pendingApproval }) => pendingApproval)
  if (!done.length) return waits ? 'Nothing was applied.' : 'Nothing to do.'
  const parts = (['create', 'update', 'delete'] as const).map((operation) => {
    const count = number(done.filter((one) => one === operation).length)
    return how === 'planned' ? `${count} to ${operation}` : `${count} ${OUTCOMES[operation]}`
  })
  return `${how === 'planned' ? 'Plan' : 'Applied'}: ${parts.join(', ')}.`
}

/** A new realm is made with its built-in content, and then changed: people see something new. */
function operationOf({ creates }: RealmPlan, { kind, operation }: Action): Action['operation'] {
  return creates && kind === 'realm' ? 'create' : operation
}

/** A new object is named by its natural key already. */
function repeatsName({ operation, kind }: Action, { path }: FieldChange): boolean {
  return operation === 'create' && path === kinds[kind].naturalKey
}

function reasonOf({ reason: why, by: who }: FieldChange): ChangeText['reason'] {
  if (why === 'undeclared') return { text: 'removed from the source', alarming: false }
  return who && { text: `${why === 'drift' ? 'corrects' : 'overwrites'} a change by ${by(who)}`, alarming: true }
}

/** What follows: one by one, or how many where they are many of a sort. */
function follows(consequences: readonly Consequence[]): RealmText['follows'] {
  const sorts = Map.groupBy(consequences, ({ operation, kind }) => `${operation} ${kind}`)
  return [...sorts.values()].flatMap((all) => {
    const { operation, kind } = all[0]!
    if (all.length > FEW) return [{ operation, text: `${number(all.length)} ${kinds[kind as KindName].title}s follow` }]
    return all.map(({ key }) => ({ operation, text: `${describe(kind as KindName, key)} follows` }))
  })
}

/** Findings with their rules; of a rule that finds much, some. */
function shownFindings(findings: readonly Finding[]): Note[] {
  const byRule = Map.groupBy(findings, ({ rule }) => rule)
  return [...byRule].flatMap(([rule, all]) => [
    ...all.slice(0, FEW).map(({ message, position }) => ({ message: `${message} (${rule})`, position })),
    ...(all.length > FEW
      ? [{ message: `and ${number(all.length - FEW)} more: "regent lint" lists them (${rule})` }]
      : []),
  ])
}

/** Drift that stays, and whose it is. */
function ignoredDriftText({ kind, key, path, live, accepted, by: who }: IgnoredDrift): string {
  const name = describe(kind, key)
  const whose = who ? ` by ${by(who)}` : ''
  if (path === undefined)
    return `${name} was deleted${whose}; it is not created again${accepted ? ', since that is accepted' : ''}`
  const value = isSecret(kinds[kind], path) || Array.isArray(live) ? '' : ` to ${text(live)}`
  const ending = accepted ? 'accepted until the document declares another value' : 'reported only'
  return `${name}: ${path} was changed${value}${whose}; ${ending}`
}
