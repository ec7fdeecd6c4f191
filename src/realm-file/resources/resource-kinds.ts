// The kinds of Regent's own resources, from the table of kinds: `RealmClient` holds a client.
import { kinds } from '../../kinds/index.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'

/** The group of Regent's resources, and the version that this Regent reads. */
export const API_GROUP = 'regent.dev'
export const API_VERSION = `${API_GROUP}/v1alpha1`

/** The resource that holds a whole realm. */
export const REALM = 'Realm'

/** The resource that says where realms are declared, and states none. */
export const SOURCE = 'RealmSource'

/** The kinds that have a resource, by its name: the usual one comes first. */
export const resourceKinds: ReadonlyMap<string, Kind> = new Map(
  Object.values(kinds).flatMap((kind) => resourceNames(kind).map((name) => [name, kind])),
)

/** The names of the resource of a kind; the usual one comes first. */
export function resourceNames({ name, resource }: Kind): string[] {
  if (name === 'realm') return [REALM]
  return [...(resource === undefined ? [] : [resource]), `${REALM}${name.charAt(0).toUpperCase()}${name.slice(1)}`]
}

/** The fields of a resource's spec that name what the object belongs to besides the realm, and the kind of that. */
export function parentFields({ parents, parentField }: Kind): [field: string, parent: KindName][] {
  return parents.map((parent) => [parentField ?? parent, parent])
}
