// A representation as admin events show it: what was stated, in the order of the description, secrets masked.
import type { Field, Json } from './fields.ts'
import { kinds } from './index.ts'
import type { Kind, Representation } from './kind.ts'
import { MASK } from './mask.ts'

/** The representation without what is null or not managed yet; computed fields that are always the same show. */
export function masked(kind: Kind, representation: Representation): Representation {
  const id = representation[kind.idField]
  return {
    ...(typeof id === 'string' && { [kind.idField]: id }),
    ...maskedFields(kind.fields, representation),
    ...Object.fromEntries(
      Object.entries(kind.children).flatMap(([field, child]) => {
        const value = representation[field] ?? null
        return value === null ? [] : [[field, maskedChildren(kinds[child], value)]]
      }),
    ),
  }
}

function maskedFields(fields: Readonly<Record<string, Field>>, stated: Representation): Representation {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): [string, Json][] => {
      const value = stated[name] ?? (field.computed ? field.default : undefined)
      return value === undefined ? [] : [[name, maskedValue(field, value)]]
    }),
  )
}

function maskedValue(field: Field, value: Json): Json {
  if (Array.isArray(value)) {
    if (field.secret === true) return [MASK]
    return field.members ? value.map((one) => maskedFields(field.members!, one as Representation)) : value
  }
  if (field.type !== 'map' || value === null || typeof value !== 'object') return field.secret === true ? MASK : value
  const { secret } = field
  const isSecret = (key: string) => secret === true || (Array.isArray(secret) && secret.includes(key))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      isSecret(key) ? maskedValue({ ...field, secret: true, type: 'scalar' }, one) : one,
    ]),
  )
}

/** A list, or lists by what the children belong to. */
function maskedChildren(child: Kind, value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => masked(child, one as Representation))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskedChildren(child, inner)]))
}
