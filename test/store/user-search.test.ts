// Searches for parts of names, of which an index finds those with three letters or digits in a row.
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import type { ExecutedStatement } from '../../src/store/database/query.ts'
import { toContainsPattern, toPrefixPattern } from '../../src/store/like-patterns.ts'
import { searchUsers, type UserSearch } from '../../src/store/users/user-search.ts'
import { newDatabase, newRealm, testService } from '../support/service.ts'

const LETTERS = ['ann', 'Ä', 'й', 'ab', '%', '_', '\\', ' ', "'", '-', '12', '@x.org']
const random = (most: number) => Math.floor(Math.random() * most)
const randomText = (length: number) => Array.from({ length }, () => LETTERS[random(LETTERS.length)]!).join('')

test('a search finds the users one of whose names contains or begins with the text', async () => {
  const { service } = await testService()
  const users = Array.from({ length: 200 }, (_, at) => ({
    ...{ username: `${at}-${randomText(3)}`.toLowerCase(), email: `${randomText(2)}${at}@x.org`.toLowerCase() },
    ...{ firstName: randomText(2), lastName: randomText(3) },
  }))
  const realm = await newRealm(service)
  await service.write(SYSTEM, { realm }, (context) =>
    writers.user.create(
      context,
      users.map((representation) => ({ representation })),
    ),
  )
  const find = (search: Omit<UserSearch, 'visible'>) =>
    service.read(SYSTEM, realm, async ({ tx, realm: { number } }) =>
      (await searchUsers(tx, number, { search: { ...search, visible: 'all' } })).map(({ username }) => username),
    )
  const filter = (isFound: (name: string) => boolean, fields: readonly (keyof (typeof users)[number])[]) =>
    users.filter((user) => fields.some((field) => isFound(user[field].toLowerCase()))).map(({ username }) => username)
  for (let round = 0; round < 60; round++) {
    const text = randomText(1 + random(3)).toLowerCase()
    const [contains, begins] = [(name: string) => name.includes(text), (name: string) => name.startsWith(text)]
    const anyName = ['username', 'email', 'firstName', 'lastName'] as const
    const sort = (names: readonly string[]) => names.toSorted()
    expect(sort(await find({ anyName: [toContainsPattern(text)] })), text).toEqual(sort(filter(contains, anyName)))
    expect(sort(await find({ anyName: [toPrefixPattern(text)] })), text).toEqual(sort(filter(begins, anyName)))
    expect(sort(await find({ lastName: toContainsPattern(text) })), text).toEqual(sort(filter(contains, ['lastName'])))
  }
})

test.runIf(inject('databaseUrl'))('a search for three letters of a name reads few of many users', async () => {
  const location = await newDatabase()
  const statements: ExecutedStatement[] = []
  const service = await openService({
    ...{ location, key: new Uint8Array(32) },
    onStatement: (statement) => statements.push(statement),
  })
  const realm = await newRealm(service)
  const client = new pg.Client(location.url)
  await client.connect()
  await client.query(
    `insert into user_account (realm, id, username, version, body)
    select r.number, n::text, 'user-' || n, 1, '{}' from realm r, generate_series(1, 5000) n where r.name = $1`,
    [realm],
  )
  await client.query('vacuum analyze user_account')
  for (const search of [{ anyName: ['%4321%'] }, { username: '%4321%' }, { lastName: '%4321%' }]) {
    await service.read(SYSTEM, realm, ({ tx, realm: { number } }) =>
      searchUsers(tx, number, { search: { ...search, visible: 'all' }, page: { max: 20 } }),
    )
    const { sql, parameters } = statements.at(-1)!
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...parameters])
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('user_account_names')
  }
  await client.end()
  await service.close()
})
