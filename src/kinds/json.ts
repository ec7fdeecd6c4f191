// JSON values, and functions that read parts of them without casts.

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The representation of an object, or a part of it: nested, with references as natural keys. */
export type Representation = { [field: string]: Json }

/** Whether a value is an array: `Array.isArray` does not narrow to a readonly one. */
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Whether a value is an object, neither an array nor null. */
export function isObject(value: Json | undefined): value is Representation {
  return typeof value === 'object' && value !== null && !isList(value)
}

/** Whether a value is null, absent, or holds only empty lists and objects, such as the client policies of a new realm. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

/** Returns the value at a path of members and elements; undefined if there is none. */
export function readPath(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((node, step) => {
    if (isList(node)) return node[Number(step)]
    return isObject(node) && Object.hasOwn(node, step) ? node[step] : undefined
  }, value)
}

/** Returns the value if it is an object; an empty object for any other value, such as a list. */
export const readObject = (value: Json | undefined): Representation => (isObject(value) ? value : {})

/** Returns the objects of a list; none for any other value. */
export const readObjects = (value: Json | undefined): readonly Representation[] =>
  isList(value) ? value.filter(isObject) : []

/** Returns the text, or undefined for any other value. */
export const readText = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** Returns the value of a flag that is written as a text. Keycloak: `true` in any case is true, and every other text is false. */
export function readFlag(text: string | undefined, absent = false): boolean {
  return text ? text.toLowerCase() === 'true' : absent
}

/** Returns the texts of a list; none for any other value. */
export const readTexts = (value: Json | undefined): readonly string[] =>
  isList(value) ? value.filter((element) => typeof element === 'string') : []

/** Returns the texts of an object by key; members that are no texts are left out. */
export function readTextMap(value: Json | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(readObject(value)).flatMap(([key, member]) => (typeof member === 'string' ? [[key, member]] : [])),
  )
}

/** Returns the lists of texts of an object by key; members that are no lists are left out. */
export function readTextListMap(value: Json | undefined): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(readObject(value)).flatMap(([key, member]) => (isList(member) ? [[key, readTexts(member)]] : [])),
  )
}

/** Returns an object without the members that are undefined. */
export function omitUndefined(members: Readonly<Record<string, Json | undefined>>): Representation {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
