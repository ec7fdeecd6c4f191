/** Removes the oldest entries of a map above a number. */
export function evictOldest<K>(entries: Map<K, unknown>, limit: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return
    entries.delete(oldest)
  }
}
