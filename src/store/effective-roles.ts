// The roles that something has in effect: its own, those of the groups above it, and what these contain.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** Who has roles: ids of users, of groups, and of roles that are had already. */
export interface RoleHolders {
  readonly users?: readonly string[]
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
}

/** The ids of the roles that they have in effect, each once. One statement. */
export async function selectEffectiveRoles(
  tx: Transaction,
  realm: number,
  { users = [], groups = [], roles = [] }: RoleHolders,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive joined as (
      (select g.id, g.parent from realm_group g where g.realm = ${realm} and g.id = any(${groups})
        union
        select g.id, g.parent
        from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
        where m.realm = ${realm} and m.user_account = any(${users}))
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    held as (
      (select m.role as id from user_role m where m.realm = ${realm} and m.user_account = any(${users})
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id
        union
        select r.id from role r where r.realm = ${realm} and r.id = any(${roles}))
      union
      select c.part from held h join role_composite c on c.realm = ${realm} and c.role = h.id
    )
    select id from held`.execute(tx)
  return rows.map(({ id }) => id)
}
