// The form in which two servers' answers are compared: without ids, times and generated secrets, sets in order.
import { isObject, replaceVolatileValues } from './tape.ts'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** Ids that are known become names; what is made up anew each time becomes a placeholder. */
export function toComparable(value: unknown, realm: string, names: ReadonlyMap<string, string>): unknown {
  return form(value, 0)

  function form(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return replaceVolatileValues(value)
    if (Array.isArray(value)) return list(value.map((one) => form(one, depth + 1)))
    if (!isObject(value)) return value
    // A role inside an answer is only referred to. (Answers stand at the second level, by operation and name.)
    if (depth > 2 && 'containerId' in value && 'clientRole' in value)
      return value.clientRole ? `${named(String(value.containerId))} / ${value.name}` : named(String(value.name))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== 'id')
        .map(([name, one]) => [named(name), form(one, depth + 1)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  }

  function text(value: string): string {
    if (/^[[{]/.test(value)) {
      try {
        return JSON.stringify(form(JSON.parse(value), 0))
      } catch {}
    }
    return replaceVolatileValues(named(value)) as string
  }

  function named(value: string): string {
    const known = names.get(value) ?? value.replaceAll(uuid, (id) => names.get(id) ?? id)
    return known.replaceAll(realm, '{realm}')
  }
}

/** Objects by name where they have names, sets sorted; what has a place in an order keeps it. */
function list(values: readonly unknown[]): unknown {
  if (values.some((one) => isObject(one) && ('requirement' in one || 'priority' in one))) return values
  const names = values.map((one) =>
    isObject(one) ? (one.clientId ?? one.username ?? one.alias ?? one.name) : undefined,
  )
  if (values.length && names.every((name) => typeof name === 'string') && new Set(names).size === names.length)
    return Object.fromEntries(values.map((one, at) => [names[at], one]).sort(([a], [b]) => (a! < b! ? -1 : 1)))
  return [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
