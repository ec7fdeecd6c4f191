// Compares objects: representations as flat fields, and whether two values of a field are equal.
import { isDeepStrictEqual } from 'node:util'
import { setMember } from '../lib/set-member.ts'
import type { Field } from './fields.ts'
import { isList, isObject, type Json, type Representation, readObject, readObjects, readTexts } from './json.ts'
import type { Key, Kind } from './kind.ts'
import { MASK } from './mask.ts'
import { toRelationKeys, toRelationValue } from './relations.ts'

/** Normalised values by path: the name of a field, or `field.key` for a key of a map. A relation is a list of natural keys. */
export type FlatFields = Readonly<Record<string, Json>>

/** A field with different values. */
export interface FieldDifference {
  readonly path: string
  readonly from: Json
  readonly to: Json
}

/**
 * Returns the fields of a representation, normalised, without computed and absent ones; null is kept. An empty secret counts as absent,
 * since any client could authenticate with it.
 */
export function flatten(kind: Kind, representation: Representation): FlatFields {
  const flat: Record<string, Json> = {}
  for (const [name, value] of Object.entries(representation)) {
    const field = kind.fields[name]
    if (!field || field.computed || value === undefined) continue
    if (field.type === 'map' && value !== null) {
      for (const [key, entry] of Object.entries(value)) {
        if (!appliesTo(field.secret, key) || !isEmptyText(entry)) flat[`${name}.${key}`] = normalise(field, entry)
      }
    } else if (field.secret !== true || !isEmptyText(value)) flat[name] = normalise(field, value)
  }
  return flat
}

/**
 * Returns the representation normalised, as `unflatten` of `flatten` does, with the function applied to each secret. Faster, since it does
 * not build paths.
 */
export function mapRepresentation(
  kind: Kind,
  representation: Representation,
  mapSecret: (secret: Json) => Json,
): Representation {
  const result: Representation = {}
  for (const [name, value] of Object.entries(representation)) {
    const field = kind.fields[name]
    if (!field || field.computed || value === undefined || value === null) continue
    const mapped = field.type === 'map' ? mapEntries(field, value, mapSecret) : mapValue(field, value, mapSecret)
    if (mapped !== null) result[name] = mapped
  }
  return result
}

function mapValue(field: Field, value: Json, mapSecret: (secret: Json) => Json): Json {
  if (field.secret === true) return isEmptyText(value) ? null : mapSecret(normalise(field, value))
  if (!field.relation) return normalise(field, value)
  return field.type === 'set' ? value : toRelationValue(field, toRelationKeys(field, value))
}

/** Returns the map, or null if it is empty. */
function mapEntries(field: Field, map: Json, mapSecret: (secret: Json) => Json): Json {
  const result: Representation = {}
  for (const [key, value] of Object.entries(readObject(map))) {
    const isSecret = appliesTo(field.secret, key)
    if (isSecret && isEmptyText(value)) continue
    const normalised = normalise(field, value)
    if (normalised !== null) setMember(result, key, isSecret ? mapSecret(normalised) : normalised)
  }
  return Object.keys(result).length ? result : null
}

/** Returns the fields with texts in lower case where they are stored so. Java's toLowerCase gives the same result. */
export function lowerCaseTexts(kind: Kind, fields: FlatFields): FlatFields {
  return Object.fromEntries(
    Object.entries(fields).map(([path, value]) => {
      const isLowerCase = typeof value === 'string' && kind.fields[path]?.lowerCase
      return [path, isLowerCase ? value.toLowerCase() : value]
    }),
  )
}

/** Returns the representation with these flat fields, without those that are null. */
export function unflatten(kind: Kind, flat: FlatFields): Representation {
  const representation: Representation = {}
  for (const [path, value] of Object.entries(flat)) {
    if (value === null) continue
    const { name, key, field } = resolveField(kind, path)
    if (field.relation) representation[name] = toRelationValue(field, readKeys(value))
    else if (key === undefined) representation[name] = value
    else {
      const map = readObject(representation[name])
      setMember(map, key, value)
      representation[name] = map
    }
  }
  return representation
}

/** Returns the fields that creation sets: the declared ones and the defaults of others, in maps key by key. Null means no value. */
export function addDefaults(kind: Kind, declared: FlatFields): FlatFields {
  const defaults = flattenDefaults(kind, kind.defaults(kind.defaults.length ? unflatten(kind, declared) : {}))
  const nullMaps = Object.keys(declared).filter((path) => declared[path] === null && isWholeMap(kind, path))
  const fields: Record<string, Json> = {}
  for (const [path, value] of Object.entries(defaults)) {
    const used = Object.hasOwn(declared, path) ? declared[path]! : value
    if (used !== null && !nullMaps.some((map) => path.startsWith(`${map}.`))) fields[path] = used
  }
  for (const [path, value] of Object.entries(declared)) if (value !== null) fields[path] = value
  return fields
}

