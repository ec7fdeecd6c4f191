// Roles: their names, and searching them. The results say whether a role is composite, but do not list its composites.
import { sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { boolean, equalsAny, json, optional, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { toContainsPattern } from './like-patterns.ts'
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

const describedRoleRow = row({
  id: text,
  name: text,
  description: optional(text),
  composite: boolean,
  /** Id of the client; null for a realm role. */
  client: optional(text),
  clientId: optional(text),
})

/** A role with its description and its client. */
export type DescribedRole = RowOf<typeof describedRoleRow>

/** A selection of roles: those with one of the ids, or the client roles whose name or client id contains a text, in any case. */
export type DescribedRoleFilter = { readonly ids: readonly string[] } | { readonly search: string }

/** Returns the roles of a selection: realm roles by name, then client roles by client id and name. One statement. */
export async function selectDescribedRoles(
  tx: Transaction,
  realm: number,
  filter: DescribedRoleFilter,
): Promise<DescribedRole[]> {
  return query(describedRoleRow)`
    select t.id, t.name, t.body ->> 'description' as description, t.client, c.client_id as "clientId",
      exists (select from role_composite m where m.realm = t.realm and m.role = t.id) as composite
    from role t left join client c on c.realm = t.realm and c.id = t.client
    where t.realm = ${realm} and ${buildDescribedRoleFilter(filter)}
    order by t.client is not null, c.client_id, t.name, t.id`.all(tx)
}

function buildDescribedRoleFilter(filter: DescribedRoleFilter) {
  if ('ids' in filter) return sql`t.id ${equalsAny(filter.ids)}`
  if (filter.search === '') return sql`t.client is not null`
  const pattern = toContainsPattern(filter.search)
  return sql`t.client is not null and (lower(t.name) like ${pattern} or lower(c.client_id) like ${pattern})`
}
