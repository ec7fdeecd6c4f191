// The outbox: what is to leave the server once the transaction that caused it is committed.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { chunks } from '../../lib/chunks.ts'
import { countRow, integer, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { CHUNK } from '../objects.ts'

/** A message to keep: which kind, and what only its kind understands, sealed. */
export interface Sealed {
  readonly kind: string
  readonly body: string
}

const claimedRow = row({
  kind: text,
  body: text,
  realm: integer,
  realmName: text,
  id: text,
  /** Which attempt this is, from 1. */
  attempts: integer,
})

/** A message that one process has taken, to try to deliver it. */
export type Claimed = RowOf<typeof claimedRow>

/** Keeps messages. One statement per chunk. */
export async function insertMessages(
  tx: Transaction,
  realm: number,
  { due, messages }: { readonly due: Date; readonly messages: readonly Sealed[] },
): Promise<void> {
  for (const chunk of chunks(messages, CHUNK)) {
    const rows = chunk.map((message) => ({ ...message, id: randomUUID() }))
    await sql`
      insert into outbox (realm, id, kind, due, attempts, body)
      select ${realm}, x.id, x.kind, ${due}::timestamptz, 0, x.body
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(id text, kind text, body text)`.execute(tx)
  }
}

/**
 * Takes the message of any realm that has been due longest. Nobody else takes it before the lease is over, nor is it lost
 * when the process dies meanwhile. One statement.
 */
export async function claimMessage(tx: Transaction, now: Date, leaseEnd: Date): Promise<Claimed | undefined> {
  return rows(claimedRow)`
    with taken as materialized (
      select x.realm, x.id, r.name
      from outbox x join realm r on r.number = x.realm
      where x.due <= ${now}::timestamptz
      order by x.due limit 1 for update of x skip locked
    )
    update outbox o set due = ${leaseEnd}::timestamptz, attempts = o.attempts + 1
    from taken
    where o.realm = taken.realm and o.id = taken.id
    returning o.realm, taken.name as "realmName", o.id, o.kind, o.body, o.attempts`.first(tx)
}

/** Forgets a message that has been delivered, or never will be; unless somebody has taken it again. One statement. */
export async function deleteMessage(tx: Transaction, { realm, id, attempts }: Claimed): Promise<void> {
  await sql`delete from outbox where realm = ${realm} and id = ${id} and attempts = ${attempts}`.execute(tx)
}

/** Puts a message back for a later attempt; unless somebody has taken it again. One statement. */
export async function postponeMessage(tx: Transaction, { realm, id, attempts }: Claimed, due: Date): Promise<void> {
  await sql`
    update outbox set due = ${due}::timestamptz
    where realm = ${realm} and id = ${id} and attempts = ${attempts}`.execute(tx)
}

/** How many messages of all realms wait. One statement. */
export async function countMessages(tx: Transaction): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from realm r join outbox o on o.realm = r.number`.one(tx)
  return count
}
