// References: natural keys to ids, with one statement per referenced kind.
import { type FlatFields, readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { selectKeys } from '../../store/objects.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'

/** Ids by kind and natural key as JSON. */
export type ReferenceIds = ReadonlyMap<KindName, ReadonlyMap<string, string>>

/** An object that refers to others: its key, and its fields. */
export interface ReferringObject {
  readonly key: Key
  readonly fields: FlatFields
}

/**
 * Returns the ids of all objects to which the objects of a kind refer. `newIds`: ids of objects of that kind that are created
 * together and may refer to each other, by key as JSON. One statement per referenced kind. Throws invalid.
 */
export async function resolveReferences(
  context: Context,
  kind: Kind,
  { objects, newIds }: { readonly objects: readonly ReferringObject[]; readonly newIds?: ReadonlyMap<string, string> },
): Promise<ReferenceIds> {
  const ids = new Map<KindName, ReadonlyMap<string, string>>()
  for (const [target, keysByText] of collectTargets(kind, objects)) {
    const knownIds = target === kind.name && newIds ? newIds : new Map<string, string>()
    const keys = [...keysByText].filter(([text]) => !knownIds.has(text)).map(([, key]) => key)
    ids.set(target, new Map([...(await getIdsByKey(context, target, keys)), ...knownIds]))
  }
  return ids
}

/** Returns the keys of the referenced objects, by kind and by key as JSON. */
function collectTargets(kind: Kind, objects: readonly ReferringObject[]): Map<KindName, Map<string, Key>> {
  const targets = new Map<KindName, Map<string, Key>>()
  for (const { key: owner, fields } of objects) {
    for (const [path, value] of Object.entries(fields)) {
      const { field } = resolveField(kind, path)
      if (value === null || !field.refersTo || field.computed) continue
      const keys = field.relation ? readKeys(value).map((key) => toTargetKey(field, owner, key)) : [[String(value)]]
      if (!keys.length) continue
      const keysByText = targets.get(field.refersTo) ?? new Map<string, Key>()
      targets.set(field.refersTo, keysByText)
      for (const key of keys) keysByText.set(JSON.stringify(key), key)
    }
  }
  return targets
}

/** Returns the ids of objects by natural key as JSON. Throws invalid if one does not exist. One statement, or none if all are new. */
export async function getIdsByKey(
  context: Context,
  kind: KindName,
  keys: readonly Key[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  for (const key of keys) {
    const id = context.knownIds?.get(formatAddress(kind, key))
    if (id !== undefined) ids.set(JSON.stringify(key), id)
  }
  const remaining = keys.filter((key) => !ids.has(JSON.stringify(key)))
  const rows = remaining.length
    ? await selectKeys(context.tx, context.realm.number, { kind, filter: { keys: remaining } })
    : []
  for (const { id, key } of rows) ids.set(JSON.stringify(key), id)
  for (const key of keys) {
    if (!ids.has(JSON.stringify(key))) throw failure('invalid', `There is no ${kinds[kind].title} ${key.at(-1)}`)
  }
  return ids
}

/** Returns the ids of the objects that the fields refer to, by path. */
export function toReferenceIds(kind: Kind, fields: FlatFields, ids: ReferenceIds): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([path, value]) => {
      const { field } = resolveField(kind, path)
      if (value === null || !field.refersTo || field.relation) return []
      return [[path, ids.get(field.refersTo)!.get(JSON.stringify([value]))!]]
    }),
  )
}
