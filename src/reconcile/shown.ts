// What people are told of an outcome, in words and piece by piece: text and markdown make lines of it. Pure.
import { isSecret } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { address, describe } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'
import type { Action, Change, LeftAlone, Note, RealmPlan } from './action.ts'
import type { Finding } from './lint/index.ts'
import { type Guarding, waitingWords } from './waiting.ts'
import { by, loss, moment, number, text, values } from './words.ts'

/** What an outcome looks like, whether it was planned or applied. */
export interface Shown {
  readonly realms: readonly (Guarding & {
    readonly plan: RealmPlan
    readonly consequences: readonly Consequence[]
    readonly effects?: readonly Loss[]
    readonly findings?: readonly Finding[]
    readonly held?: { readonly revision: number; readonly by: string; readonly at: string }
  })[]
  readonly notes: readonly Note[]
}

/** What people lose by an object that ends. */
export interface Loss {
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
export type How = 'planned' | 'applied'

/** One action, as people are told of it. */
export interface ShownAction {
  readonly operation: Action['operation']
  readonly name: string
  readonly position: Position | undefined
  /** Whose deletion it makes up for. */
  readonly lost: string | undefined
  /** What people lose by it. */
  readonly losses: readonly string[]
  readonly changes: readonly ShownChange[]
}

/** One field of it. */
export interface ShownChange {
  readonly path: string
  /** A list: each stands on a line of its own. */
  readonly value: string | readonly string[]
  readonly reason: { readonly text: string; readonly alarming: boolean } | undefined
  readonly position: Position | undefined
}

/** One realm, as people are told of it. */
export interface ShownRealm {
  readonly name: string
  readonly creates: boolean
  readonly unchanged: boolean
  /** Each is made when it is asked for: they may be many. */
  readonly actions: Iterable<ShownAction>
  /** What people lose, object by object. */
  readonly losses: readonly { readonly name: string; readonly text: string }[]
  readonly follows: readonly { readonly operation: Action['operation']; readonly text: string }[]
  readonly leftAlone: readonly string[]
  readonly notes: readonly Note[]
  readonly findings: readonly Note[]
  readonly held: string | undefined
  /** Why it waits for an approval, or who gave it. */
  readonly waiting: readonly string[]
}

/** The sign of an operation. */
export const signs = { create: '+', update: '~', delete: '-' } as const
/** Words of the design: what was done, by operation. */
const OUTCOMES = { create: 'created', update: 'configured', delete: 'deleted' } as const
/** Consequences of one sort that are told one by one. */
const FEW = 10

/** A realm of an outcome in words. */
export function shownRealm(realm: Shown['realms'][number]): ShownRealm {
  const { plan, consequences, effects = [], findings = [], held } = realm
  const waiting = waitingWords(realm)
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
    leftAlone: plan.leftAlone.map(leftAlone),
    notes: plan.notes,
    findings: shownFindings(findings),
    held:
      held &&
      `${held.by} went back to r${held.revision} at ${moment(held.at)}; this is not applied until "regent source resume" or the documents say so too`,
    waiting,
  }
}

function* actionsOf(plan: RealmPlan, losses: ReadonlyMap<string, readonly Loss[]>): Generator<ShownAction> {
  for (const action of plan.actions)
    yield shownAction(action, operationOf(plan, action), losses.get(address(action.kind, action.key)))
}

/** An action in words. */
export function shownAction(action: Action, operation = action.operation, losses: readonly Loss[] = []): ShownAction {
  return {
    operation,
    name: describe(action.kind, action.key),
    position: action.position,
    lost: action.lost && `was deleted by ${by(action.lost)}; its id and what hung on it are lost`,
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
export function summary({ realms }: Pick<Shown, 'realms'>, how: How): string {
  const done = realms.flatMap(({ plan, held, guarded }) => {
    if ((held || guarded) && how === 'applied') return []
    const operations = plan.actions.map((action) => operationOf(plan, action))
    const named = plan.actions.some(({ kind }) => kind === 'realm')
    return plan.creates && !named ? ['create' as const, ...operations] : operations
  })
  const waits = realms.some(({ guarded }) => guarded)
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
function repeatsName({ operation, kind }: Action, { path }: Change): boolean {
  return operation === 'create' && path === kinds[kind].naturalKey
}

function reasonOf({ why, by: who }: Change): ShownChange['reason'] {
  if (why === 'released') return { text: 'no longer stated', alarming: false }
  return who && { text: `${why === 'drift' ? 'puts back' : 'overwrites'} a change by ${by(who)}`, alarming: true }
}

/** What follows: one by one, or how many where they are many of a sort. */
function follows(consequences: readonly Consequence[]): ShownRealm['follows'] {
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
function leftAlone({ kind, key, path, live, adopted, by: who }: LeftAlone): string {
  const name = describe(kind, key)
  const whose = who ? ` by ${by(who)}` : ''
  if (path === undefined)
    return `${name} was deleted${whose}; it is not made again${adopted ? ', which is adopted' : ''}`
  const value = isSecret(kinds[kind], path) || Array.isArray(live) ? '' : ` to ${text(live)}`
  const until = adopted ? ' and is adopted, until the document states something new' : ''
  return `${name}: ${path} was changed${value}${whose}; it stays so${until}`
}
