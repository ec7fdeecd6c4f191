// `renamedFrom`: what is stated was called otherwise. What is live under the former name is seen under the new one, so that the plan
// renames it, and what names it or belongs to it goes along. Pure.
import { type FlatFields, resolve } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { isKnownByPath, type Key, type KindName } from '../kinds/kind.ts'
import { targetKey } from '../kinds/relations.ts'
import { address, describe } from '../kinds/tree.ts'
import type { Note } from './action.ts'
import type { Fields, PlanInput, Stated } from './plan-input.ts'

/** What an object of that key is called otherwise. */
export type Called = (kind: KindName, key: Key) => Key

/** An object under its new and its former key. */
interface Rename {
  readonly kind: KindName
  readonly key: Key
  readonly former: Key
}

/** The key under which what is stated was known before, for what is called otherwise now and for what belongs to it. */
export function calledBefore(stated: Iterable<Pick<Stated, 'kind' | 'key' | 'renamedFrom'>>): Called | undefined {
  const renames = renamesIn(stated)
  return renames.length ? calledBy(renames.map(({ kind, key, former }) => [kind, key, former])) : undefined
}

/** Of an object that is stated with a former name, that key; its parents by their new names. */
export function formerKey({ kind, key, renamedFrom }: Pick<Stated, 'kind' | 'key' | 'renamedFrom'>): Key | undefined {
  if (renamedFrom === undefined) return undefined
  if (!isKnownByPath(kinds[kind])) return [...key.slice(0, -1), renamedFrom]
  const path = key.at(-1)!
  const [parent = ''] = /^.*(?<!~)\//.exec(path) ?? []
  return [...key.slice(0, -1), parent + renamedFrom.replaceAll('/', '~/')]
}

/**
 * The input as if what is renamed were called so already, but for the natural keys themselves; and notes about references by former
 * names, which are right for this plan only. Without effect where the former name is not live, or the new one is.
 */
export function withRenames<Input extends PlanInput>(input: Input): { input: Input; notes: Note[] } {
  const live = new Set(input.live.map(({ kind, key }) => address(kind, key)))
  const due = renamesIn(input.stated.values()).filter(
    ({ kind, key, former }) =>
      !live.has(address(kind, key)) && live.has(address(kind, former)) && !input.stated.has(address(kind, former)),
  )
  if (!due.length) return { input, notes: [] }
  const now = calledBy(due.map(({ kind, key, former }) => [kind, former, key]))
  const notes: Note[] = []
  const seen = <One extends { kind: KindName; key: Key; fields: FlatFields }>(one: One): One => {
    const key = now(one.kind, one.key)
    return { ...one, key, fields: namedNow(one.kind, one.key, one.fields, now) }
  }
  return {
    input: {
      ...input,
      live: input.live.map(seen),
      owned: input.owned.map(seen),
      others: input.others.map(seen),
      stated: new Map([...input.stated].map(([id, one]) => [id, statedNow(one, now, notes)])),
    },
    notes,
  }
}

function renamesIn(stated: Iterable<Pick<Stated, 'kind' | 'key' | 'renamedFrom'>>): Rename[] {
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
      const keys = (value as unknown as Key[]).map((key) =>
        now(field.refersTo!, targetKey(field, owner, key)).slice(-key.length),
      )
      return [path, keys as unknown as Json]
    }),
  )
}

function statedNow(stated: Stated, now: Called, notes: Note[]): Stated {
  const { kind, key, fields } = stated
  const before = Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
  const after = namedNow(kind, key, before, now)
  const moved = Object.keys(before).filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path]))
  if (!moved.length) return stated
  for (const [path, { origin }] of fields) {
    if (!moved.includes(path)) continue
    const message = `${describe(kind, key)}: ${path} uses a former name, which counts for this plan only: correct it`
    notes.push({ message, position: origin.locate(path) })
  }
  return { ...stated, fields: withValues(fields, after) }
}

function withValues(fields: Fields, values: FlatFields): Fields {
  const all = [...fields].map(([path, { origin }]) => [path, { value: values[path]!, origin }] as const)
  const known = new Map(all)
  return { size: fields.size, has: (path) => known.has(path), [Symbol.iterator]: () => known[Symbol.iterator]() }
}
