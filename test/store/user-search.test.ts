// Searches for parts of names, of which an index finds those with three letters or digits in a row.
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
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

/** Opens a service with a realm of 5,000 users with passwords, who are members of group 0 and of a small group. Returns a function that searches, and returns the plan of the statement. */
async function openLargeRealm() {
  const location = await newDatabase()
  const statements: ExecutedStatement[] = []
  const service = await openService({
    ...{ location, key: new Uint8Array(32) },
    onStatement: (statement) => statements.push(statement),
  })
  const realm = await newRealm(service)
  const client = new pg.Client(location.url)
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await service.close()
  })
  await client.query(
    `with realm as (select r.number from realm r where r.name = $1), users as (
      insert into user_account (realm, id, username, version, body)
      select r.number, n::text, 'user-' || n, 1, '{}' from realm r, generate_series(1, 5000) n)
    insert into credential (realm, user_account, id, position, type, created_at, body)
    select r.number, n::text, n::text, 0, 'password', now(), '{}' from realm r, generate_series(1, 5000) n`,
    [realm],
  )
  await client.query(
    `with realm as (select r.number from realm r where r.name = $1), groups as (
      insert into realm_group (realm, id, path, path_folded, version, body)
      select r.number, n::text, '/' || n, '/' || n, 1, '{}' from realm r, generate_series(0, 1000) n)
    insert into user_group (realm, user_account, realm_group)
    select r.number, n::text, g::text from realm r, generate_series(1, 5000) n, unnest(array[0, 1 + n % 1000]) g`,
    [realm],
  )
  await client.query('vacuum analyze user_account, credential, user_group')
  return async (search: Omit<UserSearch, 'visible'>): Promise<string> => {
    const find = () =>
      service.read(SYSTEM, realm, ({ tx, realm: { number } }) =>
        searchUsers(tx, number, { search: { ...search, visible: 'all' }, page: { max: 20 } }),
      )
    // Connections prepare a statement when they execute it again.
    for (let time = 0; time < 3; time++) await find()
    const { sql, parameters } = statements.at(-1)!
    const isPrepared = await service.query(async (db) => {
      const prepared = await db.executeQuery<{ statement: string }>(
        CompiledQuery.raw('select statement from pg_prepared_statements'),
      )
      return prepared.rows.some(({ statement }) => statement === sql)
    })
    // The plan that a prepared statement has after some executions, whatever its parameters are.
    await client.query(`set plan_cache_mode = ${isPrepared ? 'force_generic_plan' : 'auto'}`)
    await client.query(`prepare search as ${sql}`)
    const values = parameters.map((value) => pg.escapeLiteral(String(value))).join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute search(${values})`)
    await client.query('deallocate search')
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
}

test.runIf(inject('databaseUrl'))('a search for three letters of a name reads few of many users', async () => {
  const explain = await openLargeRealm()
  for (const search of [{ anyName: ['%4321%'] }, { username: '%4321%' }, { lastName: '%4321%' }])
    expect(await explain(search)).toContain('user_account_names')
})

test.runIf(inject('databaseUrl'))('a search that finds many users reads a page of them', async () => {
  const explain = await openLargeRealm()
  for (const search of [{ anyName: ['%user%'] }, { username: '%user%' }, { group: '0' }])
    expect(await explain(search)).toContain('using user_account_username')
  expect(await explain({ group: '1' })).not.toContain('using user_account_username')
})

test.runIf(inject('databaseUrl'))('a page of users reads their credentials only', async () => {
  const explain = await openLargeRealm()
  const plan = await explain({})
  expect(plan).toContain('user_account_username')
  expect(plan).not.toContain('Seq Scan')
})
