// The last notified drift of each realm, so that only one of several processes notifies, and none is lost if a process dies.
import { sql } from 'kysely'
import { bigint, json, query, type RowOf, row } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const driftNotificationRow = row({
  number: bigint,
  drift: json<readonly unknown[]>(),
})

/** The last notified drift, and the number of notifications so far. */
export type DriftNotification = RowOf<typeof driftNotificationRow>

/** Returns the last notification of a realm, and locks it until the transaction ends. One statement. */
export async function lockDriftNotification(tx: Transaction, realm: number): Promise<DriftNotification> {
  return query(driftNotificationRow)`
    insert into drift_notification as t (realm, number, drift) values (${realm}, 0, '[]')
    on conflict (realm) do update set number = t.number where t.realm = ${realm}
    returning number, drift`.firstOrThrow(tx)
}

/** Stores the last notified drift of a realm, and its number of notifications. One statement. */
export async function updateDriftNotification(
  tx: Transaction,
  realm: number,
  { number, drift }: DriftNotification,
): Promise<void> {
  await sql`
    update drift_notification set number = ${number}, drift = ${JSON.stringify(drift)}::jsonb where realm = ${realm}`.execute(
    tx,
  )
}

/** Returns the numbers of the realms whose last notification has drift. One statement. */
export async function selectRealmsWithNotifiedDrift(tx: Transaction): Promise<number[]> {
  const realms = await query(row({ number: bigint }))`
    select r.number from realm r join drift_notification t on t.realm = r.number where t.drift <> '[]'`.all(tx)
  return realms.map(({ number }) => number)
}
