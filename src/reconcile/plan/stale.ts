// Finds the objects that make a saved plan stale: those whose live state has changed since. Pure.
import { isDeepEqual, subtractKeys } from '../../kinds/compare.ts'
import { isKindName, kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { formatAddress } from '../../kinds/tree.ts'
import {
  type Action,
  type Attribution,
  type FieldChange,
  isRelationChange,
  type RelationChange,
} from '../model/action.ts'

/** An object that has changed since a plan was made. Secrets are digests. */
export interface StaleObject {
  readonly realm: string
  readonly kind: KindName
  readonly key: Key
  /** The id of the object, if it is known. */
  readonly id?: string
  /** The whole object was created, deleted, or changed although the plan deletes it. */
  readonly object?: 'created' | 'deleted' | 'changed'
  /** The changed field, with its value when the plan was made and its value now. */
  readonly path?: string
  readonly from?: Json
  readonly to?: Json
  /** Of a relation: the elements that were added, and that were removed. */
  readonly add?: readonly Key[]
  readonly remove?: readonly Key[]
  readonly by?: Attribution
}

/** The deletions of a plan, with what they delete along. */
export interface DeletionEvidence {
  readonly actions: readonly Action[]
  readonly consequences: readonly {
    readonly operation: string
    readonly kind: string
    readonly object: string
    readonly key: Key
    /** Of a deletion: the fields of the deleted object. */
    readonly fields: Readonly<Record<string, Json>>
  }[]
}

type Cascade = DeletionEvidence['consequences'][number] & { readonly kind: KindName }

/** Returns how the live state changed between two plans of the same documents. */
export function findStaleObjects(realm: string, then: readonly Action[], now: readonly Action[]): StaleObject[] {
  const before = new Map(then.map((action) => [formatAddress(action.kind, action.key), action]))
  const after = new Map(now.map((action) => [formatAddress(action.kind, action.key), action]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((address) => {
    const [earlier, later] = [before.get(address), after.get(address)]
    const { kind, key } = (later ?? earlier)!
    const id = [later, earlier].find((action) => action && action.operation !== 'create')?.id
    const base = { realm, kind, key, ...(id !== undefined && { id }) }
    const object = compareObjects(earlier, later)
    if (object) return [{ ...base, object }]
    return compareChanges(earlier?.changes ?? [], later?.changes ?? []).map((field) => ({ ...base, ...field }))
  })
}

/**
 * Returns how the objects that a plan deletes changed between two plans of the same documents: those of its actions, and those that
 * are deleted along. The actions themselves do not contain the deleted fields.
 */
export function findStaleDeletions(realm: string, then: DeletionEvidence, now: DeletionEvidence): StaleObject[] {
  const versions = new Map(then.actions.filter(isDeletion).map(({ kind, id, version }) => [`${kind} ${id}`, version]))
  const changedActions = now.actions.filter(isDeletion).filter(({ kind, id, version }) => {
    const before = versions.get(`${kind} ${id}`)
    return before !== undefined && before !== version
  })
  const [before, after] = [listCascades(then), listCascades(now)]
  const changedCascades = [...after].flatMap(([id, consequence]) => {
    const earlier = before.get(id)
    return earlier && !isDeepEqual(earlier.fields, consequence.fields) ? consequence : []
  })
  const toStale = (
    { kind, key, id }: { readonly kind: KindName; readonly key: Key; readonly id?: string | undefined },
    object: 'created' | 'deleted' | 'changed',
  ): StaleObject => ({ realm, kind, key, ...(id !== undefined && { id }), object })
  const cascadeToStale = ({ kind, key, object: id }: Cascade, object: 'created' | 'deleted' | 'changed') =>
    toStale({ kind, key, id }, object)
  return [
    ...changedActions.map((action) => toStale(action, 'changed')),
    ...changedCascades.map((consequence) => cascadeToStale(consequence, 'changed')),
    ...subtract(after, before).map((consequence) => cascadeToStale(consequence, 'created')),
    ...subtract(before, after).map((consequence) => cascadeToStale(consequence, 'deleted')),
  ]
}

const isDeletion = ({ operation }: Action) => operation === 'delete'

/** Returns the objects that a plan deletes along, by kind and id. User data is left out: it changes all the time. */
function listCascades({ consequences }: DeletionEvidence): Map<string, Cascade> {
  const isCascade = (consequence: DeletionEvidence['consequences'][number]): consequence is Cascade => {
    const { operation, kind } = consequence
    return operation === 'delete' && isKindName(kind) && !kinds[kind].isUserData
  }
  return new Map(
    consequences.filter(isCascade).map((consequence) => [`${consequence.kind} ${consequence.object}`, consequence]),
  )
}

/** Returns the values of the keys that the other map does not have. */
function subtract<T>(all: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>): T[] {
  return [...all].flatMap(([id, value]) => (other.has(id) ? [] : [value]))
}

/** Compares an object in two plans. A plan creates objects that do not exist, and deletes those that do. */
function compareObjects(earlier: Action | undefined, later: Action | undefined): StaleObject['object'] | undefined {
  const [then, now] = [earlier?.operation, later?.operation]
  if (then === now) return earlier?.id === later?.id || then === 'create' ? undefined : 'created'
  if (then === 'create') return 'created'
  if (now === 'create') return 'deleted'
  if (then === 'delete') return 'deleted'
  return now === 'delete' ? 'created' : undefined
}

function compareChanges(then: readonly FieldChange[], now: readonly FieldChange[]): Partial<StaleObject>[] {
  const before = new Map(then.map((change) => [change.path, change]))
  const after = new Map(now.map((change) => [change.path, change]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): Partial<StaleObject>[] => {
    const [earlier, later] = [before.get(path), after.get(path)]
    const isRelation = (change: FieldChange | undefined) => change !== undefined && isRelationChange(change)
    if (isRelation(earlier) || isRelation(later)) return compareElements(path, earlier, later)
    // A field that a plan does not change has the value that the other plan would set.
    const from = earlier ? getValue(earlier, 'from') : getValue(later, 'to')
    const to = later ? getValue(later, 'from') : getValue(earlier, 'to')
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }]
  })
}

/** Compares a relation in two plans. A plan adds elements that do not exist, and removes those that do. */
function compareElements(
  path: string,
  earlier: FieldChange | undefined,
  later: FieldChange | undefined,
): Partial<StaleObject>[] {
  const [before, after] = [getElements(earlier), getElements(later)]
  const add = [...subtractKeys(before.add, after.add), ...subtractKeys(after.remove, before.remove)]
  const remove = [...subtractKeys(after.add, before.add), ...subtractKeys(before.remove, after.remove)]
  return add.length || remove.length ? [{ path, add, remove }] : []
}

function getValue(change: FieldChange | undefined, side: 'from' | 'to'): Json {
  return change && !isRelationChange(change) ? change[side] : null
}

function getElements(change: FieldChange | undefined): Pick<RelationChange, 'add' | 'remove'> {
  return change && isRelationChange(change) ? change : { add: [], remove: [] }
}
