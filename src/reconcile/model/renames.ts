// `renamedFrom`: the keys that declared objects had before. Pure.
import { type FlatFields, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isKnownByPath, type Key, type KindName } from '../../kinds/kind.ts'
import { targetKey } from '../../kinds/relations.ts'
import { address } from '../../kinds/tree.ts'
import type { DeclaredObject } from './plan-input.ts'

/** What an object of that key is called otherwise. */
export type Called = (kind: KindName, key: Key) => Key

/** An object under its new and its former key. */
interface Rename {
  readonly kind: KindName
  readonly key: Key
  readonly former: Key
}

/** The key under which what is stated was known before, for what is called otherwise now and for what belongs to it. */
export function calledBefore(
  stated: Iterable<Pick<DeclaredObject, 'kind' | 'key' | 'renamedFrom'>>,
): Called | undefined {
  const renames = renamesIn(stated)
  return renames.length ? calledBy(renames.map(({ kind, key, former }) => [kind, key, former])) : undefined
}

/** Of an object that is stated with a former name, that key; its parents by their new names. */
export function formerKey({
  kind,
  key,
  renamedFrom,
}: Pick<DeclaredObject, 'kind' | 'key' | 'renamedFrom'>): Key | undefined {
  if (renamedFrom === undefined) return undefined
  if (!isKnownByPath(kinds[kind])) return [...key.slice(0, -1), renamedFrom]
  const path = key.at(-1)!
  const [parent = ''] = /^.*(?<!~)\//.exec(path) ?? []
  return [...key.slice(0, -1), parent + renamedFrom.replaceAll('/', '~/')]
}

/** The objects that are declared with a former name. */
export function renamesIn(stated: Iterable<Pick<DeclaredObject, 'kind' | 'key' | 'renamedFrom'>>): Rename[] {
  return [...stated].flatMap((one) => {
    const former = formerKey(one)
    return former ? [{ kind: one.kind, key: one.key, former }] : []
  })
}

/** Keys by other keys; what belongs to something is called otherwise with it. */
export function calledBy(pairs: readonly (readonly [KindName, Key, Key])[]): Called {
  const other = new Map(pairs.map(([kind, from, to]) => [address(kind, from), to]))
  const paths = pairs.filter(([kind]) => isKnownByPath(kinds[kind]))
  const called: Called = (kind, key) => {
    const own = other.get(address(kind, key))
    if (own) return own
    const above = key.length > 1 ? [key[0]!, ...called(key[0] as KindName, key.slice(1, -1))] : []
    const name = key.at(-1)!
    const path = paths.find(([one, from]) => one === kind && name.startsWith(`${from.at(-1)}/`))
    return [...above, path ? path[2].at(-1)! + name.slice(path[1].at(-1)!.length) : name]
  }
  return called
}

/** The fields of an object, with what they name as it is called now. */
export function namedNow(name: KindName, owner: Key, fields: FlatFields, now: Called): FlatFields {
  const kind = kinds[name]
  return Object.fromEntries(
    Object.entries(fields).map(([path, value]) => {
      const { field } = resolve(kind, path)
      if (value === null || !field.refersTo || field.computed) return [path, value]
      if (!field.relation) return [path, now(field.refersTo, [String(value)]).at(-1)!]
      const keys = (value as readonly Key[]).map((key) =>
        now(field.refersTo!, targetKey(field, owner, key)).slice(-key.length),
      )
      return [path, keys]
    }),
  )
}
