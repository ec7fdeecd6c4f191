// What of a live realm must be stated so that its creation gives the same: the rest would come by itself. Pure.
import { adminClientObjects, adminClientOf, builtInObjects, defaultRoleOf, MASTER } from '../../kinds/built-in/index.ts'
import { creation, type FlatFields, flatten, keysOf, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address, type TreeObject } from '../../kinds/tree.ts'
import type { Brought } from '../../service/objects/writers.ts'
import { type Additions, added, difference, least, made, withoutUsualMembers } from './least.ts'

/** A live object as it is written: flat, its secrets as they shall be shown. */
export interface WrittenObject {
  readonly kind: KindName
  readonly key: Key
  readonly id?: string | undefined
  readonly fields: FlatFields
}

/** What the service does besides, when objects are made. */
export interface Following {
  readonly additions: Additions
  /** The objects that come with others. */
  readonly brought: readonly Brought[]
}

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
  for (const { kind, under = [], representation, later = {} } of brought) {
    const created = made(kinds[kind], flatten(kinds[kind], representation), additions)
    const fields = { ...created, ...flatten(kinds[kind], later) }
    coming.set(address(kind, [...under, String(fields[kinds[kind].naturalKey])]), fields)
  }
  const reduced = objects.map((one): WrittenObject & { says: boolean } => {
    const kind = kinds[one.kind]
    const id = address(one.kind, one.key)
    const [due, given] = [coming.get(id), builtIn.get(id)]
    const comes = due !== undefined && !Object.keys(difference(kind, due, one.fields)).length
    const differing = given && (isDefaultRole(realm, one) ? difference : added)(kind, given, one.fields)
    const needs = differing ? { ...nameOf(one), ...differing } : least(kind, one.fields, additions)
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

/**
 * The objects with all their fields, also relations that are empty where creation would fill them: roles of a user, and those
 * that the default role contains.
 */
export function whole(realm: string, objects: readonly WrittenObject[], { additions }: Following): WrittenObject[] {
  const builtIn = asMade(builtInObjects(realm))
  return objects.map((one) => {
    const kind = kinds[one.kind]
    const given = builtIn.get(address(one.kind, one.key))
    if (given && !isDefaultRole(realm, one)) return one
    const emptied = Object.entries(difference(kind, given ?? made(kind, one.fields, additions), one.fields)).filter(
      ([path, value]) => resolve(kind, path).field.relation && keysOf(value).length === 0,
    )
    return { ...one, fields: { ...one.fields, ...Object.fromEntries(emptied) } }
  })
}

/** Of the default role a new realm has exactly the declared members. */
function isDefaultRole(realm: string, { kind, key }: WrittenObject): boolean {
  return kind === 'role' && key.length === 1 && key[0] === defaultRoleOf(realm)
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
