// What was made last is remembered, up to a size.
import { expect, test } from 'vitest'
import { createLruCache } from '../../src/lib/timing/lru-cache.ts'

test('what was made last is not made again; what there is no room for is, the longest unused first', () => {
  const made: string[] = []
  const [a, b, c, huge] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'huge' }]
  const remembered = createLruCache<{ name: string }, string>(10)
  const ask = (key: { name: string }, size: number) =>
    remembered(key, size, () => {
      made.push(key.name)
      return key.name
    })
  expect([ask(a, 4), ask(b, 4), ask(a, 4)]).toEqual(['a', 'b', 'a'])
  ask(c, 4)
  ask(a, 4)
  expect(made).toEqual(['a', 'b', 'c'])
  ask(b, 4)
  expect(made).toEqual(['a', 'b', 'c', 'b'])
  // What is larger than all the room is kept beside one other.
  for (const key of [huge, a, huge, a]) ask(key, key === huge ? 100 : 4)
  expect(made.slice(4)).toEqual(['huge', 'a'])
})
