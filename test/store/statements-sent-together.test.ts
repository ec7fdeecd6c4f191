// Statements of a transaction are executed in the order in which they are sent, also while earlier ones are executed.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openStore, type Store } from '../../src/store/database/database.ts'
import { defer, type Transaction } from '../../src/store/database/transaction.ts'
import { newDatabase } from '../support/service.ts'

let store: Store
beforeAll(async () => {
  store = await openStore(await newDatabase())
  await store.read((db) => sql`create table numbered (number integer primary key)`.execute(db))
})
beforeEach(() => store.read((db) => sql`delete from numbered`.execute(db)))
afterAll(() => store.close())

const countRows = async (tx: Transaction) => {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from numbered`.execute(tx)
  return rows[0]!.count
}
const insert = (tx: Transaction, number: number, comment = 'a text') =>
  sql`insert into numbered values (${number}::integer) /* ${sql.raw(comment)} */`.execute(tx)

test('a statement sees what the one before it has written', async () => {
  await store.transaction(async (tx) => {
    // A statement takes more steps until it is prepared.
    for (let times = 0; times < 4; times++) await countRows(tx)
    for (let number = 0; number < 20; number += 5) {
      const [first, ...later] = [1, 2, 3, 4, 5].map((next) => insert(tx, number + next, `text ${next}`))
      await first
      expect(await countRows(tx)).toBe(number + 5)
      await Promise.all(later)
    }
  })
})

test('what is sent before an error of the work is rolled back too', async () => {
  const transaction = store.transaction(async (tx) => {
    await countRows(tx)
    defer(tx, insert(tx, 1))
    throw new Error('The work fails.')
  })
  await expect(transaction).rejects.toThrow('The work fails.')
  expect(await store.read(countRows)).toBe(0)
})

test('the error of a deferred statement is that of the transaction, and nothing is committed', async () => {
  const transaction = store.transaction(async (tx) => {
    await insert(tx, 1)
    defer(tx, insert(tx, 1))
    defer(tx, insert(tx, 2))
  })
  await expect(transaction).rejects.toThrow(/duplicate key/)
  expect(await store.read(countRows)).toBe(0)
})

test('a check that refuses is awaited before the commit', async () => {
  const transaction = store.transaction(async (tx) => {
    const check = insert(tx, 1).then(() => {
      throw new Error('The check refuses.')
    })
    defer(tx, check, { isCheck: true })
  })
  await expect(transaction).rejects.toThrow('The check refuses.')
  expect(await store.read(countRows)).toBe(0)
})
