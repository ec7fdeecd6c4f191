// How rows whose time is over go, in all realms: a few at a time, past those that somebody holds.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from './database/transaction.ts'

/** Which rows are over. */
export interface Over {
  readonly table: string
  /** Columns of the primary key, beside the realm. */
  readonly key: readonly string[]
  /** Whether the row `old` of the realm `r` is over. */
  readonly when: RawBuilder<unknown>
}

/** Deletes at most so many rows that are over; gives how many. One statement. */
export async function deleteOver(tx: Transaction, { table, key, when }: Over, limit: number): Promise<number> {
  const columns = (of: string) => key.map((column) => sql.ref(`${of}.${column}`))
  const same = key.map((column) => sql`${sql.ref(`t.${column}`)} = ${sql.ref(`gone.${column}`)}`)
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} t using (
      select old.realm, ${sql.join(columns('old'))}
      from realm r join ${sql.table(table)} old on old.realm = r.number and ${when}
      limit ${limit} for update of old skip locked
    ) gone
    where t.realm = gone.realm and ${sql.join(same, sql` and `)}`.execute(tx)
  return Number(numAffectedRows)
}
