// The order of keys in JSON. Keycloak: representations list their fields in a fixed order, which kcadm.sh prints, as columns in CSV.
import * as z from 'zod'
import { isList, isObject, type Json, type Representation } from '../kinds/json.ts'

type Sort = (value: Json) => Json

const sorts = new WeakMap<z.core.$ZodType, Sort | undefined>()

/**
 * Returns the value with the keys of its objects in the order of the schema, at each level; the value itself if they are. Keys that the schema lacks come
 * last.
 */
export function sortKeys(schema: z.ZodType | undefined, value: unknown): unknown {
  return (schema && findSort(schema)?.(value as Json)) ?? value
}

/** Returns the function that sorts keys by a schema; undefined if it describes no object. */
function findSort(schema: z.core.$ZodType): Sort | undefined {
  if (!sorts.has(schema)) {
    // A schema may contain itself.
    sorts.set(schema, (value) => createdSort?.(value) ?? value)
    const createdSort = createSort(schema)
    sorts.set(schema, createdSort)
  }
  return sorts.get(schema)
}

function createSort(schema: z.core.$ZodType): Sort | undefined {
  if (schema instanceof z.ZodObject) return createObjectSort(schema)
  if (schema instanceof z.ZodArray) return createListSort(schema)
  if (schema instanceof z.ZodRecord) return createMapSort(schema)
  if (schema instanceof z.ZodLazy) return findSort(schema.unwrap())
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return findSort(schema.unwrap())
  return undefined
}

function createObjectSort({ shape }: z.ZodObject): Sort {
  const members = Object.entries(shape).map(([name, schema]) => ({ name, sort: findSort(schema) }))
  const positions = new Map(members.map(({ name }, position) => [name, position]))
  const isSorted = (value: Representation) => {
    let last = -1
    for (const name of Object.keys(value)) {
      const position = positions.get(name) ?? members.length
      const member = value[name]!
      const sort = members[position]?.sort
      if (position < last || (sort && sort(member) !== member)) return false
      last = position
    }
    return true
  }
  const copySorted = (value: Representation) => {
    const sorted: Record<string, Json> = {}
    let count = 0
    for (const { name, sort } of members) {
      const member = value[name]
      if (member === undefined) continue
      sorted[name] = sort ? sort(member) : member
      count++
    }
    const names = Object.keys(value)
    if (count < names.length) addOthers(sorted, value, names)
    return sorted
  }
  return sortOnce((value) => (!isObject(value) || isSorted(value) ? value : copySorted(value)))
}

/** Returns a sort that sorts a frozen value once: reads find most values in a cache. */
function sortOnce(sort: Sort): Sort {
  const results = new WeakMap<object, Json>()
  return (value) => {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return sort(value)
    const result = results.get(value) ?? sort(value)
    results.set(value, result)
    return result
  }
}

function addOthers(sorted: object, value: Representation, names: readonly string[]): void {
  // An assignment to the name __proto__ would not create a property.
  for (const name of names)
    if (!Object.hasOwn(sorted, name))
      Object.defineProperty(sorted, name, { value: value[name], enumerable: true, configurable: true, writable: true })
}

function createListSort({ element }: z.ZodArray): Sort | undefined {
  const sort = findSort(element)
  return (
    sort &&
    sortOnce((value) => (isList(value) && value.some((member) => sort(member) !== member) ? value.map(sort) : value))
  )
}

function createMapSort({ valueType }: z.ZodRecord): Sort | undefined {
  const sort = findSort(valueType)
  if (!sort) return undefined
  return sortOnce((value) => {
    if (!isObject(value) || Object.values(value).every((member) => sort(member) === member)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sort(member)]))
  })
}
