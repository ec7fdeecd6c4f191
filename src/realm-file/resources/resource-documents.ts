// Converts Regent's own resources to documents in the format of a realm: a whole realm, or one object with its realm and parent.
import { getNameFromPath, getParentPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { listParentFields } from '../../kinds/resource-kinds.ts'
import { joinTree, readName, splitTree, type TreeObject } from '../../kinds/tree.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { addArticle, describeType, joinWords } from '../message-words.ts'
import { type Document, deriveDocument } from '../yaml/document.ts'
import { DocumentError, toJsonPointer } from '../yaml/problem.ts'
import { removeKubernetesSettings } from './kubernetes-settings.ts'

/** A parsed resource. */
export interface ParsedResource {
  readonly document: Document
  /** The kind of the resource, as the document has it. */
  readonly name: string
  readonly metadata: Representation
  readonly spec: Representation
}

/** Returns the realm of a resource. Its spec is the representation; the default name is that of the resource. */
export function toRealmDocument({ document, metadata, spec: fullSpec }: ParsedResource): Document {
  const { naturalKey } = kinds.realm
  const spec = removeKubernetesSettings(kinds.realm, fullSpec)
  const isNamedByMetadata = spec[naturalKey] == null
  const value = { ...spec, ...(isNamedByMetadata && { [naturalKey]: metadata.name ?? null }) }
  return deriveDocument(document, value, (path) => {
    if (!path.length) return []
    return isNamedByMetadata && path[0] === naturalKey ? METADATA_NAME : ['spec', ...path]
  })
}

/**
 * Returns a realm that contains only the object of a resource. The document only refers to the realm and the parent around it.
 * `resolveRealm` returns the name of a realm by its Realm resource.
 * @throws DocumentError if the resource has no realm, or not the parent that its kind requires.
 */
export function toObjectDocument(kind: Kind, resource: ParsedResource, resolveRealm: ResolveRealm): Document {
  const { document, metadata, spec: fullSpec } = resource
  const realm = parseRealmReference(resource, resolveRealm)
  const parent = parseParent(kind, resource)
  const { realm: _, realmRef: __, ...spec } = removeKubernetesSettings(kind, fullSpec)
  if (parent) delete spec[parent.field]
  const ancestors = parseAncestors(kind, resource)
  const isNamedByMetadata = !ancestors && spec[kind.nameField] == null && isName(metadata.name)
  const namePath = isNamedByMetadata ? METADATA_NAME : ['spec', ancestors ? 'path' : kind.nameField]
  const object = { ...(isNamedByMetadata && { [kind.nameField]: metadata.name! }), ...spec }
  const { value, objectPath } = wrapObject(kind, ancestors ? nestGroup(object, ancestors) : object, {
    realm: realm.name,
    parent,
  })
  objectPath.push(...(ancestors ?? []).flatMap(() => ['subGroups', 0]))
  const derived = deriveDocument(document, value, (path) => {
    if (path[0] === kinds.realm.naturalKey) return realm.path
    const subpath = path.slice(objectPath.length)
    if (!subpath.length) return []
    return subpath[0] === kind.nameField ? namePath : ['spec', ...subpath]
  })
  return Object.assign(derived, { objectPaths: [objectPath] })
}

/** Returns the name of the realm whose resource has this name and namespace. The namespace is null if no resource declares one. */
type ResolveRealm = (name: string, namespace: Json) => string

/** Creates an error for one problem in a resource. */
export function createResourceError(document: Document, path: DocumentPath, message: string): DocumentError {
  return new DocumentError([{ position: document.locate(path), message, path: toJsonPointer(path) }])
}

const METADATA_NAME = ['metadata', 'name'] as const

function parseRealmReference({ document, name, metadata, spec }: ParsedResource, resolveRealm: ResolveRealm) {
  const { realm } = spec
  if (isName(realm)) return { name: String(realm), path: ['spec', 'realm'] }
  const { name: resource, namespace = metadata.namespace ?? null } = readObject(spec.realmRef)
  if (isName(resource)) return { name: resolveRealm(String(resource), namespace), path: ['spec', 'realmRef', 'name'] }
  const path = ['realm', 'realmRef'].filter((field) => field in spec).slice(0, 1)
  throw createResourceError(document, ['spec', ...path], `${name}: spec has no realm: add "realmRef: {name: <realm>}"`)
}

interface ParentReference {
  /** The field of the spec. */
  readonly field: string
  readonly kind: KindName
  readonly name: string
}

function parseParent(kind: Kind, { document, name, spec }: ParsedResource): ParentReference | undefined {
  const fields = listParentFields(kind)
  const [first, second] = fields.filter(([field]) => spec[field] != null)
  if (first && second) {
    const message = `${name}: ${first[0]} and ${second[0]} exclude each other: keep one of them`
    throw createResourceError(document, ['spec', second[0]], message)
  }
  if (first) {
    const [field, parent] = first
    if (isName(spec[field])) return { field, kind: parent, name: String(spec[field]) }
    const message = `${name}: spec.${field} must be a name, not ${describeType(spec[field])}`
    throw createResourceError(document, ['spec', field], message)
  }
  if (!fields.length || kind.parentOptional) return undefined
  const owners = joinWords(kind.parents.map((parent) => addArticle(kinds[parent].title)))
  const advice = joinWords(fields.map(([field, parent]) => `"${field}: <${kinds[parent].naturalKey}>"`))
  throw createResourceError(document, ['spec'], `${name}: ${addArticle(kind.title)} needs ${owners}: add ${advice}`)
}

/** Returns the names of a group's ancestors, the outermost first, if its spec has a path instead of a name. */
function parseAncestors(kind: Kind, { document, name, spec }: ParsedResource): string[] | undefined {
  const { path = null } = spec
  if (!kind.fields.subGroups || path === null || spec[kind.nameField] != null) return undefined
  const ancestors: string[] = []
  if (typeof path !== 'string' || !/^(?:\/[^/]+)+$/.test(path.replaceAll('~/', '~')))
    throw createResourceError(document, ['spec', 'path'], `${name}: spec.path must be a path such as /staff/night`)
  for (let above = getParentPath(path); above; above = getParentPath(above)) ancestors.unshift(getNameFromPath(above))
  return ancestors
}

/** Returns a group nested in its ancestors, with its name instead of its path. */
function nestGroup({ path, ...group }: Representation, ancestors: readonly string[]): Representation {
  const innermost: Representation = { name: getNameFromPath(String(path)), ...group }
  return ancestors.reduceRight<Representation>((nested, name) => ({ name, subGroups: [nested] }), innermost)
}

/** Returns a realm that contains only this object, and the path of the object in it. */
function wrapObject(
  kind: Kind,
  representation: Representation,
  { realm, parent }: { readonly realm: string; readonly parent: ParentReference | undefined },
): { value: Representation; objectPath: (string | number)[] } {
  const createAncestor = (name: KindName, key: string): TreeObject => ({
    kind: name,
    key: [key],
    representation: { [kinds[name].naturalKey]: key },
    path: [],
  })
  const isInParent = parent && Object.values(kinds[parent.kind].children).includes(kind.name)
  const key: Key = [...(parent ? [parent.kind, parent.name] : []), readName(kind, representation)]
  const objects = [
    createAncestor('realm', realm),
    ...(isInParent ? [createAncestor(parent.kind, parent.name)] : []),
    { kind: kind.name, key, representation, path: [] },
  ]
  const value = joinTree(objects)
  return { value, objectPath: [...splitTree(value)[objects.length - 1]!.path] }
}

function isName(value: Json | undefined): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}
