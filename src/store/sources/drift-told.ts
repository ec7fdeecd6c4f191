// What was told of the drift of a realm: so that of several processes one tells it, and one that dies loses nothing.
import { sql } from 'kysely'
import { bigint, json, type RowOf, row, rows } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

const toldRow = row({
  number: bigint,
  drift: json<readonly unknown[]>(),
})

/** The drift that was told last, and how many times something was told. */
export type Told = RowOf<typeof toldRow>

/** What was told, which nobody else can read before the transaction ends. One statement. */
export async function lockTold(tx: Transaction, realm: number): Promise<Told> {
  return rows(toldRow)`
    insert into drift_told as t (realm, number, drift) values (${realm}, 0, '[]')
    on conflict (realm) do update set number = t.number where t.realm = ${realm}
    returning number, drift`.one(tx)
}

/** Keeps what was told. One statement. */
export async function keepTold(tx: Transaction, realm: number, { number, drift }: Told): Promise<void> {
  await sql`
    update drift_told set number = ${number}, drift = ${JSON.stringify(drift)}::jsonb where realm = ${realm}`.execute(
    tx,
  )
}

/** The numbers of the realms of which drift was told that is not settled yet. One statement. */
export async function selectTold(tx: Transaction): Promise<number[]> {
  const realms = await rows(row({ number: bigint }))`
    select r.number from realm r join drift_told t on t.realm = r.number where t.drift <> '[]'`.all(tx)
  return realms.map(({ number }) => number)
}
