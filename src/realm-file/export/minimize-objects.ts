// Finds the objects and fields of a realm that a document must declare, so that its creation results in the live realm. Pure.
import {
  adminClientObjects,
  builtInObjects,
  getAdminClientId,
  getDefaultRoleName,
  MASTER,
} from '../../kinds/built-in/index.ts'
import { addDefaults, type FlatFields, flatten, getField, readKeys } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { findParent, formatAddress, type TreeObject } from '../../kinds/tree.ts'
import type { CreatedObject } from '../../service/objects/writers.ts'
import {
  type CreationDefaults,
  getCreatedFields,
  listChangesOfBuiltIn,
  listDifferingFields,
  minimizeFields,
  removeDefaultMembers,
} from './minimize-fields.ts'

/** An object of an export: flat, with its secrets as the export shows them. */
export interface ExportedObject {
  readonly kind: KindName
  readonly key: Key
  readonly id?: string | undefined
  readonly fields: FlatFields
}

/** The effects of creating the objects of a realm, besides these objects. */
export interface CreationEffects {
  readonly defaults: CreationDefaults
  /** The objects that are created together with others. */
  readonly createdWith: readonly CreatedObject[]
}

/**
 * Returns the objects that a document must declare, each with the fields that it must declare. Changes of what every new realm has are
 * included; null means that there is no value.
 */
export function minimizeObjects(
  realm: string,
  objects: readonly ExportedObject[],
  effects: CreationEffects,
): ExportedObject[] {
  const builtIn = indexCreated(builtInObjects(realm))
  const createdWith = indexCreatedWith(realm, objects, effects)
  const minimized = objects.map((object) => {
    const address = formatAddress(object.kind, object.key)
    const fields = minimizeObject(realm, object, { builtIn: builtIn.get(address), defaults: effects.defaults })
    // A client creates its service account with another id, unless the account is declared.
    const hasOwnId = object.kind === 'user' && object.id !== undefined
    const isCreated = !hasOwnId && isSameObject(object, createdWith.get(address))
    const isUnchanged = builtIn.has(address) && object.kind !== 'realm' && object.id === undefined
    return { object: { ...object, fields }, isNeeded: !isCreated && !(isUnchanged && Object.keys(fields).length <= 1) }
  })
  const ancestors = new Set(minimized.filter(({ isNeeded }) => isNeeded).flatMap(({ object }) => listAncestors(object)))
  return minimized.flatMap(({ object, isNeeded }) => {
    if (isNeeded) return [object]
    // Without other fields, an ancestor is only a reference.
    return ancestors.has(formatAddress(object.kind, object.key)) ? [{ ...object, fields: getNameField(object) }] : []
  })
}

function minimizeObject(
  realm: string,
  object: ExportedObject,
  { builtIn, defaults }: { readonly builtIn: FlatFields | undefined; readonly defaults: CreationDefaults },
): FlatFields {
  const kind = kinds[object.kind]
  const listChanges = isDefaultRole(realm, object) ? listDifferingFields : listChangesOfBuiltIn
  const fields = builtIn
    ? { ...getNameField(object), ...listChanges(kind, builtIn, object.fields) }
    : minimizeFields(kind, object.fields, defaults)
  return removeDefaultMembers(kind, fields, defaults)
}

/**
 * Returns the objects with all their fields, including empty relations that creation would fill: roles of a user, and the composites of
 * the default role.
 */
export function completeObjects(
  realm: string,
  objects: readonly ExportedObject[],
  { defaults }: CreationEffects,
): ExportedObject[] {
  const builtInByAddress = indexCreated(builtInObjects(realm))
  return objects.map((object) => {
    const kind = kinds[object.kind]
    const builtIn = builtInByAddress.get(formatAddress(object.kind, object.key))
    if (builtIn && !isDefaultRole(realm, object)) return object
    const created = builtIn ?? getCreatedFields(kind, object.fields, defaults)
    const emptyRelations = Object.entries(listDifferingFields(kind, created, object.fields)).filter(
      ([path, value]) => getField(kind, path).relation && readKeys(value).length === 0,
    )
    return { ...object, fields: { ...object.fields, ...Object.fromEntries(emptyRelations) } }
  })
}

/** Whether the object is the default role, whose composites are exactly the declared ones. */
function isDefaultRole(realm: string, { kind, key }: ExportedObject): boolean {
  return kind === 'role' && key.length === 1 && key[0] === getDefaultRoleName(realm)
}

function isSameObject({ kind, fields }: ExportedObject, created: FlatFields | undefined): boolean {
  return created !== undefined && !Object.keys(listDifferingFields(kinds[kind], created, fields)).length
}

function getNameField({ kind, fields }: ExportedObject): FlatFields {
  const { naturalKey } = kinds[kind]
  return { [naturalKey]: fields[naturalKey]! }
}

/** Returns the addresses of the objects that contain an object in a document, the parent first. */
function listAncestors({ kind, key }: { kind: KindName; key: Key }): string[] {
  const parent = findParent(key)
  if (!parent || !Object.values(kinds[parent.kind].children).includes(kind)) return []
  return [formatAddress(parent.kind, parent.key), ...listAncestors(parent)]
}

/** Returns the fields of objects of a new realm, by address. */
function indexCreated(objects: readonly TreeObject[]): Map<string, FlatFields> {
  return new Map(
    objects.map(({ kind, key, representation }) => {
      const flat = flatten(kinds[kind], representation)
      return [formatAddress(kind, key), kind === 'realm' ? flat : addDefaults(kinds[kind], flat)]
    }),
  )
}

/** Returns the fields of objects that are created together with others, by address. */
function indexCreatedWith(
  realm: string,
  objects: readonly ExportedObject[],
  { defaults, createdWith }: CreationEffects,
): ReadonlyMap<string, FlatFields> {
  const created = realm === MASTER ? indexCreated(listAdminClients(objects)) : new Map<string, FlatFields>()
  for (const { kind: kindName, parentKey = [], representation, lateFields = {} } of createdWith) {
    const kind = kinds[kindName]
    const fields = {
      ...getCreatedFields(kind, flatten(kind, representation), defaults),
      ...flatten(kind, lateFields),
    }
    created.set(formatAddress(kindName, [...parentKey, String(fields[kind.naturalKey])]), fields)
  }
  return created
}

/** Returns the clients in master, with their roles, that are created and deleted with other realms. */
function listAdminClients(objects: readonly ExportedObject[]): TreeObject[] {
  const suffix = getAdminClientId('')
  const names = objects.flatMap(({ kind, key }) =>
    kind === 'client' && key[0]!.endsWith(suffix) ? [key[0]!.slice(0, -suffix.length)] : [],
  )
  return names.filter((name) => name !== '' && name !== MASTER).flatMap(adminClientObjects)
}
