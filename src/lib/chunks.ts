/** Yields the items in order, in lists of at most `size`. */
export function* chunks<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let chunk: T[] = []
  for (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length) yield chunk
}
