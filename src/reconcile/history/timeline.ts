// Reconstructs objects at a revision, from their live state and the journal's previous values, newest first. Pure.
import {
  type FlatFields,
  findDifferences,
  isSecret,
  readKeys,
  resolveField,
  subtractKeys,
} from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Action, FieldChange } from '../model/action.ts'
import { createKeyLookup, type KeyLookup, renameReferences } from '../model/renames.ts'

/** A journal entry, with what is needed to revert it. */
export interface JournalChange {
  readonly number: number
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: KindName
  readonly object: string
  readonly key: Key
  /** The previous values. */
  readonly fields: FlatFields
}

/** The live state of an object. Secrets are digests. */
export interface CurrentState {
  readonly key: Key
  readonly version: number
  readonly fields: FlatFields
}

/** Returns the actions that lead from one revision to another, one per object, in the order of their first changes. */
export function diffStates(
  entries: readonly JournalChange[],
  liveStates: ReadonlyMap<string, CurrentState>,
  { from, to }: { readonly from: number; readonly to: number },
): Action[] {
  const entriesByObject = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  const objects = [...entriesByObject].map(([name, ownEntries]): ObjectStates => {
    const { kind, object } = ownEntries[0]!
    const live = liveStates.get(name)
    return {
      kind,
      id: object,
      live,
      before: findStateAt(ownEntries, live, from),
      after: findStateAt(ownEntries, live, to),
    }
  })
  const findLaterKey = createLaterKeyLookup(objects)
  return objects.flatMap((object): Action[] => {
    const { id, live } = object
    const action = findAction(object, findLaterKey)
    return action ? [{ ...action, id, ...(live && { version: live.version }) }] : []
  })
}

/** The states of an object at two revisions; undefined where it did not exist. */
interface ObjectStates {
  readonly kind: KindName
  readonly id: string
  readonly live: CurrentState | undefined
  readonly before: PastState | undefined
  readonly after: PastState | undefined
}

/** Returns a lookup of keys at the second revision, since a reference to a renamed object is no change. */
function createLaterKeyLookup(objects: readonly ObjectStates[]): KeyLookup {
  return createKeyLookup(
    objects.flatMap(({ kind, before, after }) =>
      before && after && before.key.at(-1) !== after.key.at(-1) ? [[kind, before.key, after.key] as const] : [],
    ),
  )
}

interface PastState {
  readonly key: Key
  readonly fields: FlatFields
}

/** Returns the state of an object at a revision; undefined where it did not exist. */
function findStateAt(
  entries: readonly JournalChange[],
  live: CurrentState | undefined,
  revision: number,
): PastState | undefined {
  let state: PastState | undefined = live
  for (const { operation, kind, key, fields, number } of entries.toReversed()) {
    if (number <= revision) break
    if (operation === 'create') state = undefined
    else if (operation === 'delete') state = { key, fields }
    else if (state) state = { key: applyRename(kind, state.key, fields), fields: { ...state.fields, ...fields } }
  }
  return state
}

function applyRename(kind: KindName, key: Key, { [kinds[kind].naturalKey]: name }: FlatFields): Key {
  return typeof name === 'string' ? [...key.slice(0, -1), name] : key
}

function findAction({ kind, before, after }: ObjectStates, findLaterKey: KeyLookup): Action | undefined {
  if (!before && !after) return undefined
  if (!after) return { operation: 'delete', kind, key: before!.key, changes: [] }
  const fields = before ? renameReferences({ kind, key: before.key }, before.fields, findLaterKey) : {}
  const changes = diffFields(kind, fields, after.fields)
  if (!before) return { operation: 'create', kind, key: after.key, changes }
  return changes.length ? { operation: 'update', kind, key: before.key, changes } : undefined
}

function diffFields(name: KindName, before: FlatFields, after: FlatFields): FieldChange[] {
  const kind = kinds[name]
  const afterOrNull = Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])].map((path) => [path, after[path] ?? null]),
  )
  return findDifferences(kind, before, afterOrNull).map(({ path, from, to }): FieldChange => {
    if (!resolveField(kind, path).field.relation) return { path, from, to, reason: 'declared' }
    return {
      path,
      add: subtractKeys(readKeys(to), readKeys(from)),
      remove: subtractKeys(readKeys(from), readKeys(to)),
      reason: 'declared',
    }
  })
}

/** Removes the changes of secrets, which the journal has as digests only, and of computed fields. Also returns the paths of the secrets. */
export function removeSecretChanges(action: Action): { action: Action; secrets: string[] } {
  const kind = kinds[action.kind]
  const changes = action.changes.filter(({ path }) => !isSecret(kind, path) && !resolveField(kind, path).field.computed)
  const secrets = action.changes.map(({ path }) => path).filter((path) => isSecret(kind, path))
  return { action: { ...action, changes }, secrets }
}
