// Objects as rows of the store, and as elements of its relations. Pure.
import { type FlatFields, readKeys, resolveField, unflatten } from '../../kinds/compare.ts'
import { type Key, type Kind, relationFields } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import type { ObjectRow } from '../../store/objects.ts'
import type { RelationElement } from '../../store/relations.ts'
import { listColumnFields } from '../../store/tables.ts'
import type { ReferenceIds } from './references.ts'

/** Returns the row that stores an object in the table of its kind. */
export function toObjectRow(
  kind: Kind,
  { id, fields, references }: Pick<ObjectRow, 'id' | 'references'> & { readonly fields: FlatFields },
): ObjectRow {
  const columns = Object.fromEntries(
    listColumnFields(kind.name).map((name) => [name, fields[name] == null ? null : String(fields[name])]),
  )
  const body = Object.fromEntries(
    Object.entries(fields).filter(([path, value]) => {
      const { field } = resolveField(kind, path)
      const isInBody = path !== kind.naturalKey && !(path in columns) && !field.refersTo && !field.storedSeparately
      return value !== null && isInBody
    }),
  )
  return { id, name: String(fields[kind.naturalKey]), body: unflatten(kind, body), columns, references }
}

/** The elements of a relation, by the field of the owner. */
export interface RelationElements {
  readonly field: string
  readonly elements: readonly RelationElement[]
}

/** Returns the elements of all relations of new objects. Relations without elements are left out. */
export function listRelationElements(
  kind: Kind,
  objects: readonly { readonly id: string; readonly key: Key; readonly fields: FlatFields }[],
  ids: ReferenceIds,
): RelationElements[] {
  return relationFields(kind).flatMap(([field]) => {
    const targetIds = getTargetIds(kind, field, ids)
    const elements = objects.flatMap((owner) =>
      toRelationElements({ kind, field }, owner, { keys: readKeys(owner.fields[field]), targetIds }),
    )
    return elements.length ? [{ field, elements }] : []
  })
}

/** Returns the ids of the objects that a relation can refer to, by natural key as JSON. */
export function getTargetIds(kind: Kind, field: string, ids: ReferenceIds): ReadonlyMap<string, string> {
  return ids.get(kind.fields[field]!.refersTo!) ?? new Map()
}

/** Returns the elements of a relation between its owner and the objects with these keys. */
export function toRelationElements(
  { kind, field }: { readonly kind: Kind; readonly field: string },
  owner: { readonly id: string; readonly key: Key },
  { keys, targetIds }: { readonly keys: readonly Key[]; readonly targetIds: ReadonlyMap<string, string> },
): RelationElement[] {
  const getId = (key: Key) => targetIds.get(JSON.stringify(toTargetKey(kind.fields[field]!, owner.key, key)))!
  return keys.map((key) => ({ owner: owner.id, target: getId(key) }))
}
