// Searches identity providers.
import { sql } from 'kysely'
import { idRow, query } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { buildVisibility, type Visibility } from './visibility.ts'

/** A search for identity providers. All conditions must hold. */
export interface IdentityProviderSearch {
  /** Alias or display name. */
  readonly exact?: string
  /** Alias or display name, ignoring case; `*` matches any text. */
  readonly pattern?: string
  /** Types of provider, such as `oidc`. */
  readonly providerIds?: readonly string[]
  /** Whether to exclude identity providers of organizations. */
  readonly realmOnly?: boolean
  readonly visible: Visibility
  readonly first: number
  /** Absent: all. */
  readonly max?: number
}

/** Returns the ids of a page of the identity providers that a search finds, by alias. One statement. */
export async function searchIdentityProviders(
  tx: Transaction,
  realm: number,
  search: IdentityProviderSearch,
): Promise<string[]> {
  const { exact, pattern, providerIds, realmOnly, visible, first, max } = search
  const like = pattern?.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')
  const conditions = [
    sql`t.realm = ${realm}`,
    ...(exact === undefined ? [] : [sql`${exact} in (t.alias, t.body->>'displayName')`]),
    ...(like === undefined ? [] : [sql`(t.alias ilike ${like} or t.body->>'displayName' ilike ${like})`]),
    ...(providerIds ? [sql`t.body->>'providerId' = any(${providerIds})`] : []),
    ...(realmOnly ? [sql`t.organization is null`] : []),
    ...(visible === 'all' ? [] : [buildVisibility('t', visible)]),
  ]
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  const providers = await query(idRow)`
    select t.id from identity_provider t where ${sql.join(conditions, sql` and `)}
    order by t.alias offset ${first} ${limit}`.all(tx)
  return providers.map(({ id }) => id)
}
