// Settings of the store itself.
import { sql } from 'kysely'
import { query, row, text } from './query.ts'
import type { Transaction } from './transaction.ts'

/** Returns a setting, and stores the value first if there is none. One statement. */
export async function getOrCreateSetting(tx: Transaction, name: string, value: string): Promise<string> {
  const setting = await query(row({ value: text }))`
    with existing as (
      select value from store_setting where name = ${name}
    ), created as (
      insert into store_setting (name, value) select ${name}, ${value} where not exists (select from existing)
      on conflict (name) do update set value = store_setting.value
      returning value
    )
    select value from existing union all select value from created`.firstOrThrow(tx)
  return setting.value
}

/** Returns a setting. Throws if there is none. One statement. */
export async function getSetting(tx: Transaction, name: string): Promise<string> {
  const { value } = await query(
    row({ value: text }),
  )`select value from store_setting where name = ${name}`.firstOrThrow(tx)
  return value
}

/** Replaces the value `from` of a setting by `to`. Returns false if the setting had another value. One statement. */
export async function replaceSetting(
  tx: Transaction,
  name: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const { rows } = await sql`
    update store_setting set value = ${to} where name = ${name} and value = ${from} returning name`.execute(tx)
  return rows.length > 0
}

/** Checks that the database responds. Throws its error otherwise. One statement. */
export async function ping(tx: Transaction): Promise<void> {
  await sql`select 1`.execute(tx)
}
