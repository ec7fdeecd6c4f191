/** Returns a function that calls `make` once, and returns its value on every call. */
export function memoize<T>(make: () => T): () => T {
  let cached: { value: T } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}
