// The outbox: messages to deliver after the transaction that caused them has committed.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE, countRow, integer, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** A message to deliver. The body is sealed, and its form depends on the kind. */
export interface OutboxMessage {
  readonly kind: string
  readonly body: string
}

const claimedMessageRow = row({
  kind: text,
  body: text,
  realm: integer,
  realmName: text,
  id: text,
  /** Number of the current attempt, from 1. */
  attempts: integer,
})

/** A message that one process has claimed to deliver it. */
export type ClaimedMessage = RowOf<typeof claimedMessageRow>

/** Inserts messages. One statement per chunk. */
export async function insertMessages(
  tx: Transaction,
  realm: number,
  { due, messages }: { readonly due: Date; readonly messages: readonly OutboxMessage[] },
): Promise<void> {
  for (const chunk of chunks(messages, CHUNK_SIZE)) {
    const rows = chunk.map((message) => ({ ...message, id: randomUUID() }))
    await sql`
      insert into outbox (realm, id, kind, due, attempts, body)
      select ${realm}, x.id, x.kind, ${due}::timestamptz, 0, x.body
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(id text, kind text, body text)`.execute(tx)
  }
}

/**
 * Claims the message that has been due longest, of any realm. No other process can claim it until `leaseEnd`, and it is claimed again then
 * if this process dies. One statement.
 */
export async function claimMessage(tx: Transaction, now: Date, leaseEnd: Date): Promise<ClaimedMessage | undefined> {
  return query(claimedMessageRow)`
    with claimed as materialized (
      select x.realm, x.id, r.name
      from outbox x join realm r on r.number = x.realm
      where x.due <= ${now}::timestamptz
      order by x.due limit 1 for update of x skip locked
    )
    update outbox o set due = ${leaseEnd}::timestamptz, attempts = o.attempts + 1
    from claimed
    where o.realm = claimed.realm and o.id = claimed.id
    returning o.realm, claimed.name as "realmName", o.id, o.kind, o.body, o.attempts`.first(tx)
}

/** Deletes a message that was delivered or is given up, unless it was claimed again meanwhile. One statement. */
export async function deleteMessage(tx: Transaction, { realm, id, attempts }: ClaimedMessage): Promise<void> {
  await sql`delete from outbox where realm = ${realm} and id = ${id} and attempts = ${attempts}`.execute(tx)
}

/** Postpones a message, unless it was claimed again meanwhile. One statement. */
export async function postponeMessage(
  tx: Transaction,
  { realm, id, attempts }: ClaimedMessage,
  due: Date,
): Promise<void> {
  await sql`
    update outbox set due = ${due}::timestamptz
    where realm = ${realm} and id = ${id} and attempts = ${attempts}`.execute(tx)
}

/** Returns the number of messages of all realms. One statement. */
export async function countPendingMessages(tx: Transaction): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from realm r join outbox o on o.realm = r.number`.firstOrThrow(tx)
  return count
}
