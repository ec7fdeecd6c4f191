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

/** The response for clients: Keycloak searches them by configured attributes only. */
const notSearchable = { status: 400, body: { error_description: expect.stringContaining('not allowed for search') } }

test.each(['users', 'groups', 'clients', 'organizations'])(
  'q with more than 2,000 characters returns 400 for %s',
  async (collection) => {
    const path = await createRealm({ organizationsEnabled: true })
    for (const text of ['a', '"', 'a"', ':', ' a'])
      expect(await call('GET', `${path}/${collection}?q=${encodeURIComponent(text.repeat(2001))}`)).toMatchObject({
        status: 400,
      })
    const longest = await call('GET', `${path}/${collection}?q=a:${'b'.repeat(1998)}`)
    expect(longest).toMatchObject(collection === 'clients' ? notSearchable : { status: 200, body: [] })
  },
)

test.each(['users', 'groups', 'clients', 'organizations'])(
  'q with more than 20 attributes returns 400 for %s',
  async (collection) => {
    const path = await createRealm({ organizationsEnabled: true })
    const search = (count: number) => {
      const q = Array.from({ length: count }, (_, number) => `a${number}:b`).join(' ')
      return call('GET', `${path}/${collection}?q=${encodeURIComponent(q)}`)
    }
    expect(await search(20)).toMatchObject(collection === 'clients' ? notSearchable : { status: 200, body: [] })
    expect(await search(21)).toMatchObject({
      status: 400,
      body: { error_description: 'The parameter q must not have more than 20 attributes' },
    })
  },
)

test.each(['users', 'users/count'])('a search with more than 20 words returns 400 for %s', async (list) => {
  const path = await createRealm()
  const search = (count: number) => call('GET', `${path}/${list}?search=${'a+'.repeat(count)}`)
  expect((await search(20)).status).toBe(200)
  expect(await search(21)).toMatchObject({ status: 400 })
})

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
