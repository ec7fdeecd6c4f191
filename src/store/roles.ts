// Roles: their names, and searching them. The results say whether a role is composite, but do not list its composites.
import { sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { boolean, json, optional, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import type { ObjectFilter } from './object-filter.ts'
import { buildFilter } from './object-sql.ts'

/** A role by name, and the client id of its client; null for a realm role. */
export interface RoleName {
  readonly client: string | null
  readonly name: string
}

const listedRoleRow = row({
  id: text,
  name: text,
  /** Id of the client; null for a realm role. */
  client: optional(text),
  /** The representation without name and composites. */
  body: json<Representation>(),
  composite: boolean,
})

/** A role in a search result. */
export type ListedRole = RowOf<typeof listedRoleRow>

/** Returns a page of the roles that a filter selects, by name. One statement. */
export async function searchRoles(tx: Transaction, realm: number, filter: ObjectFilter): Promise<ListedRole[]> {
  const { first = 0, max } = filter
  return query(listedRoleRow)`
    select t.id, t.name, t.client, t.body,
      exists (select from role_composite c where c.realm = t.realm and c.role = t.id) as composite
    from (
      select t.* from role t where t.realm = ${realm} and ${buildFilter('role', realm, filter)}
      order by t.name, t.id offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}
    ) t
    order by t.name, t.id`.all(tx)
}
