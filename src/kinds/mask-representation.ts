// A representation as admin events show it: what was stated, in the order of the description, secrets masked.
import type { Field } from './fields.ts'
import type { Json, Representation } from './json.ts'
import type { Kind } from './kind.ts'
import { MASK } from './mask.ts'
import { listNestedChildren } from './nested-schema.ts'

/** The representation without what is null or not on the wire; computed fields that are always the same show. */
export function maskRepresentation(kind: Kind, representation: Representation): Representation {
  const id = representation[kind.idField]
  return {
    ...(typeof id === 'string' && { [kind.idField]: id }),
    ...maskedFields(kind.fields, representation),
    ...Object.fromEntries(
      listNestedChildren(kind).flatMap(([field, child]) => {
        const value = representation[field] ?? null
        return value === null ? [] : [[field, maskedChildren(child, value)]]
      }),
    ),
  }
}

function maskedFields(fields: Readonly<Record<string, Field>>, stated: Representation): Representation {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): [string, Json][] => {
      const value = stated[name] ?? (field.computed ? field.default : undefined)
      // Keycloak: of credentials not even the number shows.
      const hidden = value === undefined || field.isSeparate || (field.secret === true && field.members)
      return hidden ? [] : [[name, maskedValue(field, value)]]
    }),
  )
}

function maskedValue({ type, secret, members }: Field, value: Json): Json {
  if (members && Array.isArray(value)) return value.map((one) => maskedFields(members, one as Representation))
  if (type !== 'map' || value === null || typeof value !== 'object') return secret === true ? mask(value) : value
  const isSecret = (key: string) => secret === true || (Array.isArray(secret) && secret.includes(key))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, isSecret(key) ? mask(one) : one]))
}

function mask(value: Json): Json {
  return Array.isArray(value) ? [MASK] : MASK
}

/** A list, or lists by what the children belong to. */
function maskedChildren(child: Kind, value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => maskRepresentation(child, one as Representation))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskedChildren(child, inner)]))
}
