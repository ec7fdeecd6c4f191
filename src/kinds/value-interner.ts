import { isList, type Json } from './json.ts'

/** The maximum number of retained values, and the maximum length of their JSON texts. Values that repeat are short and appear early. */
const MAX_VALUES = 20_000
const MAX_LENGTH = 100

/**
 * Creates a function that returns the same instance for equal values, so that equal values of many objects are stored once. Lists are
 * copied without spare capacity. The values must not be changed.
 */
export function createValueInterner(): (value: Json) => Json {
  const instances = new Map<string, Json>()
  return (value) => {
    if (typeof value !== 'string' && !isList(value)) return value
    const text = typeof value === 'string' ? `"${value}` : JSON.stringify(value)
    const existing = instances.get(text)
    if (existing !== undefined) return existing
    const instance = isList(value) ? copyList(value) : value
    if (instances.size < MAX_VALUES && text.length < MAX_LENGTH) instances.set(text, instance)
    return instance
  }
}

function copyList(list: readonly Json[]): Json[] {
  return list.map((element) => (isList(element) ? copyList(element) : element))
}
