// The form in which responses of two servers are compared: without ids, times and generated secrets, and with sorted sets.
import { isObject, replaceVolatileValues } from './recorded-exchanges.ts'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** Replaces known ids by names, and generated values by placeholders. */
export function toComparable(value: unknown, realm: string, names: ReadonlyMap<string, string>): unknown {
  return form(value, 0)

  function form(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return replaceVolatileValues(value)
    if (Array.isArray(value)) return list(value.map((element) => form(element, depth + 1)))
    if (!isObject(value)) return value
    // A role inside a response is a reference. Responses are at the second level, below operation and name.
    if (depth > 2 && 'containerId' in value && 'clientRole' in value)
      return value.clientRole
        ? `${replaceIds(String(value.containerId))} / ${value.name}`
        : replaceIds(String(value.name))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== 'id')
        .map(([name, member]) => [replaceIds(name), form(member, depth + 1)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  }

  function text(value: string): string {
    if (/^[[{]/.test(value)) {
      try {
        return JSON.stringify(form(JSON.parse(value), 0))
      } catch {}
    }
    return replaceVolatileValues(replaceIds(value)) as string
  }

  function replaceIds(value: string): string {
    const replaced = names.get(value) ?? value.replaceAll(uuid, (id) => names.get(id) ?? id)
    return replaced.replaceAll(realm, '{realm}')
  }
}

/** Returns objects by name, if they have unique names, and other elements sorted, unless their order matters. */
function list(values: readonly unknown[]): unknown {
  if (values.some((value) => isObject(value) && ('requirement' in value || 'priority' in value))) return values
  const names = values.map((value) =>
    isObject(value) ? (value.clientId ?? value.username ?? value.alias ?? value.name) : undefined,
  )
  if (values.length && names.every((name) => typeof name === 'string') && new Set(names).size === names.length)
    return Object.fromEntries(values.map((value, at) => [names[at], value]).sort(([a], [b]) => (a! < b! ? -1 : 1)))
  return [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
