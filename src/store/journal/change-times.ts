// The times at which configured objects were created and last changed, read from the journal.
import { query, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const changeTimesRow = row({ object: text, created: timestamp, updated: timestamp })

/** The times of the first and the last journal entry about an object, as far as the journal reaches back. */
export interface ChangeTimes {
  readonly created: Date
  readonly updated: Date
}

/**
 * Returns the times at which objects of a kind were created and last changed, by id. An object without entries, such as one that was created
 * with the realm, has the time of the realm's oldest entry. One statement.
 */
export async function selectChangeTimes(
  tx: Transaction,
  realm: number,
  { kind, ids }: { readonly kind: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, ChangeTimes>> {
  const rows = await query(changeTimesRow)`
    select x.id as object, coalesce(e.created, o.at) as created, coalesce(e.updated, o.at) as updated
    from unnest(${ids}::text[]) as x(id)
      left join lateral (
        select min(j.at) as created, max(j.at) as updated from journal j
        where j.realm = ${realm} and j.kind = ${kind} and j.object = x.id
      ) e on true
      join lateral (
        select j.at from journal j where j.realm = ${realm} order by j.number limit 1
      ) o on true`.all(tx)
  return new Map(rows.map(({ object, ...times }) => [object, times]))
}
