// The roles that something has in effect: those that it is given, those of the groups above it, and what these contain.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** Who has roles: users and groups, clients and client scopes that have them in their scope; by id. */
export interface RoleHolders {
  readonly users?: readonly string[]
  readonly groups?: readonly string[]
  /** Keycloak: a client has its own roles in its scope in any case. */
  readonly clients?: readonly string[]
  readonly clientScopes?: readonly string[]
}

/** The ids of the roles that they have in effect, each once; of the realm role `stop` not its parts. One statement. */
export async function selectEffectiveRoles(
  tx: Transaction,
  realm: number,
  { users = [], groups = [], clients = [], clientScopes = [] }: RoleHolders,
  stop?: string,
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
        select m.role from client_role m where m.realm = ${realm} and m.client = any(${clients})
        union
        select r.id from role r where r.realm = ${realm} and r.client = any(${clients})
        union
        select m.role from client_scope_role m where m.realm = ${realm} and m.client_scope = any(${clientScopes}))
      union
      select c.part from held h
      join role t on t.realm = ${realm} and t.id = h.id and not (t.client is null and t.name is not distinct from ${stop ?? null}::text)
      join role_composite c on c.realm = ${realm} and c.role = h.id
    )
    select id from held`.execute(tx)
  return rows.map(({ id }) => id)
}

/** A role that another one contains, or is. */
export interface ContainedRole {
  /** Id of the one that contains it. */
  readonly root: string
  readonly name: string
  /** Client id of the client that it belongs to. */
  readonly client: string | null
}

/** What roles give to who gets them: themselves, and all that they contain; of the realm role `stop` not its parts. One statement. */
export async function selectContainedRoles(
  tx: Transaction,
  realm: number,
  roles: readonly string[],
  stop: string | undefined,
): Promise<ContainedRole[]> {
  const { rows } = await sql<ContainedRole>`
    with recursive contained as (
      select r.id as root, r.id from role r where r.realm = ${realm} and r.id = any(${roles})
      union
      select c.root, p.part
      from contained c
      join role t on t.realm = ${realm} and t.id = c.id and not (t.client is null and t.name is not distinct from ${stop ?? null}::text)
      join role_composite p on p.realm = ${realm} and p.role = c.id
    )
    select c.root, t.name, o.client_id as client
    from contained c join role t on t.realm = ${realm} and t.id = c.id
    left join client o on o.realm = ${realm} and o.id = t.client`.execute(tx)
  return rows
}
