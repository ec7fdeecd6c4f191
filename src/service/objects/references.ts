// References: natural keys to ids, one statement per kind that is referred to.
import { type FlatFields, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { targetKey } from '../../kinds/relations.ts'
import { address } from '../../kinds/tree.ts'
import { selectKeys } from '../../store/objects.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'

/** Ids by kind and natural key (as JSON). */
export type ReferenceIds = ReadonlyMap<KindName, ReadonlyMap<string, string>>

/** What refers: the key of an object, and what it says. */
export interface Referring {
  readonly key: Key
  readonly flat: FlatFields
}

/**
 * Ids of everything that the objects refer to; `own`: ids of objects of the kind that are made together, by key, which
 * may refer to each other. One statement per kind that is referred to.
 */
export async function resolveReferences(
  context: Context,
  kind: Kind,
  objects: readonly Referring[],
  own: ReadonlyMap<string, string> = new Map(),
): Promise<ReferenceIds> {
  const wanted = new Map<KindName, Map<string, Key>>()
  const want = (to: KindName, key: Key) => {
    if (!wanted.has(to)) wanted.set(to, new Map())
    wanted.get(to)!.set(JSON.stringify(key), key)
  }
  for (const { key: owner, flat } of objects) {
    for (const [path, value] of Object.entries(flat)) {
      const { field } = resolve(kind, path)
      if (value === null || !field.refersTo || field.computed) continue
      if (field.relation) for (const one of value as readonly Key[]) want(field.refersTo, targetKey(field, owner, one))
      else want(field.refersTo, [value as string])
    }
  }
  const ids = new Map<KindName, ReadonlyMap<string, string>>()
  for (const [to, keys] of wanted) {
    const together = to === kind.name ? own : new Map<string, string>()
    const found = await idsOf(
      context,
      to,
      [...keys].filter(([key]) => !together.has(key)).map(([, key]) => key),
    )
    ids.set(to, new Map([...found, ...together]))
  }
  return ids
}

/** The ids of the natural keys. Throws invalid when one does not exist. One statement, or none where the transaction knows them. */
export async function idsOf(
  context: Context,
  kind: KindName,
  keys: readonly Key[],
): Promise<ReadonlyMap<string, string>> {
  const made = keys.flatMap((key): [string, string][] => {
    const id = context.made?.get(address(kind, key))
    return id === undefined ? [] : [[JSON.stringify(key), id]]
  })
  const ids = new Map(made)
  const others = keys.filter((key) => !ids.has(JSON.stringify(key)))
  const found = others.length
    ? await selectKeys(context.tx, context.realm.number, { kind, filter: { keys: others } })
    : []
  for (const { id, key } of found) ids.set(JSON.stringify(key), id)
  for (const key of keys) {
    if (!ids.has(JSON.stringify(key))) throw failure('invalid', `There is no ${kinds[kind].title} ${key.at(-1)}`)
  }
  return ids
}

/** The ids that an object's references lead to, by path. */
export function referenceIds(kind: Kind, flat: FlatFields, ids: ReferenceIds): Record<string, string> {
  return Object.fromEntries(
    Object.entries(flat).flatMap(([path, value]) => {
      const { field } = resolve(kind, path)
      if (value === null || !field.refersTo || field.relation) return []
      return [[path, ids.get(field.refersTo)!.get(JSON.stringify([value]))!]]
    }),
  )
}
