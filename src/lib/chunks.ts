/** The items in lists of at most `size`, in order; each list is made when it is asked for. */
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
