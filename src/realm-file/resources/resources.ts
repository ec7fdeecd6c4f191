// Regent's own resources as documents in the form of a realm: a realm, or one object and where it belongs.

import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { joinTree, nameIn, splitTree, type TreeObject } from '../../kinds/tree.ts'
import type { Path } from '../../lib/position.ts'
import { anyOf, found, withArticle } from '../words.ts'
import { type Document, restated } from '../yaml/document.ts'
import { DocumentError, pointerOf } from '../yaml/problem.ts'
import { withoutControls } from './controls.ts'
import { parentFields } from './resource-kinds.ts'

/** A resource that was read. */
export interface Resource {
  readonly document: Document
  /** As it calls its kind. */
  readonly name: string
  readonly metadata: Representation
  readonly spec: Representation
}

/** The realm of a resource: the spec is its representation, named like the resource where it does not say otherwise. */
export function realmDocument({ document, metadata, spec: stated }: Resource): Document {
  const { naturalKey } = kinds.realm
  const spec = withoutControls(kinds.realm, stated)
  const named = spec[naturalKey] == null
  const value = { ...spec, ...(named && { [naturalKey]: metadata.name ?? null }) }
  return restated(document, value, (path) => {
    if (!path.length) return []
    return named && path[0] === naturalKey ? METADATA_NAME : ['spec', ...path]
  })
}

/**
 * The object of a resource in its realm. What it belongs to is named, and not stated. `realmNamed`: the realm of the
 * resource with that name. Throws DocumentError.
 */
export function objectDocument(kind: Kind, resource: Resource, realmNamed: RealmNamed): Document {
  const { document, metadata, spec } = resource
  const realm = realmOf(resource, realmNamed)
  const parent = parentOf(kind, resource)
  const { realm: _, realmRef: __, ...rest } = withoutControls(kind, spec)
  const own = parent ? without(rest, parent.field) : rest
  const named = own[kind.nameField] == null && isName(metadata.name)
  const representation = { ...(named && { [kind.nameField]: metadata.name! }), ...own }
  const { value, place } = placed(realm.name, kind, representation, parent)
  const opened = restated(document, value, (path) => {
    if (path[0] === kinds.realm.naturalKey) return realm.place
    const inner = path.slice(place.length)
    if (!inner.length) return []
    return named && inner[0] === kind.nameField ? METADATA_NAME : ['spec', ...inner]
  })
  return Object.assign(opened, { states: place })
}

/** Of a resource of that name, in that namespace or in that of whoever names it. */
type RealmNamed = (name: string, namespace: Json) => string

/** What is wrong with a resource, and where. */
export function refusal(document: Document, path: Path, message: string): DocumentError {
  return new DocumentError([{ position: document.locate(path), message, path: pointerOf(path) }])
}

const METADATA_NAME = ['metadata', 'name'] as const

function realmOf({ document, name, metadata, spec }: Resource, realmNamed: RealmNamed) {
  const { realm, realmRef } = spec
  if (isName(realm)) return { name: String(realm), place: ['spec', 'realm'] }
  const { name: named, namespace = metadata.namespace ?? null } = (realmRef ?? {}) as Representation
  if (isName(named)) return { name: realmNamed(String(named), namespace), place: ['spec', 'realmRef', 'name'] }
  const place = ['realm', 'realmRef'].filter((field) => field in spec).slice(0, 1)
  throw refusal(document, ['spec', ...place], `${name}: spec says no realm: add "realmRef: {name: <realm>}"`)
}

interface Parent {
  /** Of the spec. */
  readonly field: string
  readonly kind: KindName
  readonly name: string
}

/** What the object belongs to besides the realm, as the spec names it. */
function parentOf(kind: Kind, { document, name, spec }: Resource): Parent | undefined {
  const fields = parentFields(kind)
  const [given, another] = fields.filter(([field]) => spec[field] != null)
  if (given && another) {
    throw refusal(document, ['spec', another[0]], `${name}: ${given[0]} and ${another[0]} exclude each other`)
  }
  if (given) {
    const [field, parent] = given
    if (isName(spec[field])) return { field, kind: parent, name: String(spec[field]) }
    throw refusal(document, ['spec', field], `${name}: spec.${field} must be a name, not ${found(spec[field])}`)
  }
  if (!fields.length || kind.parentOptional) return undefined
  const owners = anyOf(kind.parents.map((parent) => withArticle(kinds[parent].title)))
  const advice = anyOf(fields.map(([field, parent]) => `"${field}: <${kinds[parent].naturalKey}>"`))
  throw refusal(document, ['spec'], `${name}: ${withArticle(kind.title)} belongs to ${owners}: add ${advice}`)
}

/** A realm that holds the object only, and where in it the object stands. */
function placed(realm: string, kind: Kind, representation: Representation, parent: Parent | undefined) {
  const above = (name: KindName, key: string): TreeObject => ({
    kind: name,
    key: [key],
    representation: { [kinds[name].naturalKey]: key },
    path: [],
  })
  const standsInside = parent && Object.values(kinds[parent.kind].children).includes(kind.name)
  const key: Key = [...(parent ? [parent.kind, parent.name] : []), nameIn(kind, representation)]
  const objects = [
    above('realm', realm),
    ...(standsInside ? [above(parent.kind, parent.name)] : []),
    { kind: kind.name, key, representation, path: [] },
  ]
  const value = joinTree(objects)
  return { value, place: splitTree(value)[objects.length - 1]!.path }
}

function without(value: Representation, field: string): Representation {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))
}

function isName(value: Json | undefined): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}
