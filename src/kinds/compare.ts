// The one diff engine: representations as flat fields, and whether two values of a field say the same.
import { isDeepStrictEqual } from 'node:util'
import type { Field } from './fields.ts'
import { isList, type Json, type Representation } from './json.ts'
import type { Key, Kind } from './kind.ts'
import { MASK } from './mask.ts'
import { relationKeys, relationValue } from './relations.ts'

/** Normalised values by path: the name of a field, or `field.key` for a key of a map. Relations are lists of keys. */
export type FlatFields = Readonly<Record<string, Json>>

/** One field that differs. */
export interface Difference {
  readonly path: string
  readonly from: Json
  readonly to: Json
}

/**
 * The stated fields of a representation, normalised; computed ones and absent ones are left out, null stays null. An empty secret is absent:
 * it would let everybody in who sends nothing.
 */
export function flatten(kind: Kind, representation: Representation): FlatFields {
  const flat: Record<string, Json> = {}
  for (const [name, value] of Object.entries(representation)) {
    const field = kind.fields[name]
    if (!field || field.computed || value === undefined) continue
    const isMap = field.type === 'map' && value !== null
    for (const [key, one] of isMap ? Object.entries(value) : ([[undefined, value]] as const)) {
      if (isAmong(field.secret, key) && isEmpty(one)) continue
      flat[key === undefined ? name : `${name}.${key}`] = normalise(field, one)
    }
  }
  return flat
}

/** Returns the fields with each text in lower case that counts in any case, whoever states it. Java's toLowerCase does the same. */
export function foldTexts(kind: Kind, fields: FlatFields): FlatFields {
  return Object.fromEntries(
    Object.entries(fields).map(([path, value]) => {
      const isFolded = typeof value === 'string' && kind.fields[path]?.folded
      return [path, isFolded ? value.toLowerCase() : value]
    }),
  )
}

/** The representation that the flat fields make; a field that is null is left out. */
export function assemble(kind: Kind, flat: FlatFields): Representation {
  const representation: Representation = {}
  for (const [path, value] of Object.entries(flat)) {
    if (value === null) continue
    const { name, key, field } = resolve(kind, path)
    if (field.relation) representation[name] = relationValue(field, value as readonly Key[])
    else if (key === undefined) representation[name] = value
    else {
      representation[name] ??= {}
      ;(representation[name] as Representation)[key] = value
    }
  }
  return representation
}

/** What creation gives to stated fields: defaults where nothing is stated, also key by key in maps; nulls are gone. */
export function creation(kind: Kind, stated: FlatFields): FlatFields {
  const given = flatten(kind, kind.defaults(assemble(kind, stated)))
  const none = Object.keys(stated).filter((path) => stated[path] === null && isWholeMap(kind, path))
  const left = Object.entries(given).filter(([path]) => !none.some((map) => path.startsWith(`${map}.`)))
  const all = { ...Object.fromEntries(left), ...stated }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
}

/** Whether the path means a map as a whole: documents state so that there is none. */
export function isWholeMap(kind: Kind, path: string): boolean {
  const { key, field } = resolve(kind, path)
  return field.type === 'map' && key === undefined
}

/** The paths of the keys that a map has. */
export function keysUnder(fields: FlatFields, map: string): string[] {
  return Object.keys(fields).filter((path) => path.startsWith(`${map}.`))
}

/** The value at a path, null where there is none; of a whole map an object of its keys. */
export function valueAt(kind: Kind, fields: FlatFields, path: string): Json {
  if (!isWholeMap(kind, path)) return fields[path] ?? null
  const keys = keysUnder(fields, path)
  return keys.length ? Object.fromEntries(keys.map((key) => [key.slice(path.length + 1), fields[key]!])) : null
}

/** Where two states differ in what `to` states: an absent `from` is null. A relation differs where any element does. */
export function differences(kind: Kind, from: FlatFields, to: FlatFields): Difference[] {
  return Object.entries(to)
    .filter(([path, value]) => !same(kind, path, value, from[path] ?? null))
    .map(([path, value]) => ({ path, from: from[path] ?? null, to: value }))
}

/** Whether the stated value says what the other one says. */
export function same(kind: Kind, path: string, stated: Json, other: Json): boolean {
  const { field } = resolve(kind, path)
  if (field.optionalMembers && Array.isArray(stated) && Array.isArray(other))
    return stated.length === other.length && stated.every((one, at) => sameElement(field, one, other[at]!))
  return identical(stated, other)
}

/** Whether two values are the same in everything but the order of keys. */
export function identical(one: Json | undefined, other: Json | undefined): boolean {
  return isDeepStrictEqual(one, other)
}

/** The field of a path, and its parts. Throws on a path that the kind does not have. */
export function resolve(kind: Kind, path: string): { name: string; key: string | undefined; field: Field } {
  const dot = path.indexOf('.')
  const name = dot < 0 ? path : path.slice(0, dot)
  const field = kind.fields[name]
  if (!field) throw new Error(`${kind.name} has no field ${path}`)
  return { name, key: dot < 0 ? undefined : path.slice(dot + 1), field }
}

/** Whether the path holds a secret. */
export function isSecret(kind: Kind, path: string): boolean {
  const { key, field } = resolve(kind, path)
  return isAmong(field.secret, key)
}

