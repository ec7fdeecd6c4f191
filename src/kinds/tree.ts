// A realm as one tree, and the same as a list of objects. Children stand in their parent's field; a kind that may belong
// to the realm or to a parent stands grouped, as roles do: `{realm: [...], client: {<client>: [...]}}`; a kind with a
// parent field stands in a list of the realm, each object with the name of its parent.
import type { DocumentPath } from '../lib/source-position.ts'
import { isKindName, kinds } from './index.ts'
import type { Representation } from './json.ts'
import type { Key, Kind, KindName } from './kind.ts'

/** The field of documents that says what an object was called before. */
export const RENAMED_FROM = 'renamedFrom'

/** An object cut out of a tree; its representation holds neither id nor children. */
export interface TreeObject {
  readonly kind: KindName
  readonly key: Key
  readonly id?: string
  /** In documents: what it was called before. */
  readonly renamedFrom?: string
  readonly representation: Representation
  readonly path: DocumentPath
}

/** The objects of a realm's tree: the realm first, then as they stand. What is not of the expected form is left in place. */
export function splitTree(realm: Representation): TreeObject[] {
  return split(kinds.realm, realm, [], undefined)
}

/** The tree that the objects make; parents before children. Objects without their parent in the list are left out. */
export function joinTree(objects: readonly TreeObject[]): Representation {
  const tree: Representation = {}
  const parents = new Map<string, Representation>()
  for (const { kind, key, id, representation } of objects) {
    const { idField, parentField } = kinds[kind]
    const node: Representation = {
      ...(id && { [idField]: id }),
      ...representation,
      ...(parentField !== undefined && { [parentField]: key.at(-2)! }),
    }
    parents.set(formatAddress(kind, key), node)
    if (kind === 'realm') Object.assign(tree, node)
    else if (isGrouped(kinds[kind])) groupOf(tree, kind, key).push(node)
    else if (parentField !== undefined) listIn(tree, fieldOf(kinds.realm, kind)).push(node)
    else {
      const owner = key.length === 1 ? tree : parents.get(formatAddress(key[0] as KindName, key.slice(1, -1)))
      const ownerKind = key.length === 1 ? kinds.realm : kinds[key[0] as KindName]
      if (owner) listIn(owner, fieldOf(ownerKind, kind)).push(node)
    }
  }
  return tree
}

/** One text for one object of a realm. */
export function formatAddress(kind: KindName, key: Key): string {
  return JSON.stringify([kind, ...key])
}

/** Returns the kind and the key of an object's parent; undefined if it belongs to the realm. */
export function findParent(key: Key): { kind: KindName; key: Key } | undefined {
  const [kind, ...rest] = key
  return rest.length && kind !== undefined && isKindName(kind) ? { kind, key: rest.slice(0, -1) } : undefined
}

/** How people call an object: `client scope email`, `protocol mapper floor of client my-app`. */
export function describeObject(kind: KindName, key: Key): string {
  const { title, formatName: called = (name) => name } = kinds[kind]
  const own = `${title} ${called(key.at(-1)!)}`
  return key.length === 1 ? own : `${own} of ${describeObject(key[0] as KindName, key.slice(1, -1))}`
}

/** The natural key as it stands in a representation; empty where there is none. */
export function readName(kind: Kind, { [kind.naturalKey]: name = null }: Representation): string {
  if (name === null || typeof name === 'object') return ''
  return kind.fields[kind.naturalKey]!.lowerCase ? String(name).toLowerCase() : String(name)
}

/** What an element of a list belongs to: what the list stands in, or what the element's parent field names. */
export function readParentKey({ parents, parentField }: Kind, node: Representation, listOwner: Key): Key {
  if (parentField === undefined) return listOwner
  const parent = kinds[parents[0]!]
  return [parent.name, readName(parent, { [parent.naturalKey]: node[parentField] ?? null })]
}

function split(kind: Kind, node: Representation, path: DocumentPath, parent: Key | undefined): TreeObject[] {
  const { [kind.idField]: id, [RENAMED_FROM]: former, ...rest } = node
  const own: Representation = {}
  const nested: TreeObject[] = []
  const key = [...(parent ?? []), readName(kind, node)]
  for (const [field, value] of Object.entries(rest)) {
    const child = Object.hasOwn(kind.children, field) ? kind.children[field] : undefined
    if (!child || value === null) {
      if (!child) own[field] = value
      continue
    }
    const place = [...path, field]
    const under = kind.name === 'realm' ? [] : [kind.name, ...key]
    if (Array.isArray(value)) nested.push(...elements(child, value, place, under))
    else if (isGrouped(kinds[child])) nested.push(...grouped(child, value as Representation, place))
    else own[field] = value
  }
  const known = { ...(typeof id === 'string' && { id }), ...(typeof former === 'string' && { renamedFrom: former }) }
  return [{ kind: kind.name, key, ...known, representation: own, path }, ...nested]
}

function elements(child: KindName, list: readonly unknown[], path: DocumentPath, under: Key): TreeObject[] {
  return list.flatMap((one, at) => {
    if (one === null || typeof one !== 'object') return []
    const node = one as Representation
    return split(kinds[child], node, [...path, at], readParentKey(kinds[child], node, under))
  })
}

function grouped(child: KindName, groups: Representation, path: DocumentPath): TreeObject[] {
  return Object.entries(groups).flatMap(([group, value]) => {
    if (Array.isArray(value)) return elements(child, value, [...path, group], [])
    return Object.entries((value ?? {}) as Representation).flatMap(([parent, list]) =>
      Array.isArray(list) ? elements(child, list, [...path, group, parent], [group, parent]) : [],
    )
  })
}

function isGrouped(kind: Kind): boolean {
  return kind.parentOptional === true
}

function groupOf(tree: Representation, kind: KindName, key: Key): unknown[] {
  const field = fieldOf(kinds.realm, kind)
  tree[field] ??= {}
  const groups = tree[field] as Representation
  if (key.length === 1) return listIn(groups, 'realm')
  groups[key[0]!] ??= {}
  return listIn(groups[key[0]!] as Representation, key[1]!)
}

function listIn(node: Representation, field: string): unknown[] {
  // A field may be the name of a client, and a client may be called `constructor` or `__proto__`.
  if (!Object.hasOwn(node, field))
    Object.defineProperty(node, field, { value: [], enumerable: true, configurable: true, writable: true })
  return node[field] as unknown[]
}

function fieldOf(owner: Kind, child: KindName): string {
  const found = Object.entries(owner.children).find(([, kind]) => kind === child)
  if (!found) throw new Error(`${owner.name} holds no ${child}`)
  return found[0]
}
