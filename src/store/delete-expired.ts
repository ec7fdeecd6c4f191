// Deletes expired rows of all realms: a limited number per statement, and none that another transaction has locked.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from './database/transaction.ts'

/** A table with the condition that selects its expired rows. */
export interface ExpiredRows {
  readonly table: string
  /** Columns of the primary key, except for the realm. */
  readonly key: readonly string[]
  /** The condition that the row `old` of the realm `r` is expired. */
  readonly when: RawBuilder<unknown>
}

/** Deletes at most `limit` expired rows, and returns their number. One statement. */
export async function deleteExpired(
  tx: Transaction,
  { table, key, when }: ExpiredRows,
  limit: number,
): Promise<number> {
  const columns = (of: string) => key.map((column) => sql.ref(`${of}.${column}`))
  const keyEquals = key.map((column) => sql`${sql.ref(`t.${column}`)} = ${sql.ref(`expired.${column}`)}`)
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} t using (
      select old.realm, ${sql.join(columns('old'))}
      from realm r join ${sql.table(table)} old on old.realm = r.number and ${when}
      limit ${limit} for update of old skip locked
    ) expired
    where t.realm = expired.realm and ${sql.join(keyEquals, sql` and `)}`.execute(tx)
  return Number(numAffectedRows)
}
