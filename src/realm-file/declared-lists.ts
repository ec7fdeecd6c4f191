// The lists of objects that a document declares, also empty ones. With `prune: all`, objects that are not in such a list are deleted.
import { getParentComponentPath, parseComponentPath } from '../kinds/component.ts'
import { kinds } from '../kinds/index.ts'
import { isList, isObject, type Json, type Representation, readObject } from '../kinds/json.ts'
import type { Key, Kind, KindName } from '../kinds/kind.ts'
import { readName } from '../kinds/tree.ts'
import type { DocumentPath } from '../lib/source-position.ts'

/** A declared list: all objects of a kind that belong to the realm, or to one parent. */
export interface DeclaredList {
  readonly kind: KindName
  /** Kind and key of the parent; empty for the realm. For kinds with a parent field, the list contains the objects of all parents. */
  readonly parentKey: Key
  /** For components: the type of their provider. */
  readonly providerType?: string
}

/** Kinds whose lists are never authoritative: users, what users depend on, and what documents declare key by key or with their client. */
const NEVER_AUTHORITATIVE: ReadonlySet<KindName> = new Set([
  'user',
  'organization',
  'localization',
  'authorizationPolicy',
  'authorizationResource',
  'authorizationScope',
])

/**
 * Returns the lists of a realm that passed `checkStructure`. `isWritten` returns whether the document itself declares a list at a path, since
 * format converters create lists too.
 */
export function listDeclaredLists(realm: Representation, isWritten: (path: DocumentPath) => boolean): DeclaredList[] {
  return [...listsOf(kinds.realm, realm, { parentKey: [], path: [] })]
    .filter(({ list, path }) => !NEVER_AUTHORITATIVE.has(list.kind) && isWritten(path))
    .map(({ list }) => list)
}

/** Returns the lists of components that a document declares, one for each type of provider. */
export function listDeclaredComponentLists(components: Json | undefined): DeclaredList[] {
  const types = Object.entries(readObject(components)).filter(([, list]) => isList(list))
  return types.map(([providerType]) => ({ kind: 'component', parentKey: [], providerType }))
}

/** Whether an object belongs in the list. */
export function isInList({ kind, parentKey, providerType }: DeclaredList, key: Key): boolean {
  if (providerType !== undefined) {
    const path = key.at(-1)!
    return getParentComponentPath(path) === '' && parseComponentPath(path).providerType === providerType
  }
  return kinds[kind].parentField !== undefined || JSON.stringify(key.slice(0, -1)) === JSON.stringify(parentKey)
}

interface LocatedList {
  readonly list: DeclaredList
  readonly path: DocumentPath
}

/** The parent and the path of a list or object. */
interface ListContext {
  readonly parentKey: Key
  readonly path: DocumentPath
}

function* listsOf(kind: Kind, node: Representation, { parentKey, path }: ListContext): Generator<LocatedList> {
  const key = [...parentKey, readName(kind, node)]
  const childrenKey = kind.name === 'realm' ? [] : [kind.name, ...key]
  for (const [field, child] of Object.entries(kind.children)) {
    const value = node[field]
    if (isList(value)) yield* listWithNested(child, value, { parentKey: childrenKey, path: [...path, field] })
    else if (isObject(value)) yield* groupedLists(child, value, [...path, field])
  }
}

function* groupedLists(child: KindName, groups: Representation, path: DocumentPath): Generator<LocatedList> {
  for (const [group, value] of Object.entries(groups)) {
    if (isList(value)) yield* listWithNested(child, value, { parentKey: [], path: [...path, group] })
    else
      for (const [parent, list] of Object.entries(readObject(value)))
        if (isList(list))
          yield* listWithNested(child, list, { parentKey: [group, parent], path: [...path, group, parent] })
  }
}

function* listWithNested(
  kind: KindName,
  list: readonly Json[],
  { parentKey, path }: ListContext,
): Generator<LocatedList> {
  yield { list: { kind, parentKey }, path }
  if (!Object.keys(kinds[kind].children).length) return
  for (const [at, node] of list.entries())
    if (isObject(node)) yield* listsOf(kinds[kind], node, { parentKey, path: [...path, at] })
}
