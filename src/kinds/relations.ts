// Relations: their values in representations, and as lists of natural keys. A set contains names of objects of the realm. Other values are
// grouped by parent, as Keycloak groups composites: `{realm: names, <parent kind>: {parent: names}}`. A relation to objects with parents
// of one kind has only this group. Keys of siblings are relative to their parent.
import type { Field } from './fields.ts'
import { isList, type Json, type Representation, readObject, readTexts } from './json.ts'
import type { Key } from './kind.ts'

/** Converts the value of a relation to natural keys, sorted and each once. */
export function toRelationKeys(field: Field, value: Json): Key[] {
  const keys =
    field.type === 'set'
      ? readTexts(value).map((name) => [name])
      : listGroupedKeys(field.targetParent === undefined ? readObject(value) : { [field.targetParent]: value })
  const unique = new Map(keys.map((key) => [JSON.stringify(key), key]))
  return [...unique.keys()].sort().map((text) => unique.get(text)!)
}

/** Converts natural keys to the value of a relation. */
export function toRelationValue(field: Field, keys: readonly Key[]): Json {
  if (field.type === 'set') return keys.map((key) => key[0]!)
  const realm = keys.filter((key) => key.length === 1).map((key) => key[0]!)
  const groups = Map.groupBy(
    keys.filter((key) => key.length > 1),
    ([group]) => group!,
  )
  const byParent = [...groups].map(([group, keysOfGroup]): [string, Json] => {
    // Not assigned, since a parent may have the name `constructor`.
    const parents = [...Map.groupBy(keysOfGroup, ([, parent]) => parent!)]
    return [
      group,
      Object.fromEntries(parents.map(([parent, children]) => [parent, children.map(([, , name]) => name!)])),
    ]
  })
  const grouped: Representation = { ...(realm.length && { realm }), ...Object.fromEntries(byParent) }
  return field.targetParent === undefined ? grouped : (grouped[field.targetParent] ?? {})
}

/** Returns the natural key of the object that an element of a relation refers to. `owner` is the key of the object with the relation. */
export function toTargetKey(field: Field, owner: Key, element: Key): Key {
  return field.targetsSiblings ? [...owner.slice(0, -1), ...element] : element
}

function listGroupedKeys(groups: Representation): Key[] {
  return Object.entries(groups).flatMap(([group, names]): Key[] => {
    if (isList(names)) return readTexts(names).map((name) => [name])
    return Object.entries(readObject(names)).flatMap(([parent, children]) =>
      readTexts(children).map((name) => [group, parent, name]),
    )
  })
}
