// Creates and updates objects through the service, as a plan's actions say.
import { resolveField } from '../../kinds/compare.ts'
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { toRelationValue } from '../../kinds/relations.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { NewObject, ObjectUpdate } from '../../service/objects/writers.ts'
import { type Action, type FieldChange, isRelationChange, type ValueChange } from '../model/action.ts'
import { listReferences } from '../model/references.ts'

/** The objects of an apply, and the secrets that its plan contains as digests only. */
export interface AppliedState {
  /** The context of the transaction. References to the objects that it lists as created need no statement. */
  readonly context: WriteContext
  /** The live objects by address, created ones included. */
  readonly live: Map<string, LiveObject>
  readonly findSecret: (address: string, path: string) => Json | undefined
}

/** A function that returns whether a step of the apply writes the change. */
export type ChangeFilter = (action: Action, change: FieldChange) => boolean

/** Returns the object that an action creates, without its late fields. */
export function toNewObject(state: AppliedState, action: Action): NewObject {
  const kind = kinds[action.kind]
  const representation: Representation = { [kind.naturalKey]: action.key.at(-1)! }
  for (const change of action.changes.filter((change) => isEarly(action, change))) {
    const { name, key, field } = resolveField(kind, change.path)
    const value = isRelationChange(change) ? toRelationValue(field, change.add) : getNewValue(state, action, change)
    representation[name] = key === undefined ? value : { ...readObject(representation[name]), [key]: value }
  }
  const parentAddress = findParent(action.key)
  const parent = parentAddress && state.live.get(formatAddress(parentAddress.kind, parentAddress.key))
  return {
    id: action.id,
    representation,
    ...(parent && { parent: { kind: parent.kind, id: parent.id, key: parent.key } }),
  }
}

/** Writes the changes of actions on objects of one kind, as far as the filter lets them pass. */
export async function writeChanges(
  state: AppliedState,
  actions: readonly Action[],
  isIncluded: ChangeFilter,
): Promise<void> {
  const { context, live } = state
  const [first] = actions
  if (!first) return
  const updates = actions
    .map((action) => toUpdate(state, action, isIncluded))
    .filter(({ set, relations }) => Object.keys(set).length + Object.keys(relations ?? {}).length > 0)
  const updated = updates.length ? await writers[first.kind].update(context, updates) : []
  const byId = new Map(updated.map((object) => [object.id, object]))
  for (const { kind, key } of actions) {
    const before = live.get(formatAddress(kind, key))!
    const object = byId.get(before.id)
    if (!object) continue
    if (before.key.at(-1) !== object.key.at(-1)) renameChildren(live, [kind, ...before.key], [kind, ...object.key])
    // After a rename, the action still has the former key, and documents have the new one.
    live.set(formatAddress(kind, key), object)
    live.set(formatAddress(kind, object.key), object)
  }
}

function toUpdate(state: AppliedState, action: Action, isIncluded: ChangeFilter): ObjectUpdate {
  const changes = action.changes.filter((change) => isIncluded(action, change))
  return {
    live: state.live.get(formatAddress(action.kind, action.key))!,
    set: Object.fromEntries(
      changes.flatMap((change) =>
        isRelationChange(change) ? [] : [[change.path, getNewValue(state, action, change)]],
      ),
    ),
    relations: Object.fromEntries(
      changes.filter(isRelationChange).map(({ path, add, remove }) => [path, { add, remove }]),
    ),
  }
}

/** Updates the keys of a renamed object's children, since references find them by these. */
function renameChildren(live: Map<string, LiveObject>, from: Key, to: Key): void {
  for (const [address, { key, ...child }] of live) {
    if (key.length > from.length && from.every((step, index) => key[index] === step))
      live.set(address, { ...child, key: [...to, ...key.slice(from.length)] })
  }
}

function getNewValue({ findSecret }: AppliedState, { kind, key }: Action, { path, to }: ValueChange): Json {
  return findSecret(formatAddress(kind, key), path) ?? to
}

/** Whether a change renames the object. */
export function isRename({ kind }: Action, { path }: FieldChange): boolean {
  return path === kinds[kind].naturalKey
}

/** Whether a change is written together with its object: neither a late field nor a rename, which come in steps of their own. */
export function isEarly(action: Action, change: FieldChange): boolean {
  return getLateness(action, change).late === undefined && (action.operation === 'create' || !isRename(action, change))
}

/** Returns when a changed field is written, and the kind that it refers to. */
export function getLateness({ kind }: Action, { path }: FieldChange): Pick<Field, 'late' | 'refersTo'> {
  return resolveField(kinds[kind], path).field
}

/** Sorts creations of one kind so that each comes after the ones that it refers to. Objects in a cycle keep their order. */
export function sortByDependencies(actions: readonly Action[]): Action[] {
  const byAddress = new Map(actions.map((action) => [formatAddress(action.kind, action.key), action]))
  const sorted = new Set<Action>()
  const visited = new Set<Action>()
  const visit = (action: Action): void => {
    if (visited.has(action)) return
    visited.add(action)
    for (const change of action.changes) {
      const value = isRelationChange(change) ? change.add : change.to
      if (value === null) continue
      for (const { to, key } of listReferences(action, change.path, value)) {
        const dependency = byAddress.get(formatAddress(to, key))
        if (dependency) visit(dependency)
      }
    }
    sorted.add(action)
  }
  // The path of a parent is shorter than those of its descendants.
  const isTree = actions[0] && kinds[actions[0].kind].naturalKey === 'path'
  const getLength = ({ key }: Action) => key.at(-1)!.length
  for (const action of isTree ? actions.toSorted((a, b) => getLength(a) - getLength(b)) : actions) visit(action)
  return [...sorted]
}
