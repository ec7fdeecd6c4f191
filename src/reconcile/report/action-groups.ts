// Groups of similar actions, as which large plans are shown. Pure.
import { kinds } from '../../kinds/index.ts'
import { getPluralTitle, type KindName } from '../../kinds/kind.ts'
import { type Action, type FieldChange, isRelationChange, type RealmPlan } from '../model/action.ts'
import { formatCount } from './whole-value.ts'

/** Up to this number of actions, a plan shows each. */
const MAX_SINGLE_ACTIONS = 50
/** Groups up to this size are shown action by action. */
const MAX_SMALL_GROUP = 10
/** Names and fields that a group shows. */
const MAX_NAMES = 5
const MAX_FIELDS = 12
/** A field that at most so many objects of a group change is shown with its values. */
const MAX_RARE = 3

/** Actions of one operation on objects of one kind. */
export interface ActionGroup {
  readonly operation: Action['operation']
  readonly kind: KindName
  readonly actions: readonly Action[]
}

/** Groups the actions of a large plan, in the order of the first action of each group. Few similar actions stay single. */
export function groupActions({ actions }: Pick<RealmPlan, 'actions'>): (Action | ActionGroup)[] {
  if (actions.length <= MAX_SINGLE_ACTIONS) return [...actions]
  const groups = Map.groupBy(actions, ({ operation, kind }) => `${operation} ${kind}`)
  return [...groups.values()].flatMap((group): (Action | ActionGroup)[] => {
    if (group.length <= MAX_SMALL_GROUP) return group
    const { operation, kind } = group[0]!
    return [{ operation, kind, actions: group }]
  })
}

/** Whether a report of the plan shows groups instead of all of its objects. */
export const hasGroups = (plan: RealmPlan): boolean => groupActions(plan).length < plan.actions.length

/** Renders a number of objects of a kind: `1 client`, `1,000 clients`. */
export function formatKindCount(count: number, kind: KindName): string {
  return `${formatCount(count)} ${count === 1 ? kinds[kind].title : getPluralTitle(kinds[kind])}`
}

/** Lists the changed fields of a group, the most frequent first: `name, redirectUris of 12`. */
export function summarizeFields({ actions, operation, kind }: ActionGroup): string {
  if (operation === 'delete') return ''
  const counts = new Map<string, number>()
  for (const { changes } of actions)
    for (const path of new Set(changes.map(({ path }) => path))) counts.set(path, (counts.get(path) ?? 0) + 1)
  if (operation === 'create') counts.delete(kinds[kind].naturalKey)
  const fields = [...counts].toSorted(([, a], [, b]) => b - a)
  const texts = fields
    .slice(0, MAX_FIELDS)
    .map(([path, count]) => (count === actions.length ? path : `${path} of ${formatCount(count)}`))
  const rest = fields.length - texts.length
  return [...texts, ...(rest > 0 ? [`${formatCount(rest)} more fields`] : [])].join(', ')
}

/** A change that all objects of a group have in common, or that only a few have. */
export interface GroupChange {
  readonly change: FieldChange
  /** The names of the objects; empty: all of the group. */
  readonly names: readonly string[]
}

/** Lists the changes of an update that all objects have in common, and those of fields that only a few objects change. */
export function listGroupChanges({ actions, kind, operation }: ActionGroup): GroupChange[] {
  if (operation !== 'update') return []
  const { formatName = (name: string) => name } = kinds[kind]
  const byPath = Map.groupBy(
    actions.flatMap(({ key, changes }) => changes.map((change) => ({ change, name: formatName(key.at(-1)!) }))),
    ({ change }) => change.path,
  )
  return [...byPath.values()].flatMap((all) => {
    if (all.length <= MAX_RARE) return all.map(({ change, name }) => ({ change, names: [name] }))
    const isCommon = all.length === actions.length && new Set(all.map(({ change }) => toText(change))).size === 1
    return isCommon ? [{ change: all[0]!.change, names: [] }] : []
  })
}

/** Returns a text that is the same for equal changes. */
function toText(change: FieldChange): string {
  return JSON.stringify(isRelationChange(change) ? [change.add, change.remove] : [change.from, change.to])
}

/** Lists the first names of a group, and the number of further ones. */
export function summarizeNames({ actions, kind }: ActionGroup): string {
  const { formatName = (name: string) => name } = kinds[kind]
  const names = actions.slice(0, MAX_NAMES).map(({ key }) => formatName(key.at(-1)!))
  return `${names.join(', ')}, … ${formatCount(actions.length - names.length)} more`
}

/** Describes the live changes that a group corrects or overwrites, and by whom; undefined if there are none. */
export function summarizeDrift({ actions }: ActionGroup): string | undefined {
  const changes = actions.flatMap(({ changes }) => changes.filter(({ by }) => by))
  if (!changes.length) return undefined
  const authors = [...new Set(changes.map(({ by }) => by!.name))]
  const verb = changes.every(({ reason }) => reason === 'drift') ? 'corrects' : 'overwrites'
  const count = changes.length === 1 ? '1 live change' : `${formatCount(changes.length)} live changes`
  return `${verb} ${count} by ${authors.slice(0, MAX_NAMES).join(', ')}${authors.length > MAX_NAMES ? ', …' : ''}`
}
