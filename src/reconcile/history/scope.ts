// What of a realm somebody asks about, by paths in the steps of a realm file.
import { kinds } from '../../kinds/index.ts'
import { isKnownByPath, type Key, type KindName } from '../../kinds/kind.ts'
import { address } from '../../kinds/tree.ts'
import { placeOf } from './why.ts'

/** What somebody asks about: what stands at a path, or below it. */
export interface Scope {
  readonly people: boolean
  /** The objects that are asked for by themselves. */
  readonly objects: readonly { readonly kind: KindName; readonly key: Key }[]
  holds(kind: KindName, key: Key): boolean
  /** Of an object that is asked for by itself: whether the field is. Absent for objects that are not. */
  fields(kind: KindName, key: Key): ((path: string) => boolean) | undefined
}

/** What stands at the paths, or below; without any, all of the realm. Throws invalid. */
export function scopeOf(realm: string, paths: readonly string[], people: boolean): Scope {
  if (!paths.length) return { people, objects: [], holds: () => true, fields: () => undefined }
  const places = paths.map((path) => {
    // A list alone means all that stands in it.
    const list = Object.entries(kinds.realm.children).find(([field]) => field === path)?.[1]
    return list ? { kind: list, key: undefined, field: undefined } : placeOf(realm, path)
  })
  const within = (kind: KindName, key: Key, place: (typeof places)[number]): boolean => {
    if (place.key === undefined) return kind === place.kind || (key.length > 1 && key[0] === place.kind)
    if (address(kind, key) === address(place.kind, place.key)) return true
    const isBelow = isKnownByPath(kinds[kind]) && kind === place.kind && key.at(-1)!.startsWith(`${place.key.at(-1)}/`)
    if (isBelow && place.field === undefined) return true
    return place.field === undefined && key.length > 1 && within(key[0] as KindName, key.slice(1, -1), place)
  }
  return {
    objects: places.flatMap(({ kind, key }) => (key ? [{ kind, key }] : [])),
    people: people || places.some(({ kind }) => kinds[kind].people),
    holds: (kind, key) => places.some((place) => within(kind, key, place)),
    fields(kind, key) {
      const own = places.filter((place) => place.key && address(kind, key) === address(place.kind, place.key))
      if (!own.length) return undefined
      return (path) => own.some(({ field }) => field === undefined || path === field || path.startsWith(`${field}.`))
    },
  }
}
