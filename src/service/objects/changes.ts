// What an update changes in an object: new values, values before, and elements of relations. Pure.
import { assemble, differences, type FlatFields, flatten, foldTexts, missing } from '../../kinds/compare.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, Kind } from '../../kinds/kind.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { mapSecrets, sealed } from '../context/secrets.ts'
import type { LiveObject } from './live.ts'
import { type ReferenceIds, referenceIds } from './references.ts'
import type { Update } from './writers.ts'

/** What an update changes in one object. */
export interface Change {
  readonly live: LiveObject
  /** What differs, with its new values. */
  readonly set: FlatFields
  /** The whole new state, secrets sealed. */
  readonly flat: FlatFields
  readonly before: FlatFields
  /** The values then of the same fields, secrets as digests like those before. */
  readonly after: FlatFields
  readonly relations: readonly { field: string; add: readonly Key[]; remove: readonly Key[] }[]
  readonly touched: boolean
}

/** What an update changes: the whole new state, and the values before of what differs. */
export function changeOf({ vault }: Context, kind: Kind, { live, set, relations = {} }: Update): Change {
  const kept = flatten(kind, live.representation)
  const current = mapSecrets(kind, kept, (secret) => vault.open(secret))
  const different = differences(kind, current, foldTexts(kind, set))
  const next = Object.fromEntries(different.map(({ path, to }) => [path, to]))
  const flat: Record<string, Json> = { ...kept, ...sealed(vault, kind, next) }
  const before: Record<string, Json> = {}
  for (const { path, from } of different) before[path] = from
  const moved = Object.entries(withExcluded(kind, relations)).map(([field, { add = [], remove = [] }]) => {
    const present = (current[field] ?? []) as readonly Key[]
    return {
      field,
      present,
      // A document may declare an element that the service adds as well.
      add: missing(distinct(add), present),
      remove: remove.filter((key) => missing([key], present).length === 0),
    }
  })
  const real = moved.filter(({ add, remove }) => add.length || remove.length)
  const after: Record<string, Json> = { ...next }
  for (const { field, present, add, remove } of real) {
    before[field] = present
    flat[field] = [...missing(present, remove), ...add]
    after[field] = flat[field]
  }
  const withDigests = (fields: FlatFields) => mapSecrets(kind, fields, (secret) => vault.digest(secret))
  const touched = different.length + real.length > 0
  return {
    live,
    set: next,
    flat,
    before: withDigests(before),
    after: withDigests(after),
    relations: real,
    touched,
  }
}

function distinct(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()]
}

/** Whatever comes into a relation leaves the one that excludes it. */
function withExcluded(kind: Kind, relations: NonNullable<Update['relations']>): NonNullable<Update['relations']> {
  const all: Record<string, { add?: readonly Key[]; remove?: readonly Key[] }> = { ...relations }
  for (const [field, { add = [] }] of Object.entries(relations)) {
    const other = kind.fields[field]!.excludes
    if (other === undefined || !add.length) continue
    all[other] = { ...all[other], remove: [...(all[other]?.remove ?? []), ...add] }
  }
  return all
}

/** The object once it is changed. */
export function afterwards(context: WriteContext, kind: Kind, change: Change, ids: ReferenceIds): LiveObject {
  const { live, flat } = change
  const key = [...live.key.slice(0, -1), String(flat[kind.naturalKey])]
  const references = referencesThen(kind, change, ids)
  return { ...live, version: context.version, key, representation: assemble(kind, flat), references }
}

/** The references after a change: what it says resolved, the others as they are. */
export function referencesThen(kind: Kind, { live, set }: Change, ids: ReferenceIds): Record<string, string> {
  const kept = Object.entries(live.references).filter(([path]) => !(path in set))
  return { ...Object.fromEntries(kept), ...referenceIds(kind, set, ids) }
}
