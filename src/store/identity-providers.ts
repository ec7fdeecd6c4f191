// Statements about identity providers alone: looking them up.
import { sql } from 'kysely'
import { idRow, rows } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import type { Visibility } from './object-filter.ts'

/** Which identity providers of a realm: those of all of these. */
export interface ProviderSearch {
  /** The whole alias or display name. */
  readonly exact?: string
  /** Alias or display name in any case, with `*` for anything. */
  readonly pattern?: string
  /** One of these types. */
  readonly providerIds?: readonly string[]
  /** Only those that belong to no organization. */
  readonly realmOnly?: boolean
  readonly visible: Visibility
  readonly first: number
  /** Absent: all. */
  readonly max?: number
}

/** Ids of the identity providers that are looked for, a page of them in order of their aliases. One statement. */
export async function searchProviders(tx: Transaction, realm: number, search: ProviderSearch): Promise<string[]> {
  const { exact, pattern, providerIds, realmOnly, visible, first, max } = search
  const like = pattern?.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')
  const conditions = [
    sql`t.realm = ${realm}`,
    ...(exact === undefined ? [] : [sql`${exact} in (t.alias, t.body->>'displayName')`]),
    ...(like === undefined ? [] : [sql`(t.alias ilike ${like} or t.body->>'displayName' ilike ${like})`]),
    ...(providerIds ? [sql`t.body->>'providerId' = any(${providerIds})`] : []),
    ...(realmOnly ? [sql`t.organization is null`] : []),
    ...(visible === 'all' ? [] : [sql`t.id = any(${visible.ids})`]),
  ]
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  const providers = await rows(idRow)`
    select t.id from identity_provider t where ${sql.join(conditions, sql` and `)}
    order by t.alias offset ${first} ${limit}`.all(tx)
  return providers.map(({ id }) => id)
}
