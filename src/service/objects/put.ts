// What the body of a PUT means for an object that exists. Relations and children in it do not matter.
import { type FlatFields, flatten, isMasked, misdirectedSecrets, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type LiveObject, listObjects } from './live.ts'

/**
 * The new values that a body states for a live object, as the facts of the fields have it: absent and null are the same. A masked
 * secret stays, unless it would be sent elsewhere.
 */
export function replacement(
  { kind: name, representation: live }: Pick<LiveObject, 'kind' | 'representation'>,
  body: Representation,
): FlatFields {
  const kind = kinds[name]
  const stated = withoutNulls(body)
  const set: Record<string, Json> = { ...cleared(kind, live, stated) }
  for (const [path, value] of Object.entries(flatten(kind, stated))) {
    const { field } = resolve(kind, path)
    if (field.relation) continue
    if (isMasked(kind, path, value)) delete set[path]
    else set[path] = value
  }
  return withoutMisdirected(kind, live, set)
}

/** The new values, and that secrets are removed which would be sent elsewhere than before. */
export function withoutMisdirected(kind: Kind, live: Representation, set: Record<string, Json>): FlatFields {
  const removed = misdirectedSecrets(kind, flatten(kind, live), set).map((path) => [path, null])
  return { ...set, ...Object.fromEntries(removed) }
}

/** A body with references as natural keys where the wire has ids. Statements: one per kind that is referred to. */
export async function named(context: Context, name: KindName, body: Representation): Promise<Representation> {
  const result = { ...body }
  for (const [field, { refersTo, wire }] of Object.entries(kinds[name].fields)) {
    const value = body[field]
    if (wire !== 'id' || value === undefined || value === null) continue
    const ids = (typeof value === 'string' ? [value] : Object.values(value)).filter(Boolean) as string[]
    const found = ids.length ? await listObjects(context, refersTo!, { ids }) : []
    const nameOf = (id: Json): Json => {
      if (id === null || id === '') return id
      const target = found.find((one) => one.id === id)
      if (!target) throw failure('invalid', `There is no ${kinds[refersTo!].title} with the id ${id}`)
      return target.key.at(-1)!
    }
    result[field] =
      typeof value === 'string'
        ? nameOf(value)
        : Object.fromEntries(Object.entries(value).map(([key, id]) => [key, nameOf(id as Json)]))
  }
  return result
}

/** A representation without the fields that are null: clients send them for absent ones. */
export function withoutNulls(representation: Representation): Representation {
  return Object.fromEntries(Object.entries(representation).filter(([, value]) => value !== null))
}

/** What goes back because the body does not state it: keys of maps that it replaces, and fields that it clears. */
function cleared(kind: Kind, live: Representation, stated: Representation): FlatFields {
  const given = kind.defaults(stated)
  const gone: Record<string, Json> = {}
  for (const [name, { onPut, type }] of Object.entries(kind.fields)) {
    const absent = stated[name] === undefined
    if (type !== 'map' && onPut === 'clear' && absent) gone[name] = given[name] ?? null
    if (type !== 'map' || onPut === undefined || (onPut === 'replace' && absent)) continue
    const fresh = (given[name] ?? {}) as Representation
    for (const key of Object.keys({ ...fresh, ...(live[name] as Representation | undefined) })) {
      gone[`${name}.${key}`] = fresh[key] ?? null
    }
  }
  return gone
}
