// The kinds of Regent's own resources: `Realm`, and one for each kind of object, such as `RealmClient`.
import { kinds } from './index.ts'
import type { Kind, KindName } from './kind.ts'

/** The API group of Regent's resources. */
export const API_GROUP = 'regent.dev'
/** The supported API version of Regent's resources. */
export const API_VERSION = `${API_GROUP}/v1alpha1`

/** The kind of the resource with a whole realm. */
export const REALM_RESOURCE = 'Realm'

/** The kind of the resource that refers to a git repository with realms. */
export const SOURCE_RESOURCE = 'RealmSource'

/** The kinds of objects by the kinds of their resources. */
export const resourceKinds: ReadonlyMap<string, Kind> = new Map(
  Object.values(kinds).flatMap((kind) => listResourceNames(kind).map((name) => [name, kind])),
)

/** Returns the kinds of the resource for a kind of object, the preferred one first. */
export function listResourceNames({ name, resource }: Kind): [preferred: string, ...aliases: string[]] {
  if (name === 'realm') return [REALM_RESOURCE]
  const defaultName = `${REALM_RESOURCE}${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return resource === undefined ? [defaultName] : [resource, defaultName]
}

/** Returns the fields of a resource's spec that refer to the parent of the object, with the kind of the parent. */
export function listParentFields({ parents, parentField }: Kind): [field: string, parent: KindName][] {
  return parents.map((parent) => [parentField ?? parent, parent])
}
