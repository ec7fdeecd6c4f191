// The audit entries that are not delivered yet. A row has the entries of a part of a transaction, for one receiver.
import { sql } from 'kysely'
import { bigint, countRow, integer, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** A receiver of audit entries: a log of JSON lines, or a webhook. */
export type AuditSink = 'log' | 'webhook'

/** `body`: the JSON of a list of entries. */
const claimedEntriesRow = row({ number: bigint, body: text, attempts: integer })

/** Entries that one process has claimed to deliver them. */
export type ClaimedAuditEntries = RowOf<typeof claimedEntriesRow>

/** Inserts lists of entries, once for each sink. One statement. */
export async function insertAuditEntries(
  tx: Transaction,
  {
    due,
    sinks,
    lists,
  }: { readonly due: Date; readonly sinks: readonly AuditSink[]; readonly lists: readonly (readonly object[])[] },
): Promise<void> {
  const rows = lists.map((entries, position) => ({ position, entries: entries.length, body: JSON.stringify(entries) }))
  await sql`
    insert into audit_outbox (sink, due, attempts, entries, body)
    select s.sink, ${due}::timestamptz, 0, x.entries, x.body
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(position integer, entries integer, body text)
    cross join unnest(${[...sinks]}::text[]) as s(sink)
    order by x.position`.execute(tx)
}

/**
 * Claims the oldest rows of a sink that are due, at most `limit`, in their order. No other process can claim them until `leaseEnd`, and
 * they are claimed again then if this process dies. One statement.
 */
export async function claimAuditEntries(
  tx: Transaction,
  { sink, now, leaseEnd, limit }: { sink: AuditSink; now: Date; leaseEnd: Date; limit: number },
): Promise<ClaimedAuditEntries[]> {
  const claimed = await query(claimedEntriesRow)`
    with claimed as materialized (
      select x.number from audit_outbox x
      where x.sink = ${sink} and x.due <= ${now}::timestamptz
      order by x.number limit ${limit} for update skip locked
    )
    update audit_outbox o set due = ${leaseEnd}::timestamptz, attempts = o.attempts + 1
    from claimed c where o.number = c.number
    returning o.number, o.body, o.attempts`.all(tx)
  return claimed.toSorted((a, b) => a.number - b.number)
}

/** Deletes rows that were delivered. One statement. */
export async function deleteAuditEntries(tx: Transaction, numbers: readonly number[]): Promise<void> {
  await sql`delete from audit_outbox where number = any(${[...numbers]}::bigint[])`.execute(tx)
}

/** Postpones rows that were not delivered. One statement. */
export async function postponeAuditEntries(tx: Transaction, numbers: readonly number[], due: Date): Promise<void> {
  await sql`update audit_outbox set due = ${due}::timestamptz where number = any(${[...numbers]}::bigint[])`.execute(tx)
}

/** Returns the number of entries that are not delivered yet. One statement. */
export async function countPendingAuditEntries(tx: Transaction): Promise<number> {
  const { count } = await query(countRow)`
    select coalesce(sum(entries), 0)::integer as count from audit_outbox`.firstOrThrow(tx)
  return count
}
