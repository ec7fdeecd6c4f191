import type { Json } from './json.ts'

/** How many values are known, and how long they may be: what is common among many objects is short, and met soon. */
const KNOWN = 20_000
const LENGTH = 100

/**
 * Gives the same value for values that say the same, so that what many objects say takes the room of one; nobody may change
 * it. A list comes back without the room that it was given to grow.
 */
export function createValueInterner(): (value: Json) => Json {
  const known = new Map<string, Json>()
  return (value) => {
    if (typeof value !== 'string' && !Array.isArray(value)) return value
    const text = typeof value === 'string' ? `"${value}` : JSON.stringify(value)
    const same = known.get(text)
    if (same !== undefined) return same
    const own = Array.isArray(value) ? exact(value) : value
    if (known.size < KNOWN && text.length < LENGTH) known.set(text, own)
    return own
  }
}

function exact(list: readonly Json[]): Json[] {
  return list.map((one) => (Array.isArray(one) ? exact(one) : one))
}
