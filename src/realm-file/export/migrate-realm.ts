// Converts a realm of another server to the document to manage it with.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { type FlatFields, getField, isGenerated, unflatten } from '../../kinds/compare.ts'
import { parseComponentPath } from '../../kinds/component.ts'
import { USER_STORAGE } from '../../kinds/component-types.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, type Json, type Representation, readObject } from '../../kinds/json.ts'
import { KEY_PROVIDER } from '../../kinds/key-providers.ts'
import { MASK } from '../../kinds/mask.ts'
import { listVaultReferences } from '../../kinds/vault-reference.ts'
import { type DeclaredObject, parseRealm } from '../parse-realm.ts'
import { escapeVariables, transformTextsByPath } from '../substitute-variables.ts'
import { createDocument } from '../yaml/document.ts'
import { buildDocument } from './build-document.ts'
import { getCreationEffects } from './creation-effects.ts'
import { type ExportedObject, minimizeObjects } from './minimize-objects.ts'

/** Options of a migration. */
export interface MigrationOptions {
  /** Whether secrets are included, also those that could be generated. */
  readonly secrets?: boolean | undefined
  /** Whether the ids of all objects are included. */
  readonly ids?: boolean | undefined
  /** The names of key providers whose keys are included although they could be generated. Default: none. */
  readonly keyProviders?: ReadonlySet<string> | undefined
}

/**
 * Returns the smallest document whose creation results in the realm, and warnings for unknown fields, which are left out. `server` is the
 * name of the other server in messages. Secrets that are masked stay masked, except generated ones. Users keep their ids, which
 * applications may store. Pure.
 * @throws DocumentError for an invalid realm.
 */
export function migrateRealm(
  server: string,
  realm: Representation,
  options: MigrationOptions = {},
): { document: Representation; warnings: readonly string[] } {
  const { name, objects, warnings } = parseRealm(createDocument(server, realm), 'warn')
  const sorted = creationOrder.flatMap((kind) => objects.filter((object) => object.kind === kind).sort(compareKeys))
  const exported = sorted.map((object) => toExportedObject(object, options))
  const representations = exported.map(({ kind, key, fields }) => ({
    kind,
    key,
    representation: unflatten(kinds[kind], fields),
  }))
  const needed = minimizeObjects(name, exported, getCreationEffects(representations)).map(removeMissingSettings)
  const document = { ...buildDocument(needed), ...getRenamedDefaultRole(name, realm) }
  return {
    document: readObject(transformTextsByPath(document, escapeVariables)),
    warnings: warnings.map(({ message }) => message),
  }
}

/** Removes nulls of the realm: a server of an earlier version does not have these settings, and they keep their defaults. */
function removeMissingSettings({ fields, ...object }: ExportedObject): ExportedObject {
  const isMissing = ([path, value]: [string, Json]) =>
    value === null && object.kind === 'realm' && getField(kinds.realm, path).type !== 'map'
  return { ...object, fields: Object.fromEntries(Object.entries(fields).filter((field) => !isMissing(field))) }
}

function toExportedObject(
  { kind: name, key, id, fields, maskedSecrets }: DeclaredObject,
  { secrets, ids, keyProviders }: MigrationOptions,
): ExportedObject {
  const kind = kinds[name]
  const getMask = (path: string) => (getField(kind, path).unorderedLists ? [MASK] : MASK)
  const masks = Object.fromEntries(maskedSecrets.map((path) => [path, getMask(path)]))
  const allFields: FlatFields = { ...fields, ...masks }
  const representation = unflatten(kind, allFields)
  const hasKey = name === 'component' && isKeyProvider(key.at(-1)!, keyProviders)
  const exportedFields = Object.entries(allFields).filter(
    ([path, value]) =>
      !(kind.fields[path]?.appliedOnChange && isEmpty(value)) &&
      (!isGenerated(kind, path, representation) ||
        listVaultReferences(kind, path, value).length > 0 ||
        ((secrets || hasKey) && !maskedSecrets.includes(path))),
  )
  // Applications refer to users by id, such as by the sub of tokens, and users refer to their user store.
  const needsId = kind.isUserData || isUserStore(name, key.at(-1)!)
  return { kind: name, key, id: ids || needsId ? id : undefined, fields: Object.fromEntries(exportedFields) }
}

function isKeyProvider(path: string, names: ReadonlySet<string> | undefined): boolean {
  const { providerType, name } = parseComponentPath(path)
  return providerType === KEY_PROVIDER && name !== undefined && names?.has(name) === true
}

function compareKeys({ key: a }: DeclaredObject, { key: b }: DeclaredObject): number {
  const [textA, textB] = [a.join('\0'), b.join('\0')]
  return textA < textB ? -1 : Number(textA > textB)
}

function isUserStore(kind: string, name: string): boolean {
  return kind === 'component' && parseComponentPath(name).providerType === USER_STORAGE
}

/** Returns the declaration of the default role if it does not have the name that it has in every new realm. */
function getRenamedDefaultRole(realm: string, { defaultRole }: Representation): Representation {
  const name = readObject(defaultRole).name ?? null
  return name === null || name === getDefaultRoleName(realm) ? {} : { defaultRole: { name } }
}
