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
  const needed = new Map<string, WrittenObject>()
  const all = new Map(objects.map((one) => [address(one.kind, one.key), one]))
  for (const one of objects) {
    const kind = kinds[one.kind]
    const due = coming.get(address(one.kind, one.key))
    if (due && !Object.keys(difference(kind, due, one.fields)).length) continue
    const given = builtIn.get(address(one.kind, one.key))
    const name = { [kind.naturalKey]: one.fields[kind.naturalKey]! }
    const needs = given ? { ...name, ...added(kind, given, one.fields) } : stated(kind, one.fields, additions)
    const fields = withoutUsualMembers(kind, needs, additions)
    const says = !given || one.kind === 'realm' || one.id !== undefined || Object.keys(fields).length > 1
    if (says) needed.set(address(one.kind, one.key), { ...one, fields })
  }
  // What a needed object stands in is named.
  for (const { kind, key } of [...needed.values()]) {
    for (let [child, above] = [kind, key]; above.length > 1; ) {
      const parent = above[0] as KindName
      if (!Object.values(kinds[parent].children).includes(child)) break
      above = above.slice(1, -1)
      child = parent
      const owner = all.get(address(parent, above))
      if (!owner || needed.has(address(parent, above))) break
      const { naturalKey } = kinds[parent]
      needed.set(address(parent, above), { ...owner, fields: { [naturalKey]: owner.fields[naturalKey]! } })
    }
  }
  return objects.flatMap((one) => needed.get(address(one.kind, one.key)) ?? [])
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
function stated(kind: Kind, live: FlatFields, additions: Additions): FlatFields {
  const whole = assemble(kind, live)
  const likely = { ...flatten(kind, kind.defaults(whole)), ...flatten(kind, additions(kind.name, whole)) }
  const name = { [kind.naturalKey]: live[kind.naturalKey]! }
  let fields: FlatFields = { ...name, ...difference(kind, likely, live) }
  // A default may depend on what is stated: what comes out otherwise is stated too, until nothing does.
  for (;;) {
    const more = difference(kind, made(kind, fields, additions), live)
    if (!Object.keys(more).length) break
    fields = { ...fields, ...more }
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
