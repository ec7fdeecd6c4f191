// The lists of objects that a document states, also empty ones: of a source that prunes all, what is not in one goes.
import { componentName, parentComponentPath } from '../kinds/component.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/json.ts'
import type { Key, Kind, KindName } from '../kinds/kind.ts'
import { nameIn } from '../kinds/tree.ts'
import type { Path } from '../lib/position.ts'

/** What a list holds: everything of a kind that belongs to the realm, or to one object. */
export interface StatedList {
  readonly kind: KindName
  /** Kind and key of what its objects belong to; empty: the realm. Of kinds that name their parent in a field, it holds those of all. */
  readonly under: Key
  /** Of components, the type of their provider. */
  readonly type?: string
}

/**
 * Kinds whose lists never say that there is nothing else: people and what people hang on, and what documents state key by key or
 * together with their client.
 */
const NEVER_WHOLE: ReadonlySet<KindName> = new Set([
  'user',
  'organization',
  'localization',
  'authorizationPolicy',
  'authorizationResource',
  'authorizationScope',
])

/**
 * The lists in a realm that was cut into form. `isWritten`: whether the document itself has a list at that path, and states it: other
 * forms make lists of what is none.
 */
export function statedLists(realm: Representation, isWritten: (path: Path) => boolean): StatedList[] {
  return [...listsIn(kinds.realm, realm, [], [])]
    .filter(([{ kind }, path]) => !NEVER_WHOLE.has(kind) && isWritten(path))
    .map(([list]) => list)
}

/** The lists of components that a document states, by the type of their provider. */
export function statedComponents(components: unknown): StatedList[] {
  if (components === null || typeof components !== 'object' || Array.isArray(components)) return []
  const types = Object.entries(components).filter(([, list]) => Array.isArray(list))
  return types.map(([type]) => ({ kind: 'component', under: [], type }))
}

/** Whether an object is one of those that the list is to hold. */
export function isIn({ kind, under, type }: StatedList, key: Key): boolean {
  if (type !== undefined) {
    const path = key.at(-1)!
    return parentComponentPath(path) === '' && componentName(path).providerType === type
  }
  return kinds[kind].parentField !== undefined || JSON.stringify(key.slice(0, -1)) === JSON.stringify(under)
}

function* listsIn(kind: Kind, node: Representation, above: Key, path: Path): Generator<[StatedList, Path]> {
  const key = [...above, nameIn(kind, node)]
  const under = kind.name === 'realm' ? [] : [kind.name, ...key]
  for (const [field, child] of Object.entries(kind.children)) {
    const value = node[field]
    if (value === null || value === undefined) continue
    if (Array.isArray(value)) yield* listAt(child, value as Representation[], under, [...path, field])
    else yield* groupedIn(child, value as Representation, [...path, field])
  }
}

function* groupedIn(child: KindName, groups: Representation, path: Path): Generator<[StatedList, Path]> {
  for (const [group, value] of Object.entries(groups)) {
    if (Array.isArray(value)) yield* listAt(child, value as Representation[], [], [...path, group])
    else
      for (const [parent, list] of Object.entries((value ?? {}) as Representation))
        if (Array.isArray(list))
          yield* listAt(child, list as Representation[], [group, parent], [...path, group, parent])
  }
}

function* listAt(
  kind: KindName,
  list: readonly (Representation | null)[],
  under: Key,
  path: Path,
): Generator<[StatedList, Path]> {
  yield [{ kind, under }, path]
  if (!Object.keys(kinds[kind].children).length) return
  for (const [at, node] of list.entries()) if (node) yield* listsIn(kinds[kind], node, under, [...path, at])
}
