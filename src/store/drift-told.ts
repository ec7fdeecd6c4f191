// What was told of the drift of a realm: so that of several processes one tells it, and one that dies loses nothing.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** The drift that was told last, and how many times something was told. */
export interface Told {
  readonly number: number
  readonly drift: readonly unknown[]
}

/** What was told, which nobody else can read before the transaction ends. One statement. */
export async function lockTold(tx: Transaction, realm: number): Promise<Told> {
  const { rows } = await sql<Told>`
    insert into drift_told as t (realm, number, drift) values (${realm}, 0, '[]')
    on conflict (realm) do update set number = t.number where t.realm = ${realm}
    returning number, drift`.execute(tx)
  return rows[0]!
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
  const { rows } = await sql<{ number: number }>`
    select r.number from realm r join drift_told t on t.realm = r.number where t.drift <> '[]'`.execute(tx)
  return rows.map(({ number }) => number)
}
