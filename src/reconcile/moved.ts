// What has moved since a plan was made: what was live then and what is now, and who changed it. Pure.
import { identical, missing, resolve } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { address } from '../kinds/tree.ts'
import type { Action, Attribution, Change } from './action.ts'

/** Something that is not as it was when the plan was made. Secrets are digests. */
export interface Moved {
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
export function movedBetween(realm: string, then: readonly Action[], now: readonly Action[]): Moved[] {
  const before = new Map(then.map((action) => [address(action.kind, action.key), action]))
  const after = new Map(now.map((action) => [address(action.kind, action.key), action]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [one, other] = [before.get(id), after.get(id)]
    const { kind, key } = (other ?? one)!
    const base = { realm, kind, key, ...idOf(one, other) }
    const object = objectMoved(one, other)
    if (object) return [{ ...base, object }]
    return fieldsMoved(kind, one?.changes ?? [], other?.changes ?? []).map((field) => ({ ...base, ...field }))
  })
}

/** What a plan deletes, or takes along, is part of what it does with all that it is, though the plan does not say what it is like. */
export function deletionsMoved(realm: string, then: Deleting, now: Deleting): Moved[] {
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
    (object: Moved['object']) =>
    (one: { kind: string; key: Key; id?: string; object?: string }): Moved => ({
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
export interface Deleting {
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
const isTaken = ({ operation, kind }: Deleting['consequences'][number]) =>
  operation === 'delete' && !kinds[kind as KindName].people

function idOf(one: Action | undefined, other: Action | undefined): { id?: string } {
  const id = [other, one].find((action) => action && action.operation !== 'create')?.id
  return id === undefined ? {} : { id }
}

/** A plan makes what is not there, and deletes what is. */
function objectMoved(one: Action | undefined, other: Action | undefined): Moved['object'] | undefined {
  const [then, now] = [one?.operation, other?.operation]
  if (then === now) return one?.id === other?.id || then === 'create' ? undefined : 'created'
  if (then === 'create') return 'created'
  if (now === 'create') return 'deleted'
  if (then === 'delete') return 'deleted'
  return now === 'delete' ? 'created' : undefined
}

function fieldsMoved(kind: KindName, then: readonly Change[], now: readonly Change[]): Partial<Moved>[] {
  const before = new Map(then.map((change) => [change.path, change]))
  const after = new Map(now.map((change) => [change.path, change]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): Partial<Moved>[] => {
    const [one, other] = [before.get(path), after.get(path)]
    if (resolve(kinds[kind], path).field.relation) return elementsMoved(path, one, other)
    // A field that a plan does not change is as it would make it.
    const from = one ? (one.from ?? null) : (other?.to ?? null)
    const to = other ? (other.from ?? null) : (one?.to ?? null)
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }]
  })
}

/** What a plan adds is not there, and what it removes is. */
function elementsMoved(path: string, one: Change | undefined, other: Change | undefined): Partial<Moved>[] {
  const added = [...missing(one?.add ?? [], other?.add ?? []), ...missing(other?.remove ?? [], one?.remove ?? [])]
  const removed = [...missing(other?.add ?? [], one?.add ?? []), ...missing(one?.remove ?? [], other?.remove ?? [])]
  return added.length || removed.length ? [{ path, add: added, remove: removed }] : []
}
