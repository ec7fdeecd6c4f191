// A realm as a tree, and as a list of objects. In the tree, children are in a field of their parent. A kind whose objects belong to the realm
// or to a parent is grouped, such as roles: `{realm: [...], client: {<client>: [...]}}`. Objects of a kind with a parent field are in a list
// of the realm.
import { setMember } from '../lib/set-member.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { isKindName, kinds } from './index.ts'
import { isList, isObject, type Json, type Representation, readObject } from './json.ts'
import type { Key, Kind, KindName } from './kind.ts'

/** The field of documents with the former name of an object. */
export const RENAMED_FROM = 'renamedFrom'

/** An object of a tree. Its representation contains neither the id nor children. */
export interface TreeObject {
  readonly kind: KindName
  readonly key: Key
  readonly id?: string
  /** The former name, in documents. */
  readonly renamedFrom?: string
  readonly representation: Representation
  readonly path: DocumentPath
}

/** Splits the tree of a realm into its objects: the realm first, then the others in their order. Values of other types stay in place. */
export function splitTree(realm: Representation): TreeObject[] {
  return splitNode(kinds.realm, realm, { path: [], parentKey: [] })
}

/** Joins objects to a tree. Parents must come before children; children without their parent are omitted. */
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
    const parent = findParent(key)
    if (kind === 'realm') Object.assign(tree, node)
    else if (isGrouped(kinds[kind])) getGroup(tree, kind, key).push(node)
    else if (parentField !== undefined || !parent) getList(tree, getChildField(kinds.realm, kind)).push(node)
    else {
      const owner = parents.get(formatAddress(parent.kind, parent.key))
      if (owner) getList(owner, getChildField(kinds[parent.kind], kind)).push(node)
    }
  }
  return tree
}

/** Returns the kind and key of an object as a unique JSON text, for the keys of maps. */
export function formatAddress(kind: KindName, key: Key): string {
  return JSON.stringify([kind, ...key])
}

/** Returns the kind and the key of an object's parent; undefined if it belongs to the realm. */
export function findParent(key: Key): { kind: KindName; key: Key } | undefined {
  const [kind, ...rest] = key
  return rest.length && kind !== undefined && isKindName(kind) ? { kind, key: rest.slice(0, -1) } : undefined
}

/** Returns the name of an object in messages: `client scope email`, `protocol mapper floor of client my-app`. */
export function describeObject(kind: KindName, key: Key): string {
  const { title, formatName = (name) => name } = kinds[kind]
  const description = `${title} ${formatName(key.at(-1)!)}`
  const parent = findParent(key)
  return parent ? `${description} of ${describeObject(parent.kind, parent.key)}` : description
}

/** Returns the natural key in a representation; empty if there is none. */
export function readName(kind: Kind, { [kind.naturalKey]: name = null }: Representation): string {
  if (name === null || typeof name === 'object') return ''
  return kind.fields[kind.naturalKey]!.lowerCase ? String(name).toLowerCase() : String(name)
}

/** Returns the kind and key of the parent of a list's element: the value of the parent field, or else the parent of the list. */
export function readParentKey({ parents, parentField }: Kind, node: Representation, listParentKey: Key): Key {
  if (parentField === undefined) return listParentKey
  const parent = kinds[parents[0]!]
  return [parent.name, readName(parent, { [parent.naturalKey]: node[parentField] ?? null })]
}

/** A position in a tree. */
interface TreePosition {
  readonly path: DocumentPath
  /** The kind and key of the parent; empty for the realm. */
  readonly parentKey: Key
}

function splitNode(kind: Kind, node: Representation, { path, parentKey }: TreePosition): TreeObject[] {
  const { [kind.idField]: id, [RENAMED_FROM]: formerName, ...fields } = node
  const representation: Representation = {}
  const children: TreeObject[][] = []
  const key = [...parentKey, readName(kind, node)]
  const childrenKey = kind.name === 'realm' ? [] : [kind.name, ...key]
  for (const [field, value] of Object.entries(fields)) {
    const child = Object.hasOwn(kind.children, field) ? kind.children[field] : undefined
    if (!child) representation[field] = value
    else if (isList(value)) children.push(splitList(child, value, { path: [...path, field], parentKey: childrenKey }))
    else if (isObject(value) && isGrouped(kinds[child])) children.push(splitGroups(child, value, [...path, field]))
    else if (value !== null) representation[field] = value
  }
  const object: TreeObject = {
    kind: kind.name,
    key,
    ...(typeof id === 'string' && { id }),
    ...(typeof formerName === 'string' && { renamedFrom: formerName }),
    representation,
    path,
  }
  return [object, ...children.flat()]
}

function splitList(child: KindName, list: readonly Json[], { path, parentKey }: TreePosition): TreeObject[] {
  return list.flatMap((node, at) => {
    if (!isObject(node)) return []
    return splitNode(kinds[child], node, {
      path: [...path, at],
      parentKey: readParentKey(kinds[child], node, parentKey),
    })
  })
}

function splitGroups(child: KindName, groups: Representation, path: DocumentPath): TreeObject[] {
  return Object.entries(groups).flatMap(([group, value]) => {
    if (isList(value)) return splitList(child, value, { path: [...path, group], parentKey: [] })
    return Object.entries(readObject(value)).flatMap(([parent, list]) =>
      isList(list) ? splitList(child, list, { path: [...path, group, parent], parentKey: [group, parent] }) : [],
    )
  })
}

function isGrouped(kind: Kind): boolean {
  return kind.parentOptional === true
}

function getGroup(tree: Representation, kind: KindName, key: Key): Json[] {
  const groups = getObject(tree, getChildField(kinds.realm, kind))
  return key.length === 1 ? getList(groups, 'realm') : getList(getObject(groups, key[0]!), key[1]!)
}

/** Returns the object in a field, which is created if it is absent. */
function getObject(node: Representation, field: string): Representation {
  const object = readObject(node[field])
  node[field] = object
  return object
}

/** Returns the list in a field, which is created if it is absent. */
function getList(node: Representation, field: string): Json[] {
  // A field may be the name of a client, such as `constructor`.
  if (!Object.hasOwn(node, field)) setMember(node, field, [])
  return node[field] as Json[]
}

function getChildField(parent: Kind, child: KindName): string {
  const entry = Object.entries(parent.children).find(([, kind]) => kind === child)
  if (!entry) throw new Error(`${parent.name} has no field for ${child}`)
  return entry[0]
}
