// The body of a PUT for an existing object, without its relations and children, which have operations of their own.
import { type FlatFields, findRedirectedSecrets, flatten, isMasked, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type LiveObject, listObjects } from './live-objects.ts'

/**
 * Returns the new values that a body sets in a live object, where null means absent and `onPut` of a field says what absent means.
 * A masked secret is kept, unless it would be sent to another destination.
 */
export function toReplacement(
  { kind: name, representation: live }: Pick<LiveObject, 'kind' | 'representation'>,
  body: Representation,
): FlatFields {
  const kind = kinds[name]
  const present = omitNulls(body)
  const set: Record<string, Json> = { ...listClearedFields(kind, live, present) }
  for (const [path, value] of Object.entries(flatten(kind, present))) {
    const { field } = resolveField(kind, path)
    if (field.relation) continue
    if (isMasked(kind, path, value)) delete set[path]
    else set[path] = value
  }
  return removeRedirectedSecrets(kind, live, set)
}

/** Returns the new values, which also remove the secrets that they would send to another destination. */
export function removeRedirectedSecrets(kind: Kind, live: Representation, set: Record<string, Json>): FlatFields {
  const removed = findRedirectedSecrets(kind, flatten(kind, live), set).map((path) => [path, null])
  return { ...set, ...Object.fromEntries(removed) }
}

/** Returns the body with natural keys in place of the ids of referenced objects. Throws invalid. One statement per referenced kind. */
export async function resolveReferenceIds(
  context: Context,
  name: KindName,
  body: Representation,
): Promise<Representation> {
  const result = { ...body }
  for (const [field, { refersTo, wire }] of Object.entries(kinds[name].fields)) {
    const value = body[field]
    if (wire !== 'id' || value === undefined || value === null) continue
    const getName = await createNameLookup(context, refersTo!, listIds(value))
    result[field] =
      typeof value === 'string'
        ? getName(value)
        : Object.fromEntries(Object.entries(readObject(value)).map(([key, id]) => [key, getName(id)]))
  }
  return result
}

/** Returns the ids in the value of a reference, or of a map of references. */
function listIds(value: Json): string[] {
  const ids = typeof value === 'string' ? [value] : Object.values(readObject(value))
  return ids.filter((id) => typeof id === 'string').filter(Boolean)
}

async function createNameLookup(context: Context, kind: KindName, ids: readonly string[]): Promise<(id: Json) => Json> {
  const targets = ids.length ? await listObjects(context, kind, { ids }) : []
  return (id) => {
    if (id === null || id === '') return id
    const target = targets.find((object) => object.id === id)
    if (!target) throw failure('invalid', `There is no ${kinds[kind].title} with the id ${id}`)
    return target.key.at(-1)!
  }
}

/** Returns a body without its nulls. Keycloak: in some representations `enabled` cannot be null, and null is false. */
export function omitNullsButEnabled(body: Representation): Representation {
  return omitNulls(body.enabled === null ? { ...body, enabled: false } : body)
}

/** Returns a representation without null fields, which clients send for absent ones. */
export function omitNulls(representation: Representation): Representation {
  return Object.fromEntries(Object.entries(representation).filter(([, value]) => value !== null))
}

/** Returns the defaults of what a PUT resets since the body does not contain it: fields, and keys of maps. */
function listClearedFields(kind: Kind, live: Representation, present: Representation): FlatFields {
  const defaults = kind.defaults(present)
  const cleared: Record<string, Json> = {}
  for (const [name, { onPut, type }] of Object.entries(kind.fields)) {
    const isAbsent = present[name] === undefined
    if (type !== 'map' && onPut === 'clear' && isAbsent) cleared[name] = defaults[name] ?? null
    if (type !== 'map' || onPut === undefined || (onPut === 'replace' && isAbsent)) continue
    const defaultMembers = readObject(defaults[name])
    for (const key of Object.keys({ ...defaultMembers, ...readObject(live[name]) }))
      cleared[`${name}.${key}`] = defaultMembers[key] ?? null
  }
  return cleared
}
