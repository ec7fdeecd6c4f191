// What of a live realm must be stated so that its creation gives the same: the rest would come by itself. Pure.
import { adminClientObjects, adminClientOf, builtInObjects, MASTER } from '../kinds/built-in/index.ts'
import { assemble, creation, type FlatFields, flatten, missing, resolve, same } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, Kind, KindName, Representation } from '../kinds/kind.ts'
import { address, type TreeObject } from '../kinds/tree.ts'

/** A live object as it is written: flat, its secrets as they shall be shown. */
export interface WrittenObject {
  readonly kind: KindName
  readonly key: Key
  readonly id?: string | undefined
  readonly fields: FlatFields
}

/** What the service does besides, when objects are made. */
export interface Following {
  /** What it adds to a new object that states so much, beyond the defaults of its kind. */
  readonly additions: (kind: KindName, stated: Representation) => Representation
  /** The objects that come with others. */
  readonly brought: readonly { readonly kind: KindName; readonly representation: Representation }[]
}

type Additions = Following['additions']

/**
 * The objects that must be stated, each with the fields that must be: what a new realm has is left out, and what differs
 * from it is not; null says that there is none.
 */
export function minimal(
  realm: string,
  objects: readonly WrittenObject[],
  { additions, brought }: Following,
): WrittenObject[] {
  const builtIn = asMade(builtInObjects(realm))
  const coming = realm === MASTER ? withRealms(objects) : new Map<string, FlatFields>()
  for (const { kind, representation } of brought) {
    const fields = made(kinds[kind], flatten(kinds[kind], representation), additions)
    coming.set(address(kind, [String(fields[kinds[kind].naturalKey])]), fields)
  }
  const reduced = objects.map((one): WrittenObject & { says: boolean } => {
    const kind = kinds[one.kind]
    const id = address(one.kind, one.key)
    const [due, given] = [coming.get(id), builtIn.get(id)]
    const comes = due !== undefined && !Object.keys(difference(kind, due, one.fields)).length
    const needs = given ? { ...nameOf(one), ...added(kind, given, one.fields) } : stated(one, additions)
    const fields = withoutUsualMembers(kind, needs, additions)
    const more = !given || one.kind === 'realm' || one.id !== undefined || Object.keys(fields).length > 1
    return { ...one, fields, says: more && !comes }
  })
  const above = new Set(reduced.filter(({ says }) => says).flatMap(placesOf))
  return reduced.flatMap(({ says, ...one }) => {
    if (says) return [one]
    return above.has(address(one.kind, one.key)) ? [{ ...one, fields: nameOf(one) }] : []
  })
}

function nameOf({ kind, fields }: WrittenObject): FlatFields {
  const { naturalKey } = kinds[kind]
  return { [naturalKey]: fields[naturalKey]! }
}

/** The objects that an object stands in, the nearest first: they are named where it is stated. */
function placesOf({ kind, key }: { kind: KindName; key: Key }): string[] {
  const parent = key[0] as KindName
  if (key.length === 1 || !Object.values(kinds[parent].children).includes(kind)) return []
  const place = { kind: parent, key: key.slice(1, -1) }
  return [address(place.kind, place.key), ...placesOf(place)]
}

/** Objects as the creation of a realm leaves them, by address. */
function asMade(objects: readonly TreeObject[]): Map<string, FlatFields> {
  return new Map(
    objects.map(({ kind, key, representation }) => {
      const flat = flatten(kinds[kind], representation)
      return [address(kind, key), kind === 'realm' ? flat : creation(kinds[kind], flat)]
    }),
  )
}

/** What other realms bring into master: it comes and goes with them. */
function withRealms(objects: readonly WrittenObject[]): Map<string, FlatFields> {
  const suffix = adminClientOf('')
  const names = objects.flatMap(({ kind, key }) =>
    kind === 'client' && key[0]!.endsWith(suffix) ? [key[0]!.slice(0, -suffix.length)] : [],
  )
  return asMade(names.filter((name) => name !== '' && name !== MASTER).flatMap(adminClientObjects))
}

/** What a new object has that states the fields. */
function made(kind: Kind, fields: FlatFields, additions: Additions): FlatFields {
  return creation(kind, { ...flatten(kind, additions(kind.name, assemble(kind, fields))), ...fields })
}

/** The least that makes creation give the live fields. */
function stated(one: WrittenObject, additions: Additions): FlatFields {
  const [kind, live] = [kinds[one.kind], one.fields]
  const whole = assemble(kind, live)
  const likely = { ...flatten(kind, kind.defaults(whole)), ...flatten(kind, additions(kind.name, whole)) }
  let fields: FlatFields = { ...nameOf(one), ...difference(kind, likely, live) }
  // A default may depend on what is stated: what comes out otherwise is stated too, until nothing more does.
  for (let count = 0; count < Object.keys(fields).length; ) {
    count = Object.keys(fields).length
    fields = { ...fields, ...difference(kind, made(kind, fields, additions), live) }
  }
  // That there is none may follow from the rest.
  for (const path of Object.keys(fields).filter((one) => fields[one] === null || isEmptyList(fields[one]))) {
    const { [path]: _, ...rest } = fields
    if (!Object.keys(difference(kind, made(kind, rest, additions), live)).length) fields = rest
  }
  return fields
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

/** What differs from a built-in object: of a relation the elements that came to it, since those that it had come by themselves. */
function added(kind: Kind, given: FlatFields, live: FlatFields): FlatFields {
  const keys = (value: Json | undefined) => (value ?? []) as unknown as Key[]
  const differing = Object.entries(difference(kind, given, live)).map(([path, value]): [string, Json] => {
    if (!resolve(kind, path).field.relation) return [path, value]
    return [path, missing(keys(value), keys(given[path])) as unknown as Json]
  })
  return Object.fromEntries(
    differing.filter(([path, value]) => !resolve(kind, path).field.relation || !isEmptyList(value)),
  )
}

/** Lists of objects without the members that need not be stated, where the service would add the same. */
function withoutUsualMembers(kind: Kind, fields: FlatFields, additions: Additions): FlatFields {
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
function difference(kind: Kind, given: FlatFields, live: FlatFields): FlatFields {
  const paths = new Set([...Object.keys(live), ...Object.keys(given)])
  const value = (fields: FlatFields, path: string): Json =>
    fields[path] ?? (resolve(kind, path).field.relation ? [] : null)
  return Object.fromEntries(
    [...paths]
      .filter((path) => !same(kind, path, value(live, path), value(given, path)))
      .map((path) => [path, value(live, path)]),
  )
}
