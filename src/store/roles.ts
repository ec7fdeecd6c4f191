// Roles as lists show them: whether they contain others, not which.
import { sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { boolean, json, optional, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import type { ObjectFilter } from './object-filter.ts'
import { conditions } from './object-sql.ts'

const foundRoleRow = row({
  id: text,
  name: text,
  /** Id of the client that it belongs to; null: it is of the realm. */
  client: optional(text),
  /** The representation less name and what the role contains. */
  body: json<Representation>(),
  /** Whether it contains others. */
  composite: boolean,
})

/** A role that is found. */
export type FoundRole = RowOf<typeof foundRoleRow>

/** The roles that are looked for, a page of them, by name. One statement. */
export async function searchRoles(tx: Transaction, realm: number, filter: ObjectFilter): Promise<FoundRole[]> {
  const { first = 0, max } = filter
  return rows(foundRoleRow)`
    select t.id, t.name, t.client, t.body,
      exists (select from role_composite c where c.realm = t.realm and c.role = t.id) as composite
    from (
      select t.* from role t where t.realm = ${realm} and ${conditions('role', realm, filter)}
      order by t.name, t.id offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}
    ) t
    order by t.name, t.id`.all(tx)
}
