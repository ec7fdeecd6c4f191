// What objects are kept as: rows, and elements of relations. Pure.
import { assemble, type FlatFields, resolve } from '../../kinds/compare.ts'
import { type Key, type Kind, relationFields } from '../../kinds/kind.ts'
import { targetKey } from '../../kinds/relations.ts'
import type { ObjectRow } from '../../store/objects.ts'
import type { RelationElement } from '../../store/relations.ts'
import { columnsOf } from '../../store/tables.ts'
import type { ReferenceIds } from './references.ts'

/** The row of an object that says so much. */
export function rowOf(kind: Kind, id: string, flat: FlatFields, references: ObjectRow['references']): ObjectRow {
  const columns = Object.fromEntries(
    columnsOf(kind.name).map((field) => [field, flat[field] == null ? null : String(flat[field])]),
  )
  const body = Object.fromEntries(
    Object.entries(flat).filter(([path, value]) => {
      const { field } = resolve(kind, path)
      return value !== null && path !== kind.naturalKey && !(path in columns) && !field.refersTo && !field.apart
    }),
  )
  return {
    id,
    name: String(flat[kind.naturalKey]),
    body: assemble(kind, body),
    columns,
    references,
  }
}

/** The elements of all relations of new objects, by field; relations without any are left out. */
export function relationElements(
  kind: Kind,
  objects: readonly { readonly id: string; readonly key: Key; readonly flat: FlatFields }[],
  ids: ReferenceIds,
): { field: string; elements: RelationElement[] }[] {
  return relationFields(kind).flatMap(([field]) => {
    const elements = objects.flatMap((one) =>
      elementsOf(kind, field, one, one.flat[field] as readonly Key[] | undefined, targetIds(kind, field, ids)),
    )
    return elements.length ? [{ field, elements }] : []
  })
}

/** The ids of what a relation may name, by natural key. */
export function targetIds(kind: Kind, field: string, ids: ReferenceIds): ReadonlyMap<string, string> {
  return ids.get(kind.fields[field]!.refersTo!) ?? new Map()
}

/** The elements of a relation between an object and others, by key. */
export function elementsOf(
  kind: Kind,
  field: string,
  owner: { readonly id: string; readonly key: Key },
  keys: readonly Key[] | undefined,
  ids: ReadonlyMap<string, string>,
): RelationElement[] {
  const idOf = (key: Key) => ids.get(JSON.stringify(targetKey(kind.fields[field]!, owner.key, key)))!
  return (keys ?? []).map((key) => ({ owner: owner.id, target: idOf(key) }))
}
