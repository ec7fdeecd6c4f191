// Finds the fields of an object that a document must declare, so that its creation results in the live object. Pure.
import {
  addDefaults,
  type FlatFields,
  flatten,
  getField,
  isSameValue,
  readKeys,
  subtractKeys,
  unflatten,
} from '../../kinds/compare.ts'
import { isList, type Json, type Representation, readObjects } from '../../kinds/json.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'

/** Returns the fields that the service sets on creation besides the declared ones. */
export type CreationDefaults = (kind: KindName, declared: Representation) => Representation

/** Returns the fields of an object that is created with the declared ones. */
export function getCreatedFields(kind: Kind, declared: FlatFields, defaults: CreationDefaults): FlatFields {
  return addDefaults(kind, { ...declared, ...flatten(kind, defaults(kind.name, unflatten(kind, declared))) })
}

/** Returns as few fields as possible whose creation results in the live fields. */
export function minimizeFields(kind: Kind, live: FlatFields, defaults: CreationDefaults): FlatFields {
  const representation = unflatten(kind, live)
  const likelyDefaults = {
    ...flatten(kind, kind.defaults(representation)),
    ...flatten(kind, defaults(kind.name, representation)),
  }
  let fields: FlatFields = {
    [kind.naturalKey]: live[kind.naturalKey]!,
    ...listDifferingFields(kind, likelyDefaults, live),
  }
  // A default may depend on declared fields: fields with another default are declared too, until none is left.
  for (let count = 0; count < Object.keys(fields).length; ) {
    count = Object.keys(fields).length
    fields = { ...fields, ...listDifferingFields(kind, getCreatedFields(kind, fields, defaults), live) }
  }
  const isSufficient = (fewer: FlatFields) =>
    !Object.keys(listDifferingFields(kind, getCreatedFields(kind, fewer, defaults), live)).length
  return removeNeedless(kind, fields, {
    isSufficient,
    create: (declared) => getCreatedFields(kind, declared, defaults),
  })
}

interface FieldTest {
  readonly create: (declared: FlatFields) => FlatFields
  readonly isSufficient: (declared: FlatFields) => boolean
}

/** Removes nulls and elements of relations that the creation results in anyway. */
function removeNeedless(kind: Kind, fields: FlatFields, { create, isSufficient }: FieldTest): FlatFields {
  return Object.entries(fields).reduce((remaining, [path, value]) => {
    const isRelation = getField(kind, path).relation === true
    if (value !== null && !isRelation) return remaining
    const { [path]: _, ...rest } = remaining
    if (isSufficient(rest)) return rest
    if (!isRelation) return remaining
    const fewerElements = { ...rest, [path]: subtractKeys(readKeys(value), readKeys(create(rest)[path])) }
    return isSufficient(fewerElements) ? fewerElements : remaining
  }, fields)
}

/** Returns the fields of a built-in object that were changed; of a relation, only the added elements. */
export function listChangesOfBuiltIn(kind: Kind, builtIn: FlatFields, live: FlatFields): FlatFields {
  const changes = Object.entries(listDifferingFields(kind, builtIn, live)).flatMap(
    ([path, value]): [string, Json][] => {
      if (!getField(kind, path).relation) return [[path, value]]
      const added = subtractKeys(readKeys(value), readKeys(builtIn[path]))
      return added.length ? [[path, added]] : []
    },
  )
  return Object.fromEntries(changes)
}

/** Removes optional members of lists of objects where the creation results in the same values. */
export function removeDefaultMembers(kind: Kind, fields: FlatFields, defaults: CreationDefaults): FlatFields {
  const entries = Object.entries(fields).map(([path, value]): [string, Json] => {
    const { optionalMembers } = getField(kind, path)
    if (!optionalMembers || !isList(value)) return [path, value]
    const elements = readObjects(value).map((element) =>
      Object.fromEntries(Object.entries(element).filter(([member]) => !optionalMembers.includes(member))),
    )
    const created = flatten(kind, defaults(kind.name, { [path]: elements }))
    return [path, JSON.stringify(created[path]) === JSON.stringify(value) ? elements : value]
  })
  return Object.fromEntries(entries)
}

/** Returns the live values of fields that differ from the base. A missing field is null, and a missing relation empty. */
export function listDifferingFields(kind: Kind, base: FlatFields, live: FlatFields): FlatFields {
  const paths = new Set([...Object.keys(live), ...Object.keys(base)])
  const readValue = (fields: FlatFields, path: string): Json =>
    fields[path] ?? (getField(kind, path).relation ? [] : null)
  return Object.fromEntries(
    [...paths]
      .filter((path) => !isSameValue(getField(kind, path), readValue(live, path), readValue(base, path)))
      .map((path) => [path, readValue(live, path)]),
  )
}
