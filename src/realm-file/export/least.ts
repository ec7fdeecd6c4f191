// The least that must be stated of one object so that its creation gives the same. Pure.
import { assemble, creation, type FlatFields, flatten, keysOf, missing, resolve, same } from '../../kinds/compare.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'

/** Fields as the service makes them of an object that states so much. */
export type Additions = (kind: KindName, stated: Representation) => Representation

/** What a new object has that states the fields. */
export function made(kind: Kind, fields: FlatFields, additions: Additions): FlatFields {
  return creation(kind, { ...fields, ...flatten(kind, additions(kind.name, assemble(kind, fields))) })
}

/** The least that makes creation give the live fields. */
export function least(kind: Kind, live: FlatFields, additions: Additions): FlatFields {
  const whole = assemble(kind, live)
  const likely = { ...flatten(kind, kind.defaults(whole)), ...flatten(kind, additions(kind.name, whole)) }
  let fields: FlatFields = { [kind.naturalKey]: live[kind.naturalKey]!, ...difference(kind, likely, live) }
  // A default may depend on what is stated: what comes out otherwise is stated too, until nothing more does.
  for (let count = 0; count < Object.keys(fields).length; ) {
    count = Object.keys(fields).length
    fields = { ...fields, ...difference(kind, made(kind, fields, additions), live) }
  }
  return withoutNeedless(kind, fields, (less) => made(kind, less, additions), live)
}

/** Without what says that there is none, or names elements, where that comes by itself. */
function withoutNeedless(
  kind: Kind,
  fields: FlatFields,
  make: (fields: FlatFields) => FlatFields,
  live: FlatFields,
): FlatFields {
  const suffices = (less: FlatFields) => !Object.keys(difference(kind, make(less), live)).length
  return Object.entries(fields).reduce((left, [path, value]) => {
    const isRelation = resolve(kind, path).field.relation === true
    if (value !== null && !isRelation) return left
    const { [path]: _, ...rest } = left
    if (suffices(rest)) return rest
    if (!isRelation) return left
    const fewer = { ...rest, [path]: missing(keysOf(value), keysOf(make(rest)[path])) }
    return suffices(fewer) ? fewer : left
  }, fields)
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

/** What differs from a built-in object: of a relation what came to it, since the rest comes by itself. */
export function added(kind: Kind, given: FlatFields, live: FlatFields): FlatFields {
  const differing = Object.entries(difference(kind, given, live)).map(([path, value]): [string, Json] => {
    if (!resolve(kind, path).field.relation) return [path, value]
    return [path, missing(keysOf(value), keysOf(given[path]))]
  })
  return Object.fromEntries(
    differing.filter(([path, value]) => !resolve(kind, path).field.relation || !isEmptyList(value)),
  )
}

/** Lists of objects without the members that need not be stated, where the service would add the same. */
export function withoutUsualMembers(kind: Kind, fields: FlatFields, additions: Additions): FlatFields {
  const lean = Object.entries(fields).map(([path, value]): [string, Json] => {
    const optional = resolve(kind, path).field.optionalMembers
    if (!optional || !Array.isArray(value)) return [path, value]
    const elements = (value as Representation[]).map((one) =>
      Object.fromEntries(Object.entries(one).filter(([member]) => !optional.includes(member))),
    )
    const added = flatten(kind, additions(kind.name, { [path]: elements }))
    return [path, JSON.stringify(added[path]) === JSON.stringify(value) ? elements : value]
  })
  return Object.fromEntries(lean)
}

/** The fields whose values differ, as `live` has them; a field that it lacks is null, a relation empty. */
export function difference(kind: Kind, given: FlatFields, live: FlatFields): FlatFields {
  const paths = new Set([...Object.keys(live), ...Object.keys(given)])
  const value = (fields: FlatFields, path: string): Json =>
    fields[path] ?? (resolve(kind, path).field.relation ? [] : null)
  return Object.fromEntries(
    [...paths]
      .filter((path) => !same(kind, path, value(live, path), value(given, path)))
      .map((path) => [path, value(live, path)]),
  )
}
