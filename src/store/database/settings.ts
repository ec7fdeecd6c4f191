// What the store knows of itself.
import { sql } from 'kysely'
import { row, rows, text } from './row.ts'
import type { Transaction } from './transaction.ts'

/** Keeps a value, unless there is one already, when nothing is written; gives the one that is kept then. One statement. */
export async function keepSetting(tx: Transaction, name: string, value: string): Promise<string> {
  const setting = await rows(row({ value: text }))`
    with kept as (
      select value from store_setting where name = ${name}
    ), made as (
      insert into store_setting (name, value) select ${name}, ${value} where not exists (select from kept)
      on conflict (name) do update set value = store_setting.value
      returning value
    )
    select value from kept union all select value from made`.one(tx)
  return setting.value
}

/** The value that is kept. Throws when there is none. One statement. */
export async function getSetting(tx: Transaction, name: string): Promise<string> {
  const { value } = await rows(row({ value: text }))`select value from store_setting where name = ${name}`.one(tx)
  return value
}

/** Puts another value in place of the one that is kept. Gives whether it was that one. One statement. */
export async function replaceSetting(
  tx: Transaction,
  name: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const { rows } = await sql`
    update store_setting set value = ${to} where name = ${name} and value = ${from} returning name`.execute(tx)
  return rows.length > 0
}

/** Throws what the database says when it does not answer. One statement. */
export async function ping(tx: Transaction): Promise<void> {
  await sql`select 1`.execute(tx)
}
