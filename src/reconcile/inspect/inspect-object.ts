// One object of a realm: its declaration, where its values come from, and its changes.
import { isSecret, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { findParent } from '../../kinds/tree.ts'
import { buildDocument } from '../../realm-file/export/build-document.ts'
import { getCreationEffects } from '../../realm-file/export/creation-effects.ts'
import { omitEncryptedFields, toExportedObject } from '../../realm-file/export/export-realm.ts'
import { type ExportedObject, minimizeObjects } from '../../realm-file/export/minimize-objects.ts'
import { escapeVariables, transformTextsByPath } from '../../realm-file/substitute-variables.ts'
import type { Context } from '../../service/context/context.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import type { StoredEntry } from '../../service/context/store-types.ts'
import { listObjectEntries } from '../../service/journal/history.ts'
import { type EncryptedFieldLookup, findEncryptedFields } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import { findLiveRealm, type LiveObject } from '../../service/objects/live-objects.ts'
import { getViewPermission } from '../../service/objects/object-list.ts'
import { isPermitted, requirePermissions } from '../../service/permissions/require-permissions.ts'
import { explainLiveObject, type ObjectExplanation } from '../history/explain-object.ts'
import { createMissingObjectError, formatObjectPath } from '../history/object-path.ts'
import type { Attribution } from '../model/action.ts'
import { toAttribution } from '../model/attribution.ts'

/** A change of an object, with the values before and after it; absent for secrets and encrypted values. */
export interface ObjectRevision {
  readonly revision: number
  readonly operation: StoredEntry['operation']
  readonly by: Attribution
  readonly changes: readonly {
    readonly path: string
    readonly from?: Json
    readonly to?: Json
    /** Whether the value is encrypted in the file of a source. */
    readonly encrypted?: true
  }[]
}

/** An object with what is known about it, as far as the caller may view it. */
export interface InspectedObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string
  /** Path of the object, as in a realm file. */
  readonly path: string
  /** A realm file that declares the object, without values that creation sets. */
  readonly document: Representation
  /** The sources of its fields. Absent: the caller may not view them. */
  readonly provenance?: ObjectExplanation
  /** The last changes, newest first. Absent: the caller may not view them. */
  readonly history?: readonly ObjectRevision[]
}

/** Maximum number of changes of an object that are returned. */
const MAX_CHANGES = 100

/** Returns an object by kind and natural key. Throws forbidden or not_found. A constant number of statements. */
export async function inspectObject(context: Context, kind: KindName, key: Key): Promise<InspectedObject> {
  requirePermissions(context, getViewPermission(kind))
  const [live] = await writers[kind].list(context, { keys: [key] })
  if (!live) throw createMissingObjectError(context.realm.name, { kind, key })
  const path = formatObjectPath(kind, key)
  const isEncrypted = await findEncryptedFields(context)
  return {
    kind,
    key: live.key,
    id: live.id,
    path,
    document: await renderDeclaration(context, live, isEncrypted),
    ...(isPermitted(context, 'administer-realm') && { provenance: await explainLiveObject(context, live) }),
    ...(isPermitted(context, 'roll-back-realm') && { history: await listChanges(context, live, isEncrypted) }),
  }
}

/** Returns the realm file that declares an object, with references to the objects that contain it. */
async function renderDeclaration(
  context: Context,
  live: LiveObject,
  isEncrypted: EncryptedFieldLookup,
): Promise<Representation> {
  const realm = (await findLiveRealm(context))!
  const exported = toExportedObject(context, live, {})
  const [minimal = exported] = minimizeObjects(
    context.realm.name,
    [exported],
    getCreationEffects(live.kind === 'realm' ? [live] : [realm, live]),
  ).slice(-1)
  const ancestors =
    live.kind === 'realm' ? [] : [toReference('realm', [context.realm.name]), ...listAncestors(live.key)]
  const document = buildDocument([...ancestors, omitEncryptedFields(minimal, live.id, isEncrypted)])
  return readObject(transformTextsByPath(document, escapeVariables))
}

function listAncestors(key: Key): ExportedObject[] {
  const parent = findParent(key)
  return parent ? [...listAncestors(parent.key), toReference(parent.kind, parent.key)] : []
}

function toReference(kind: KindName, key: Key): ExportedObject {
  return { kind, key, fields: { [kinds[kind].naturalKey]: key.at(-1)! } }
}

/** Returns the changes of an object: each entry has the previous values, and the later state has the values after it. */
async function listChanges(
  context: Context,
  live: LiveObject,
  isEncrypted: EncryptedFieldLookup,
): Promise<ObjectRevision[]> {
  const kind = kinds[live.kind]
  const entries = await listObjectEntries(context, { kind: live.kind, id: live.id, max: MAX_CHANGES })
  const state = { ...digestSecrets(context.vault, kind, live.representation) }
  return entries.map((entry) => {
    const { number, operation, fields } = entry
    const changes = Object.entries(fields).map(([path, from]) => {
      const to = valueAt(kind, state, path)
      state[path] = from
      if (isEncrypted(live.kind, live.id, path)) return { path, encrypted: true as const }
      return isSecret(kind, path) ? { path } : { path, from, to }
    })
    return { revision: number, operation, by: toAttribution(entry), changes: operation === 'update' ? changes : [] }
  })
}