/** Flat defaults by the object that a kind returns, which is always the same where they do not depend on declared fields. */
const flatDefaults = new WeakMap<Representation, FlatFields>()

function flattenDefaults(kind: Kind, defaults: Representation): FlatFields {
  const flat = flatDefaults.get(defaults) ?? flatten(kind, defaults)
  flatDefaults.set(defaults, flat)
  return flat
}

/** Whether the path is a map as a whole. Documents declare it as null to remove the map. */
export function isWholeMap(kind: Kind, path: string): boolean {
  const { key, field } = resolveField(kind, path)
  return field.type === 'map' && key === undefined
}

/** Returns the paths of the keys in a map. */
export function listMapPaths(fields: FlatFields, map: string): string[] {
  return Object.keys(fields).filter((path) => path.startsWith(`${map}.`))
}

/** Returns the value at a path, of a whole map as an object; null if there is none. */
export function valueAt(kind: Kind, fields: FlatFields, path: string): Json {
  if (!isWholeMap(kind, path)) return fields[path] ?? null
  const keys = listMapPaths(fields, path)
  return keys.length ? Object.fromEntries(keys.map((key) => [key.slice(path.length + 1), fields[key]!])) : null
}

/** Returns the fields of `to` whose value differs from that in `from`. A field that `from` lacks counts as null there. */
export function findDifferences(kind: Kind, from: FlatFields, to: FlatFields): FieldDifference[] {
  return Object.entries(to)
    .filter(([path, value]) => !isSameValue(getField(kind, path), value, from[path] ?? null))
    .map(([path, value]) => ({ path, from: from[path] ?? null, to: value }))
}

/** Whether two normalised values of a field are equal. */
export function isSameValue(field: Field, value: Json, other: Json): boolean {
  if (field.optionalMembers && isList(value) && isList(other))
    return value.length === other.length && value.every((element, at) => isSameElement(field, element, other[at]!))
  return isDeepEqual(value, other)
}

/** Whether two values are equal. The order of keys is ignored. */
export function isDeepEqual(value: Json | undefined, other: Json | undefined): boolean {
  return isDeepStrictEqual(value, other)
}

/** Returns the parts of a path and its field. Throws if the kind has no such field. */
export function resolveField(kind: Kind, path: string): { name: string; key: string | undefined; field: Field } {
  const dot = path.indexOf('.')
  const name = dot < 0 ? path : path.slice(0, dot)
  const field = kind.fields[name]
  if (!field) throw new Error(`${kind.name} has no field ${path}`)
  return { name, key: dot < 0 ? undefined : path.slice(dot + 1), field }
}

/** Returns the field of a path. Throws if the kind has no such field. */
export const getField = (kind: Kind, path: string): Field => resolveField(kind, path).field

/** Whether the path is a secret. */
export function isSecret(kind: Kind, path: string): boolean {
  const { key, field } = resolveField(kind, path)
  return appliesTo(field.secret, key)
}

/**
 * Returns the paths of an object's secrets that an update would send to a new destination without setting them. A secret that only loses
 * its destination is not one of them.
 */
export function findRedirectedSecrets(kind: Kind, live: FlatFields, update: FlatFields): string[] {
  return Object.entries(kind.fields).flatMap(([name, { destination, secret }]) => {
    if (!destination || !Array.isArray(secret)) return []
    const updated = { ...live, ...update }
    const before = destination(readMap(live, name), live)
    const after = destination(readMap(updated, name), updated)
    const isNew = Object.entries(after).some(([part, to]) => to !== undefined && !isDeepEqual(before[part], to))
    if (!isNew) return []
    return secret.map((key) => `${name}.${key}`).filter((path) => !isAbsent(live[path]) && !Object.hasOwn(update, path))
  })
}

