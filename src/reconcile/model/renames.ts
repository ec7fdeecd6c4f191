// `renamedFrom`: the keys that declared objects had before. Pure.
import { type FlatFields, readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { hasPathKey, type Key, type KindName } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import type { ObjectDeclaration } from './plan-input.ts'

/** Returns the other key of an object: of a renamed object, of a child of one, or else the same key. */
export type KeyLookup = (kind: KindName, key: Key) => Key

/** An object under its new and its former key. */
interface Rename {
  readonly kind: KindName
  readonly key: Key
  readonly former: Key
}

/** Creates a lookup from declared keys to the former ones; undefined if no object is renamed. */
export function createFormerKeyLookup(
  declarations: Iterable<Pick<ObjectDeclaration, 'kind' | 'key' | 'renamedFrom'>>,
): KeyLookup | undefined {
  const renames = listRenames(declarations)
  return renames.length ? createKeyLookup(renames.map(({ kind, key, former }) => [kind, key, former])) : undefined
}

/** Returns the former key of an object that is declared with `renamedFrom`. The keys of its parents are the new ones. */
export function findFormerKey({
  kind,
  key,
  renamedFrom,
}: Pick<ObjectDeclaration, 'kind' | 'key' | 'renamedFrom'>): Key | undefined {
  if (renamedFrom === undefined) return undefined
  if (!hasPathKey(kinds[kind])) return [...key.slice(0, -1), renamedFrom]
  const path = key.at(-1)!
  const [parent = ''] = /^.*(?<!~)\//.exec(path) ?? []
  return [...key.slice(0, -1), parent + renamedFrom.replaceAll('/', '~/')]
}

/** Returns the objects that are declared with a former name. */
export function listRenames(declarations: Iterable<Pick<ObjectDeclaration, 'kind' | 'key' | 'renamedFrom'>>): Rename[] {
  return [...declarations].flatMap((declaration) => {
    const former = findFormerKey(declaration)
    return former ? [{ kind: declaration.kind, key: declaration.key, former }] : []
  })
}

/** Creates a lookup from pairs of keys, each with its kind. It also covers the children of these objects. */
export function createKeyLookup(pairs: readonly (readonly [kind: KindName, from: Key, to: Key])[]): KeyLookup {
  const byAddress = new Map(pairs.map(([kind, from, to]) => [formatAddress(kind, from), to]))
  const paths = pairs.filter(([kind]) => hasPathKey(kinds[kind]))
  const lookUp: KeyLookup = (kind, key) => {
    const renamed = byAddress.get(formatAddress(kind, key))
    if (renamed) return renamed
    const parent = findParent(key)
    const prefix = parent ? [parent.kind, ...lookUp(parent.kind, parent.key)] : []
    const name = key.at(-1)!
    const path = paths.find(([pathKind, from]) => pathKind === kind && name.startsWith(`${from.at(-1)}/`))
    return [...prefix, path ? path[2].at(-1)! + name.slice(path[1].at(-1)!.length) : name]
  }
  return lookUp
}

/** Returns the fields of an object with its references replaced by the keys of a lookup. */
export function renameReferences(
  object: { readonly kind: KindName; readonly key: Key },
  fields: FlatFields,
  lookUp: KeyLookup,
): FlatFields {
  const kind = kinds[object.kind]
  return Object.fromEntries(
    Object.entries(fields).map(([path, value]) => {
      const { field } = resolveField(kind, path)
      const { refersTo } = field
      if (value === null || !refersTo || field.computed) return [path, value]
      if (!field.relation) return [path, lookUp(refersTo, [String(value)]).at(-1)!]
      const keys = readKeys(value).map((key) =>
        lookUp(refersTo, toTargetKey(field, object.key, key)).slice(-key.length),
      )
      return [path, keys]
    }),
  )
}
