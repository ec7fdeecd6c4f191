// Masks secrets in representations.
import type { Field } from './fields.ts'
import { isList, isObject, type Json, type Representation, readObject } from './json.ts'
import type { Kind } from './kind.ts'
import { MASK } from './mask.ts'
import { listNestedChildren } from './nested-schema.ts'

/** Returns a representation as admin events contain it: in the order of the kind's description, without nulls, and with masked secrets. */
export function maskRepresentation(kind: Kind, representation: Representation): Representation {
  const { [kind.idField]: id, subGroups } = representation
  return {
    ...(typeof id === 'string' && { [kind.idField]: id }),
    ...maskFields(kind.fields, representation),
    ...(kind.fields.subGroups && isList(subGroups) && { subGroups: maskChildren(kind, subGroups) }),
    ...Object.fromEntries(
      listNestedChildren(kind).flatMap(([field, child]) => {
        const value = representation[field] ?? null
        return value === null ? [] : [[field, maskChildren(child, value)]]
      }),
    ),
  }
}

function maskFields(fields: Readonly<Record<string, Field>>, values: Representation): Representation {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): [string, Json][] => {
      const value = values[name] ?? (field.computed ? field.default : undefined)
      // Keycloak: credentials are omitted, so that not even their number is visible.
      const isOmitted = value === undefined || field.isSeparate || (field.secret === true && field.members)
      return isOmitted ? [] : [[name, maskValue(field, value)]]
    }),
  )
}

function maskValue({ type, secret, members }: Field, value: Json): Json {
  if (members && isList(value)) return value.map((element) => maskFields(members, readObject(element)))
  if (type !== 'map' || !isObject(value)) return secret === true ? mask(value) : value
  const isSecret = (key: string) => secret === true || (Array.isArray(secret) && secret.includes(key))
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, isSecret(key) ? mask(entry) : entry]))
}

function mask(value: Json): Json {
  return isList(value) ? [MASK] : MASK
}

/** Masks a list of children, or lists grouped by parent. */
function maskChildren(child: Kind, value: Json): Json {
  if (isList(value)) return value.map((element) => maskRepresentation(child, readObject(element)))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, group]) => [key, maskChildren(child, group)]))
}