/**
 * Returns the paths of an object's secrets that would be sent elsewhere than before, since `set` gives them a destination that they did not
 * have, and which it does not state anew. One that has no destination any more stays: it is removed once it gets another.
 */
export function misdirectedSecrets(kind: Kind, live: FlatFields, set: FlatFields): string[] {
  return Object.entries(kind.fields).flatMap(([name, { destination, secret }]) => {
    if (!destination || !Array.isArray(secret)) return []
    const next = { ...live, ...set }
    const before = destination(settingsIn(live, name), live)
    const after = destination(settingsIn(next, name), next)
    const isMoved = Object.entries(after).some(([part, to]) => to !== undefined && !identical(before[part], to))
    if (!isMoved) return []
    return secret.map((key) => `${name}.${key}`).filter((path) => !isAbsent(live[path]) && !Object.hasOwn(set, path))
  })
}

/** The settings that a map has, by key. */
function settingsIn(fields: FlatFields, map: string): Readonly<Record<string, Json>> {
  const own = keysUnder(fields, map).filter((path) => !isAbsent(fields[path]))
  return Object.fromEntries(own.map((path) => [path.slice(map.length + 1), fields[path]!]))
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null || value === ''

/** Whether who sets the path can act in place of the object. */
export function isProof(kind: Kind, path: string): boolean {
  const { key, field } = resolve(kind, path)
  return isAmong(field.proves, key)
}

/** Whether who sets the path can act in place of anybody in the realm; of an object that is made with it, or is there. */
export function isAdmission(kind: Kind, path: string, at: 'creation' | 'later'): boolean {
  const { key, field } = resolve(kind, path)
  return field.admits === 'later' ? at === 'later' : isAmong(field.admits, key)
}

/** Whether the value is an empty text, or a list of one. */
function isEmpty(value: Json): boolean {
  return value === '' || (Array.isArray(value) && value.length === 1 && value[0] === '')
}

/** Whether a fact of a field holds for it, or for that key of a map. */
function isAmong(fact: true | readonly string[] | undefined, key: string | undefined): boolean {
  return fact === true || (key !== undefined && fact?.includes(key) === true)
}

/** Whether the value of the path is made up for an object that states none. */
export function isGenerated(kind: Kind, path: string, object: Representation): boolean {
  const { key, field } = resolve(kind, path)
  const { generated } = field
  return isAmong(typeof generated === 'function' ? generated(object) : generated, key)
}

/**
 * Whether the value says that what is there stays: the mask of a secret, or of a key of a map. Keycloak: settings that
 * a provider does not describe are masked too.
 */
export function isMasked(kind: Kind, path: string, value: Json): boolean {
  const text = Array.isArray(value) && value.length === 1 ? value[0] : value
  return text === MASK && (isSecret(kind, path) || resolve(kind, path).key !== undefined)
}

/** The elements that the flat value of a relation names. */
export function keysOf(value: Json | undefined): readonly Key[] {
  return (value ?? []) as readonly Key[]
}

/** The elements of a list that are in it and not in the other. */
export function missing(keys: readonly Key[], from: readonly Key[]): Key[] {
  const present = new Set(from.map((key) => JSON.stringify(key)))
  return keys.filter((key) => !present.has(JSON.stringify(key)))
}

function normalise(field: Field, value: Json): Json {
  if (value === null) return null
  if (field.relation) return relationKeys(field, value)
  if (field.emptyIsAbsent && value === '') return null
  if (field.type === 'set' || (field.setValues && Array.isArray(value))) return [...new Set(value as string[])].sort()
  if (field.type === 'list' && field.members) {
    const elements = (value as Representation[]).map((one) => normaliseElement(field.members!, one))
    if (field.orderedBy !== undefined) return byNumber(elements, field.orderedBy)
    return field.elementKey === undefined ? elements : byText(elements, field.elementKey)
  }
  return ordered(value)
}

function byText(elements: Representation[], member: string): Representation[] {
  const text = (one: Representation) => String(one[member] ?? '')
  return elements.sort((a, b) => (text(a) < text(b) ? -1 : Number(text(a) > text(b))))
}

function byNumber(elements: Representation[], member: string): Representation[] {
  return elements.sort((a, b) => Number(a[member] ?? 0) - Number(b[member] ?? 0))
}

function normaliseElement(members: Readonly<Record<string, Field>>, element: Representation): Representation {
  const stated = Object.entries(members).flatMap(([name, member]): [string, Json][] => {
    const value = element[name] ?? member.default ?? null
    return member.computed || value === null ? [] : [[name, normalise(member, value)]]
  })
  return Object.fromEntries(stated)
}

/** Whether elements of a list say the same; members that need not be stated count where both state them. */
export function sameElement({ optionalMembers = [] }: Field, one: Json, other: Json): boolean {
  if (!optionalMembers.length) return identical(one, other)
  const [left, right] = [one as Representation, other as Representation]
  return Object.keys({ ...left, ...right }).every((member) => {
    const [a, b] = [left[member], right[member]]
    const unsaid = optionalMembers.includes(member) && (a === undefined || b === undefined)
    return unsaid || identical(a, b)
  })
}

/** The value with the keys of its objects in order, so that equal values have equal texts. */
export function ordered(value: Json): Json {
  if (isList(value)) return value.map(ordered)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, ordered(value[key]!)]),
  )
}
