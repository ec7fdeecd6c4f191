// Roles as lists show them: whether they contain others, not which.
import { sql } from 'kysely'
import type { Representation } from '../kinds/kind.ts'
import type { Transaction } from './database.ts'
import { conditions } from './object-sql.ts'
import type { ObjectFilter } from './objects.ts'
import { tables } from './tables.ts'

/** A role that is found. */
export interface FoundRole {
  readonly id: string
  readonly name: string
  /** Id of the client that it belongs to; null: it is of the realm. */
  readonly client: string | null
  /** The representation less name and what the role contains. */
  readonly body: Representation
  /** Whether it contains others. */
  readonly composite: boolean
}

/** The roles that are looked for, a page of them, by name. One statement. */
export async function searchRoles(tx: Transaction, realm: number, filter: ObjectFilter): Promise<FoundRole[]> {
  const { first = 0, max } = filter
  const { rows } = await sql<FoundRole>`
    select t.id, t.name, t.client, t.body,
      exists (select from role_composite c where c.realm = t.realm and c.role = t.id) as composite
    from (
      select t.* from role t where t.realm = ${realm} and ${conditions('role', tables.role, realm, filter)}
      order by t.name, t.id offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}
    ) t
    order by t.name, t.id`.execute(tx)
  return rows
}
