// Deletes old entries of the journal, the oldest first, so that the remaining ones are complete from some revision on.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../database/transaction.ts'

/** The realms, also deleted ones, whose journals remain. */
const allRealms = sql`(select r.number from realm r union select d.number from deleted_realm d)`

/**
 * Deletes at most `limit` entries of the configuration stream from before a time, and returns their number. The last entry of a realm stays,
 * since its number is the revision of the realm. One statement.
 */
export function deleteOldEntries(tx: Transaction, before: Date, limit: number): Promise<number> {
  const isNotLast = sql`and old.number < (select max(n.number) from journal n where n.realm = a.number)`
  return deleteOldest(tx, { table: 'journal', before, limit, condition: isNotLast })
}

/** Deletes at most `limit` entries of the users stream from before a time, and returns their number. One statement. */
export function deleteOldUserEntries(tx: Transaction, before: Date, limit: number): Promise<number> {
  return deleteOldest(tx, { table: 'user_journal', before, limit })
}

/** Deletes at most `limit` records of runs from before a time, and returns their number. One statement. */
export function deleteOldRuns(tx: Transaction, before: Date, limit: number): Promise<number> {
  return deleteOldest(tx, { table: 'history', before, limit })
}

/** A table whose oldest rows are deleted. `condition`: a further one, on the row `old` of the realm `a`. */
interface OldRows {
  readonly table: 'journal' | 'user_journal' | 'history'
  readonly before: Date
  readonly limit: number
  readonly condition?: RawBuilder<unknown>
}

async function deleteOldest(tx: Transaction, { table, before, limit, condition = sql`` }: OldRows): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} t using (
      select old.realm, old.number from ${allRealms} a cross join lateral (
        select o.realm, o.number, o.at from ${sql.table(table)} o where o.realm = a.number order by o.number limit ${limit}) old
      where old.at < ${before}::timestamptz ${condition}
      order by old.realm, old.number limit ${limit}
    ) expired
    where t.realm = expired.realm and t.number = expired.number`.execute(tx)
  return Number(numAffectedRows)
}

/** Removes the plans, which contain values of users, from at most `limit` runs before a time; returns their number. One statement. */
export async function deleteOldPlansOfRuns(tx: Transaction, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update history h set plan = '{}' from (
      select old.realm, old.number from ${allRealms} a cross join lateral (
        select o.realm, o.number from history o
        where o.realm = a.number and o.at < ${before}::timestamptz and o.plan <> '{}' limit ${limit}) old
      limit ${limit}
    ) expired
    where h.realm = expired.realm and h.number = expired.number`.execute(tx)
  return Number(numAffectedRows)
}
