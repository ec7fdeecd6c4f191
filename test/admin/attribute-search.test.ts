import { expect, test } from 'vitest'
import { parseAttributeQuery } from '../../src/service/admin-api/common/list-query.ts'
import { IN_PROPORTION, measureGrowth } from '../support/growth.ts'
import { testServer } from '../support/server.ts'

const { call, realm } = await testServer()

test.each<[string, Record<string, string>]>([
  ['a:b', { a: 'b' }],
  ['a:b c:d', { a: 'b', c: 'd' }],
  ['"a b":"c d" e:"f g"', { 'a b': 'c d', e: 'f g' }],
  ['a:b:c', { a: 'b:c' }],
  ['a:""', { a: '' }],
  ['"x:y":z', { 'x:y': 'z' }],
  ['a', {}],
  ['a b:c', { b: 'c' }],
  [':b', {}],
  ['', {}],
  ['__proto__:x', JSON.parse('{"__proto__":"x"}')],
])('q=%s is parsed into attributes', (q, attributes) => expect(parseAttributeQuery(q)).toEqual(attributes))

test.each(['users', 'groups', 'clients', 'organizations'])(
  'q with more than 2,000 characters returns 400 for %s',
  async (list) => {
    const path = await realm({ organizationsEnabled: true })
    for (const letter of ['a', '"', 'a"', ':', ' a'])
      expect(await call('GET', `${path}/${list}?q=${encodeURIComponent(letter.repeat(2001))}`)).toMatchObject({
        status: 400,
      })
    const longest = await call('GET', `${path}/${list}?q=a:${'b'.repeat(1998)}`)
    expect(JSON.stringify(longest.body)).not.toContain('characters')
  },
)

test.each(['a', '"', 'a"', '"a', ':', ' a', ':"', 'a:'])(
  'parsing a query of many %s takes linear time',
  async (part) => {
    const ratio = await measureGrowth(250 / part.length, (size) => {
      const query = part.repeat(size)
      return () => parseAttributeQuery(query)
    })
    expect(ratio).toBeLessThan(IN_PROPORTION)
  },
)
