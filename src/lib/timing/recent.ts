/**
 * Remembers what was asked for last, up to a total size, and at least the last two, since two may be asked for in turn:
 * what was forgotten is made anew. For what takes much room and little time.
 */
export function recent<K, V>(limit: number): (key: K, size: number, make: () => V) => V {
  const kept = new Map<K, { value: V; size: number }>()
  let total = 0
  return (key, size, make) => {
    const known = kept.get(key)
    const entry = known ?? { value: make(), size }
    // What is asked for becomes the youngest.
    if (known) kept.delete(key)
    else total += size
    kept.set(key, entry)
    for (const [oldest, { size: own }] of kept) {
      if (total <= limit || kept.size <= 2) break
      kept.delete(oldest)
      total -= own
    }
    return entry.value
  }
}
