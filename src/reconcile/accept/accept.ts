// Accepts drift: returns a document that declares unmanaged objects, and the edits of documents that make them declare live values.
import { readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { toRelationValue } from '../../kinds/relations.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import { buildDocument } from '../../realm-file/export/build-document.ts'
import type { ExportedObject } from '../../realm-file/export/minimize-objects.ts'
import { escapeVariables, transformTextsByPath } from '../../realm-file/substitute-variables.ts'
import type { Context } from '../../service/context/context.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { getInventoryDifference } from '../../service/journal/source-inventory.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { type Drift, listRealmDrift } from '../drift/drift.ts'
import { createMissingObjectError, createPathScope, type PathScope } from '../history/object-path.ts'
import type { Attribution } from '../model/action.ts'
import { type RealmContent, readRealmContent } from './unmanaged.ts'

/** An edit of a document, so that it declares the live value or no longer declares a deleted object. */
export interface SourceEdit {
  readonly source: string
  readonly file: string
  readonly line: number
  readonly kind: KindName
  readonly key: Key
  /** The field; absent where the object was deleted, and its declaration must be removed. */
  readonly path?: string
  /** The declared value, and the live value to declare instead; absent for secrets and encrypted values. */
  readonly declared?: Json
  readonly live?: Json
  /** Whether the value is encrypted in the file of a source. */
  readonly encrypted?: true
  readonly by?: Attribution
}

/** The document and the edits that make sources declare the live state. */
export interface AcceptedDrift {
  /** A document to add to a source, with unmanaged objects and fields that differ from their defaults; absent where there are none. */
  readonly document?: Representation
  readonly edits: readonly SourceEdit[]
}

/**
 * Returns what to commit so that the live state is declared. `paths` restricts it to objects and fields at or below these paths; for an
 * object that a path names, also its unmanaged fields are declared. Users are included only with `users`, or where a path names them.
 * Throws invalid where a path is not valid, not_found where it names an object that does not exist. A few statements per kind.
 */
export async function findAcceptedDrift(
  context: Context,
  { paths, users }: { paths: readonly string[]; users: boolean },
): Promise<AcceptedDrift> {
  requirePermissions(context, 'accept-drift')
  const scope = createPathScope(context.realm.name, paths, users)
  if (scope.users) requirePermissions(context, 'view-users')
  const content = await readRealmContent(context, scope.users)
  const { rows } = await getInventoryDifference(context, [])
  const objects = [...listUnmanagedObjects(content, scope), ...listUnmanagedFields(content, scope, rows)]
  const drift = (await listRealmDrift(context)).filter(
    ({ kind, key, path }) =>
      scope.includes(kind, key) && (path === undefined || scope.findFieldFilter(kind, key)?.(path) !== false),
  )
  const existing = new Set([...content.live.keys(), ...drift.map(({ kind, key }) => formatAddress(kind, key))])
  const unknown = scope.objects.find(({ kind, key }) => !existing.has(formatAddress(kind, key)))
  if (unknown) throw createMissingObjectError(context.realm.name, unknown)
  const edits = drift.map(toSourceEdit)
  return objects.length ? { document: createDocument(context.realm.name, objects, content), edits } : { edits }
}

function listUnmanagedObjects({ unmanaged }: RealmContent, scope: PathScope): ExportedObject[] {
  return unmanaged.filter(({ kind, key }) => scope.includes(kind, key) && !isPartial(scope, kind, key))
}

/** Whether the paths name only fields of the object. */
function isPartial(scope: PathScope, kind: KindName, key: Key): boolean {
  const includesField = scope.findFieldFilter(kind, key)
  return includesField !== undefined && !includesField(kinds[kind].naturalKey)
}

/** Lists the unmanaged fields of objects that a path names, unless the whole object is unmanaged. */
function listUnmanagedFields(
  { unmanaged, minimal, exported, live }: RealmContent,
  scope: PathScope,
  rows: readonly InventoryRow[],
): ExportedObject[] {
  const unmanagedAddresses = new Set(unmanaged.map(({ kind, key }) => formatAddress(kind, key)))
  const minimalByAddress = new Map(minimal.map((object) => [formatAddress(object.kind, object.key), object]))
  const rowsByObject = Map.groupBy(rows, ({ kind, object }) => `${kind} ${object}`)
  return [...exported].flatMap(([address, object]): ExportedObject[] => {
    const { kind, key } = object
    const includesField = scope.includes(kind, key) ? scope.findFieldFilter(kind, key) : undefined
    const partial = isPartial(scope, kind, key)
    if (!includesField || (unmanagedAddresses.has(address) && !partial)) return []
    const ownRows = rowsByObject.get(`${kind} ${live.get(address)!.id}`) ?? []
    const managedPaths = new Set(ownRows.flatMap(({ fields }) => Object.keys(fields)))
    // A field that a path names is declared even if it has its default.
    const candidates = partial ? object.fields : (minimalByAddress.get(address)?.fields ?? {})
    const { naturalKey } = kinds[kind]
    const fields = Object.entries(candidates).filter(
      ([path]) => includesField(path) && !managedPaths.has(path) && path !== naturalKey,
    )
    if (!fields.length) return []
    const reference = toReference(object)
    return [{ ...reference, fields: { ...reference.fields, ...Object.fromEntries(fields) } }]
  })
}

/** Returns a realm document with the objects, and with references to the realm and to the parents that contain them. */
function createDocument(realm: string, objects: readonly ExportedObject[], { exported }: RealmContent): Representation {
  const included = new Map(objects.map((object) => [formatAddress(object.kind, object.key), object]))
  const add = (address: string, reference: ExportedObject) => {
    if (!included.has(address)) included.set(address, reference)
  }
  for (const { kind, key } of objects) {
    const parent = findParent(key)
    if (!parent || !Object.values(kinds[parent.kind].children).includes(kind)) continue
    const address = formatAddress(parent.kind, parent.key)
    const exportedParent = exported.get(address)
    if (exportedParent) add(address, toReference(exportedParent))
  }
  add(formatAddress('realm', [realm]), { kind: 'realm', key: [realm], fields: { realm } })
  const inOrder = [...exported.keys()].flatMap((address) => included.get(address) ?? [])
  return readObject(transformTextsByPath(buildDocument(inOrder), escapeVariables))
}

/** Returns the object with its natural key only. */
function toReference({ kind, key, fields }: ExportedObject): ExportedObject {
  const { naturalKey } = kinds[kind]
  return { kind, key, fields: { [naturalKey]: fields[naturalKey]! } }
}

function toSourceEdit({ source, file, line, kind, key, path, applied, live, encrypted, by }: Drift): SourceEdit {
  return {
    source,
    file,
    line,
    kind,
    key,
    ...(path !== undefined && { path }),
    ...(path !== undefined && applied !== undefined && { declared: toDeclaredForm(kind, path, applied) }),
    ...(path !== undefined && live !== undefined && { live: toDeclaredForm(kind, path, live) }),
    ...(encrypted && { encrypted }),
    ...(by && { by }),
  }
}

/** Returns the value as documents declare it: relations by the names of the related objects. */
function toDeclaredForm(kind: KindName, path: string, value: Json): Json {
  const { field } = resolveField(kinds[kind], path)
  return field.relation && value !== null ? toRelationValue(field, readKeys(value)) : value
}
