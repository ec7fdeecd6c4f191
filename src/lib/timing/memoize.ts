/** Returns a function that calls `make` once, and returns its value on every call. */
export function memoize<T>(make: () => T): () => T {
  let cached: { value: T } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}

/** Returns a function that calls `make` once for each object, and returns its value on later calls. */
export function memoizeByObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, { readonly value: V }>()
  return (key) => {
    const cached = cache.get(key) ?? { value: make(key) }
    cache.set(key, cached)
    return cached.value
  }
}

/** Like `memoizeByObject`, but only for objects that are reused: cached values of others would only take memory. */
export function memoizeReused<K extends { readonly isReused?: true }, V>(make: (key: K) => V): (key: K) => V {
  const cached = memoizeByObject(make)
  return (key) => (key.isReused ? cached(key) : make(key))
}
