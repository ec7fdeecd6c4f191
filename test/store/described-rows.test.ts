// Tests compare the results of statements with the descriptions of their rows.
import { globSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/database/database.ts'
import {
  absent,
  integer,
  json,
  optional,
  query,
  type Row,
  type RowOf,
  row,
  text,
} from '../../src/store/database/query.ts'
import { findRowDifferences } from '../support/described-rows.ts'
import { newDatabase } from '../support/service.ts'

const differences: string[] = []
const store = await openStore(await newDatabase(), (statement) => differences.push(...findRowDifferences(statement)))
afterAll(() => store.close())

/** Returns how the results of a statement about a realm, named by its comment, differ from the descriptions. */
async function differencesOf(comment: string, ...descriptions: Row[]): Promise<string[]> {
  differences.length = 0
  await store.read((db) =>
    query(...descriptions)`
      select 'r' as name, 1 as number, null::text as "displayName" ${sql.raw(`-- ${comment}`)}`.all(db),
  )
  return differences.map((line) => line.replace(/, in: .*/s, ''))
}

test('a correct description has no differences', async () => {
  const right = row({ name: text, number: integer, displayName: optional(text) })
  expect(await differencesOf('right', right)).toEqual([])
  const selected: RowOf<typeof right> = { name: 'r', number: 1, displayName: null }
  expect(selected.displayName).toBeNull()
})

test('a wrong type, a missing column and an undescribed column are differences', async () => {
  expect(await differencesOf('wrong', row({ name: json(), number: integer, title: text }))).toEqual([
    'column "name": expected jsonb (3802), found text (25)',
    'column "title": expected text (25), found no such column',
    'column "displayName": expected none, found text (25)',
  ])
})

test('a null in a column without nulls, and a value in a column of nulls, are differences', async () => {
  expect(await differencesOf('null', row({ name: text, number: integer, displayName: text }))).toEqual([
    'column "displayName": expected text, found null',
  ])
  expect(await differencesOf('value', row({ name: absent(text), number: integer, displayName: absent(text) }))).toEqual(
    ['column "name": expected null, found text'],
  )
})

test('a row must conform to one of several descriptions', async () => {
  const [titled, untitled] = [text, absent(text)].map((displayName) =>
    row({ name: text, number: integer, displayName }),
  )
  expect(await differencesOf('either', titled!, untitled!)).toEqual([])
})

test('a difference names the statement', async () => {
  differences.length = 0
  await store.transaction((tx) => query(row({ name: text }))`select 1 as name`.all(tx))
  expect(differences).toEqual(['column "name": expected text (25), found int4 (23), in: select 1 as name'])
})

test('src declares types of rows by descriptions only', () => {
  const files = globSync('src/**/*.ts').filter((file) => /\b(?:sql|executeQuery)</.test(readFileSync(file, 'utf8')))
  // These implement the generic `executeQuery` of Kysely.
  const drivers = ['pglite-driver', 'postgres-driver', 'query', 'transaction-executor']
  expect(files).toEqual(drivers.map((name) => `src/store/database/${name}.ts`))
})
