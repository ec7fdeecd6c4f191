// Relations on the wire and as natural keys. A set names top-level objects; otherwise the value is grouped by parent:
// `{realm: names, <parent kind>: {parent: names}}`, as Keycloak writes the composites of a role; a relation among the
// children of one kind has only that group. Siblings are named within their parent, and their keys are relative to it.
import type { Field } from './fields.ts'
import type { Json, Representation } from './json.ts'
import type { Key } from './kind.ts'

type Parents = { [parent: string]: string[] }
type Grouped = { [group: string]: string[] | Parents | null }

/** The natural keys that a relation's value names, in order, each once. */
export function toRelationKeys(field: Field, value: Json): Key[] {
  const keys =
    field.type === 'set'
      ? (value as string[]).map((name) => [name])
      : groupedKeys(field.targetParent === undefined ? (value as Grouped) : { [field.targetParent]: value as Parents })
  const unique = new Map(keys.map((key) => [JSON.stringify(key), key]))
  return [...unique.keys()].sort().map((text) => unique.get(text)!)
}

/** The value that names the keys: the opposite of `relationKeys`. */
export function toRelationValue(field: Field, keys: readonly Key[]): Json {
  if (field.type === 'set') return keys.map((key) => key[0]!)
  const realm = keys.filter((key) => key.length === 1).map((key) => key[0]!)
  const groups = Map.groupBy(
    keys.filter((key) => key.length > 1),
    ([group]) => group!,
  )
  const nested = [...groups].map(([group, own]): [string, Json] => {
    // Not by assignment: a parent may be called `constructor`.
    const parents = [...Map.groupBy(own, ([, parent]) => parent!)]
    return [group, Object.fromEntries(parents.map(([parent, named]) => [parent, named.map(([, , name]) => name!)]))]
  })
  const grouped: Representation = { ...(realm.length && { realm }), ...Object.fromEntries(nested) }
  return field.targetParent === undefined ? grouped : (grouped[field.targetParent] ?? {})
}

/** The natural key of what an element of a relation names; `owner` is the key of the object that has the relation. */
export function toTargetKey(field: Field, owner: Key, element: Key): Key {
  return field.targetsSiblings ? [...owner.slice(0, -1), ...element] : element
}

function groupedKeys(value: Grouped): Key[] {
  return Object.entries(value).flatMap(([group, names]) => {
    if (names === null) return []
    if (Array.isArray(names)) return names.map((name) => [name])
    return Object.entries(names).flatMap(([parent, own]) => own.map((name) => [group, parent, name]))
  })
}
