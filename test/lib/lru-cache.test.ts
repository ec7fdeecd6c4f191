import { expect, test } from 'vitest'
import { createLruCache } from '../../src/lib/timing/lru-cache.ts'

test('the cache evicts the least recently used values above its size, but keeps the last two', () => {
  const created: string[] = []
  const [a, b, c, huge] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'huge' }]
  const cache = createLruCache<{ name: string }, string>(10)
  const get = (key: { name: string }, size: number) =>
    cache(key, size, () => {
      created.push(key.name)
      return key.name
    })
  expect([get(a, 4), get(b, 4), get(a, 4)]).toEqual(['a', 'b', 'a'])
  get(c, 4)
  get(a, 4)
  expect(created).toEqual(['a', 'b', 'c'])
  get(b, 4)
  expect(created).toEqual(['a', 'b', 'c', 'b'])
  // A value larger than the cache is kept together with one other.
  for (const key of [huge, a, huge, a]) get(key, key === huge ? 100 : 4)
  expect(created.slice(4)).toEqual(['huge', 'a'])
})
