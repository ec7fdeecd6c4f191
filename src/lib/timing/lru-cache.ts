/**
 * Creates a cache of the last used values, up to a total size in any unit, but at least of the last two, since two may be used in turn.
 * Evicted values are created again when they are needed: for values that are large and cheap to create.
 */
export function createLruCache<K, V>(limit: number): (key: K, size: number, make: () => V) => V {
  const entries = new Map<K, { value: V; size: number }>()
  let total = 0
  let lastKey: K | undefined
  let lastEntry: { value: V; size: number } | undefined
  return (key, size, make) => {
    // Most callers use the same value many times in a row.
    if (lastEntry && key === lastKey) return lastEntry.value
    const cached = entries.get(key)
    const entry = cached ?? { value: make(), size }
    // Moves the entry to the end of the map, which is evicted last.
    if (cached) entries.delete(key)
    else total += size
    entries.set(key, entry)
    for (const [oldest, evicted] of entries) {
      if (total <= limit || entries.size <= 2) break
      entries.delete(oldest)
      total -= evicted.size
    }
    lastKey = key
    lastEntry = entry
    return entry.value
  }
}