/** Returns the values of a map that are not empty, by key. */
function readMap(fields: FlatFields, map: string): Readonly<Record<string, Json>> {
  const paths = listMapPaths(fields, map).filter((path) => !isAbsent(fields[path]))
  return Object.fromEntries(paths.map((path) => [path.slice(map.length + 1), fields[path]!]))
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null || value === ''

/** Whether setting the path lets the caller act as the object. */
export function isCredential(kind: Kind, path: string): boolean {
  const { key, field } = resolveField(kind, path)
  return appliesTo(field.credential, key)
}

/** Whether changing the path of a client can change where its tokens are sent or what is in them. */
export function affectsTokens(kind: Kind, path: string): boolean {
  const { key, field } = resolveField(kind, path)
  return !appliesTo(field.cannotAffectTokens, key)
}

/** Whether setting the path, on creation or in an update, lets the caller act as any user of the realm. */
export function isLoginControl(kind: Kind, path: string, operation: 'creation' | 'update'): boolean {
  const { key, field } = resolveField(kind, path)
  return field.loginControl === 'onUpdate' ? operation === 'update' : appliesTo(field.loginControl, key)
}

/** Whether the value is an empty text, or a list with one empty text. */
function isEmptyText(value: Json): boolean {
  return value === '' || (Array.isArray(value) && value.length === 1 && value[0] === '')
}

/** Whether a fact applies to the whole field, or to this key of a map. */
function appliesTo(fact: true | readonly string[] | undefined, key: string | undefined): boolean {
  return fact === true || (key !== undefined && fact?.includes(key) === true)
}

/** Whether the value at the path is generated when the object is created without it. */
export function isGenerated(kind: Kind, path: string, object: Representation): boolean {
  const { key, field } = resolveField(kind, path)
  const { generated } = field
  return appliesTo(typeof generated === 'function' ? generated(object) : generated, key)
}

/**
 * Whether the value is a mask, which keeps the current value: of a secret, or of a key of a map. Keycloak: also masks settings that
 * their provider does not describe.
 */
export function isMasked(kind: Kind, path: string, value: Json): boolean {
  const text = Array.isArray(value) && value.length === 1 ? value[0] : value
  return text === MASK && (isSecret(kind, path) || resolveField(kind, path).key !== undefined)
}

/** Returns the natural keys in the flat value of a relation. */
export function readKeys(value: Json | undefined): readonly Key[] {
  return isList(value) ? value.filter(isKey) : []
}

const isKey = (value: Json): value is Key => isList(value)

/** Returns the keys that are not among the excluded ones. */
export function subtractKeys(keys: readonly Key[], excluded: readonly Key[]): Key[] {
  const addresses = new Set(excluded.map((key) => JSON.stringify(key)))
  return keys.filter((key) => !addresses.has(JSON.stringify(key)))
}

function normalise(field: Field, value: Json): Json {
  if (value === null) return null
  if (field.type === 'map' && typeof value === 'string') return field.emptyIsAbsent && value === '' ? null : value
  if (field.relation) return toRelationKeys(field, value)
  if (field.emptyIsAbsent && value === '') return null
  if (field.type === 'set' || (field.unorderedLists && isList(value))) return [...new Set(readTexts(value))].sort()
  if (field.type === 'list' && field.members) {
    const elements = readObjects(value).map((element) => normaliseElement(field.members!, element))
    if (field.orderedBy !== undefined) return sortByNumber(elements, field.orderedBy)
    return field.elementKey === undefined ? elements : sortByText(elements, field.elementKey)
  }
  return sortMembers(value)
}

function sortByText(elements: Representation[], member: string): Representation[] {
  const text = (element: Representation) => String(element[member] ?? '')
  return elements.sort((a, b) => (text(a) < text(b) ? -1 : Number(text(a) > text(b))))
}

function sortByNumber(elements: Representation[], member: string): Representation[] {
  return elements.sort((a, b) => Number(a[member] ?? 0) - Number(b[member] ?? 0))
}

function normaliseElement(members: Readonly<Record<string, Field>>, element: Representation): Representation {
  const entries = Object.entries(members).flatMap(([name, member]): [string, Json][] => {
    const value = element[name] ?? member.default ?? null
    return member.computed || value === null ? [] : [[name, normalise(member, value)]]
  })
  return Object.fromEntries(entries)
}

/** Whether two elements of a list are equal. Optional members are compared only if both have them. */
export function isSameElement({ optionalMembers = [] }: Field, value: Json, other: Json): boolean {
  if (!optionalMembers.length || !isObject(value) || !isObject(other)) return isDeepEqual(value, other)
  return Object.keys({ ...value, ...other }).every((member) => {
    const [a, b] = [value[member], other[member]]
    const isSkipped = optionalMembers.includes(member) && (a === undefined || b === undefined)
    return isSkipped || isDeepEqual(a, b)
  })
}

/** Returns the value with the keys of its objects sorted, so that equal values have equal JSON texts. */
export function sortMembers(value: Json): Json {
  if (isList(value)) return value.map(sortMembers)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortMembers(value[key]!)]),
  )
}
