// Finds the objects that make a saved plan stale: their live state then and now, and who changed them. Pure.
import { identical, missing } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address } from '../../kinds/tree.ts'
import {
  type Action,
  type Attribution,
  type FieldChange,
  isRelationChange,
  type RelationChange,
} from '../model/action.ts'

/** Something that is not as it was when the plan was made. Secrets are digests. */
export interface StaleObject {
  readonly realm: string
  readonly kind: KindName
  readonly key: Key
  /** Id of the object, where it is known. */
  readonly id?: string
  /** The whole object: somebody made it, deleted it, or changed what the plan deletes. */
  readonly object?: 'created' | 'deleted' | 'changed'
  /** One field: what was live then, and what is now. */
  readonly path?: string
  readonly from?: Json
  readonly to?: Json
  /** Of a relation: what was added, and what was removed. */
  readonly add?: readonly Key[]
  readonly remove?: readonly Key[]
  readonly by?: Attribution
}

/** What leads from the live state that one plan was made of to that of another one of the same documents. */
export function findStaleObjects(realm: string, then: readonly Action[], now: readonly Action[]): StaleObject[] {
  const before = new Map(then.map((action) => [address(action.kind, action.key), action]))
  const after = new Map(now.map((action) => [address(action.kind, action.key), action]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [one, other] = [before.get(id), after.get(id)]
    const { kind, key } = (other ?? one)!
    const base = { realm, kind, key, ...idOf(one, other) }
    const object = staleObject(one, other)
    if (object) return [{ ...base, object }]
    return staleFields(one?.changes ?? [], other?.changes ?? []).map((field) => ({ ...base, ...field }))
  })
}

/** What a plan deletes, or takes along, is part of what it does with all that it is, though the plan does not say what it is like. */
export function findStaleDeletions(realm: string, then: PlannedDeletions, now: PlannedDeletions): StaleObject[] {
  const versions = new Map(then.actions.filter(isDeletion).map(({ kind, id, version }) => [`${kind} ${id}`, version]))
  const changed = now.actions.filter(isDeletion).filter(({ kind, id, version }) => {
    const before = versions.get(`${kind} ${id}`)
    return before !== undefined && before !== version
  })
  const [before, after] = [then, now].map(
    ({ consequences }) => new Map(consequences.filter(isTaken).map((one) => [`${one.kind} ${one.object}`, one])),
  )
  const others = (all: typeof before, known: typeof before) =>
    [...all!].flatMap(([id, one]) => (known!.has(id) ? [] : one))
  const takenOtherwise = [...after!].flatMap(([id, one]) => {
    const as = before!.get(id)
    return as && !identical(as.fields, one.fields) ? one : []
  })
  const told =
    (object: StaleObject['object']) =>
    (one: { kind: string; key: Key; id?: string; object?: string }): StaleObject => ({
      realm,
      kind: one.kind as KindName,
      key: one.key,
      ...((one.id ?? one.object) !== undefined && { id: (one.id ?? one.object)! }),
      object: object!,
    })
  return [
    ...[...changed, ...takenOtherwise].map(told('changed')),
    ...others(after, before).map(told('created')),
    ...others(before, after).map(told('deleted')),
  ]
}

/** What a plan does, and what follows. */
export interface PlannedDeletions {
  readonly actions: readonly Action[]
  readonly consequences: readonly {
    readonly operation: string
    readonly kind: string
    readonly object: string
    readonly key: Key
    /** Of a deletion: what it was. */
    readonly fields: Readonly<Record<string, Json>>
  }[]
}

const isDeletion = ({ operation }: Action) => operation === 'delete'
/** People come and go while a plan waits. */
const isTaken = ({ operation, kind }: PlannedDeletions['consequences'][number]) =>
  operation === 'delete' && !kinds[kind as KindName].people

function idOf(one: Action | undefined, other: Action | undefined): { id?: string } {
  const id = [other, one].find((action) => action && action.operation !== 'create')?.id
  return id === undefined ? {} : { id }
}

/** A plan makes what is not there, and deletes what is. */
function staleObject(one: Action | undefined, other: Action | undefined): StaleObject['object'] | undefined {
  const [then, now] = [one?.operation, other?.operation]
  if (then === now) return one?.id === other?.id || then === 'create' ? undefined : 'created'
  if (then === 'create') return 'created'
  if (now === 'create') return 'deleted'
  if (then === 'delete') return 'deleted'
  return now === 'delete' ? 'created' : undefined
}

function staleFields(then: readonly FieldChange[], now: readonly FieldChange[]): Partial<StaleObject>[] {
  const before = new Map(then.map((change) => [change.path, change]))
  const after = new Map(now.map((change) => [change.path, change]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): Partial<StaleObject>[] => {
    const [one, other] = [before.get(path), after.get(path)]
    const isRelation = (change: FieldChange | undefined) => change !== undefined && isRelationChange(change)
    if (isRelation(one) || isRelation(other)) return staleElements(path, one, other)
    // A field that a plan does not change has the value that the other plan would set.
    const from = one ? liveOrSet(one, 'from') : liveOrSet(other, 'to')
    const to = other ? liveOrSet(other, 'from') : liveOrSet(one, 'to')
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }]
  })
}

/** What a plan adds is not there, and what it removes is. */
function staleElements(
  path: string,
  one: FieldChange | undefined,
  other: FieldChange | undefined,
): Partial<StaleObject>[] {
  const [before, after] = [elementsOf(one), elementsOf(other)]
  const added = [...missing(before.add, after.add), ...missing(after.remove, before.remove)]
  const removed = [...missing(after.add, before.add), ...missing(before.remove, after.remove)]
  return added.length || removed.length ? [{ path, add: added, remove: removed }] : []
}

function liveOrSet(change: FieldChange | undefined, side: 'from' | 'to'): Json {
  return change && !isRelationChange(change) ? change[side] : null
}

function elementsOf(change: FieldChange | undefined): Pick<RelationChange, 'add' | 'remove'> {
  return change && isRelationChange(change) ? change : { add: [], remove: [] }
}
