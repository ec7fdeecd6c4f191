// Searches by attributes: the query parameter `q` of users, groups, clients and organizations.
import { expect, test } from 'vitest'
import { parseAttributeQuery } from '../../src/service/admin-api/common/list-query.ts'
import { IN_PROPORTION, measureGrowth } from '../support/growth.ts'
import { testServer } from '../support/server.ts'

const { call, createRealm } = await testServer()

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
  async (collection) => {
    const path = await createRealm({ organizationsEnabled: true })
    for (const text of ['a', '"', 'a"', ':', ' a'])
      expect(await call('GET', `${path}/${collection}?q=${encodeURIComponent(text.repeat(2001))}`)).toMatchObject({
        status: 400,
      })
    const response = await call('GET', `${path}/${collection}?q=a:${'b'.repeat(1998)}`)
    expect(JSON.stringify(response.body)).not.toContain('characters')
  },
)

test.each(['a', '"', 'a"', '"a', ':', ' a', ':"', 'a:'])(
  'parsing q takes linear time for many repetitions of %s',
  async (text) => {
    const ratio = await measureGrowth(250 / text.length, (size) => {
      const query = text.repeat(size)
      return () => parseAttributeQuery(query)
    })
    expect(ratio).toBeLessThan(IN_PROPORTION)
  },
)
