// The roles that something has in effect: those that it is given, those of the groups above it, and what these contain.
import { sql } from 'kysely'
import { optional, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

/** Who has roles: users and groups, clients and client scopes that have them in their scope; by id. */
export interface RoleHolders {
  readonly users?: readonly string[]
  readonly groups?: readonly string[]
  /** Keycloak: a client has its own roles in its scope in any case. */
  readonly clients?: readonly string[]
  readonly clientScopes?: readonly string[]
  /** Users who log in by these identity providers. */
  readonly identityProviders?: readonly string[]
  /** Whoever is made next. */
  readonly newcomers?: true
}

const heldRoleRow = row({
  id: text,
  name: text,
  client: optional(text),
})

/** A role by name, with the client that it belongs to. */
export type HeldRole = RowOf<typeof heldRoleRow>

/** From the roles in `held` to what they contain, `c.part`; of the realm role `stop` not its parts. */
const partsOfHeld = (realm: number, stop: string | undefined) => sql`
  from held h
  join role t on t.realm = ${realm} and t.id = h.id and not (t.client is null and t.name is not distinct from ${stop ?? null}::text)
  join role_composite c on c.realm = ${realm} and c.role = h.id`

/** The roles in `held`, as HeldRole has them. */
const namesOfHeld = (realm: number) => sql`
  t.id, t.name, o.client_id as client
  from held h join role t on t.realm = ${realm} and t.id = h.id
  left join client o on o.realm = ${realm} and o.id = t.client`

/** The roles that they have in effect, each once; of the realm role `stop` not its parts. One statement. */
export async function selectEffectiveRoles(
  tx: Transaction,
  realm: number,
  { holders, stop }: { readonly holders: RoleHolders; readonly stop?: string | undefined },
): Promise<HeldRole[]> {
  const {
    users = [],
    groups = [],
    clients = [],
    clientScopes = [],
    identityProviders = [],
    newcomers = false,
  } = holders
  return rows(heldRoleRow)`
    with recursive people as (
      select unnest(${users}::text[]) as id
      union
      select f.user_account from federated_identity f
      where f.realm = ${realm} and f.identity_provider = any(${identityProviders})
    ),
    joined as (
      (select g.id, g.parent from realm_group g where g.realm = ${realm} and g.id = any(${groups})
        union
        select g.id, g.parent
        from people p
        join user_group m on m.realm = ${realm} and m.user_account = p.id
        join realm_group g on g.realm = ${realm} and g.id = m.realm_group
        union
        select g.id, g.parent
        from realm_default_group d join realm_group g on g.realm = d.realm and g.id = d.realm_group
        where d.realm = ${realm} and ${newcomers})
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    held as (
      (select m.role as id from people p join user_role m on m.realm = ${realm} and m.user_account = p.id
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id
        union
        select m.role from client_role m where m.realm = ${realm} and m.client = any(${clients})
        union
        select r.id from role r where r.realm = ${realm} and r.client = any(${clients})
        union
        select m.role from client_scope_role m where m.realm = ${realm} and m.client_scope = any(${clientScopes})
        union
        select r.default_role from realm r where r.number = ${realm} and ${newcomers})
      union
      select c.part ${partsOfHeld(realm, stop)}
    )
    select ${namesOfHeld(realm)}`.all(tx)
}

const containedRoleRow = row({
  ...heldRoleRow.columns,
  /** Id of what has it: of a role, those that it contains and itself. */
  root: text,
})

/** A role that something has, among others that are looked at. */
export type ContainedRole = RowOf<typeof containedRoleRow>

/** What roles give to who gets them: themselves, and all that they contain; of the realm role `stop` not its parts. One statement. */
export async function selectContainedRoles(
  tx: Transaction,
  realm: number,
  { roles, stop }: { readonly roles: readonly string[]; readonly stop: string | undefined },
): Promise<ContainedRole[]> {
  return rows(containedRoleRow)`
    with recursive held as (
      select r.id as root, r.id from role r where r.realm = ${realm} and r.id = any(${roles})
      union
      select h.root, c.part ${partsOfHeld(realm, stop)}
    )
    select h.root, ${namesOfHeld(realm)}`.all(tx)
}

/** What the accounts of clients have in effect; `root` is the client. Of the realm role `stop` not its parts. One statement. */
export async function selectAccountRoles(
  tx: Transaction,
  realm: number,
  { clients, stop }: { readonly clients: readonly string[]; readonly stop: string | undefined },
): Promise<ContainedRole[]> {
  return rows(containedRoleRow)`
    with recursive account as (
      select u.service_account_client as root, u.id from user_account u
      where u.realm = ${realm} and u.service_account_client = any(${clients})
    ),
    joined as (
      select a.root, g.id, g.parent
      from account a
      join user_group m on m.realm = ${realm} and m.user_account = a.id
      join realm_group g on g.realm = ${realm} and g.id = m.realm_group
      union
      select j.root, g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    held as (
      (select a.root, m.role as id from account a join user_role m on m.realm = ${realm} and m.user_account = a.id
        union
        select j.root, m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select h.root, c.part ${partsOfHeld(realm, stop)}
    )
    select h.root, ${namesOfHeld(realm)}`.all(tx)
}

/** The roles that anybody in the realm has in effect; of the realm role `stop` not its parts. One statement. */
export async function selectRolesOfAnybody(
  tx: Transaction,
  realm: number,
  stop: string | undefined,
): Promise<HeldRole[]> {
  return rows(heldRoleRow)`
    with recursive joined as (
      select g.id, g.parent from realm_group g
      where g.realm = ${realm}
        and exists (select from user_group m where m.realm = ${realm} and m.realm_group = g.id)
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    held as (
      (select r.id from role r
        where r.realm = ${realm} and exists (select from user_role m where m.realm = ${realm} and m.role = r.id)
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select c.part ${partsOfHeld(realm, stop)}
    )
    select ${namesOfHeld(realm)}`.all(tx)
}
