// Effective roles: direct roles, roles of groups and their ancestors, and the composites of all of these.
import { sql } from 'kysely'
import { equalsAny, json, optional, query, type RowOf, row, text, textArray } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import type { RoleName } from '../roles.ts'

/** The users, groups, clients and client scopes whose effective roles are selected, by their ids. */
export interface RoleHolders {
  readonly users?: readonly string[]
  readonly groups?: readonly string[]
  /** Keycloak: a client has its own roles in its scope in any case. */
  readonly clients?: readonly string[]
  readonly clientScopes?: readonly string[]
  /** Identity providers, for the users who have an account there. */
  readonly identityProviders?: readonly string[]
  /** Whether to include the roles that new users get. */
  readonly newUsers?: true
}

const effectiveRoleRow = row({
  id: text,
  name: text,
  client: optional(text),
})

/** A role with the client id of its client; null for a realm role. */
export type EffectiveRole = RowOf<typeof effectiveRoleRow>

/** Returns the SQL that joins the roles in `effective` with their composites, `c.child_role`, except for those of `unexpandedRole`. */
const buildExpansion = (realm: number, unexpandedRole: string | undefined) => sql`
  from effective h
  join role t on t.realm = ${realm} and t.id = h.id and not (t.client is null and t.name is not distinct from ${unexpandedRole ?? null}::text)
  join role_composite c on c.realm = ${realm} and c.role = h.id`

/** Returns the SQL that selects the roles in `effective` as EffectiveRole. */
const buildRoleNames = (realm: number) => sql`
  t.id, t.name, o.client_id as client
  from effective h join role t on t.realm = ${realm} and t.id = h.id
  left join client o on o.realm = ${realm} and o.id = t.client`

/** Returns all effective roles, each once, without the composites of the realm role `unexpandedRole`. One statement. */
export async function selectEffectiveRoles(
  tx: Transaction,
  realm: number,
  { holders, stop: unexpandedRole }: { readonly holders: RoleHolders; readonly stop?: string | undefined },
): Promise<EffectiveRole[]> {
  const { users = [], groups = [], clients = [], clientScopes = [], identityProviders = [], newUsers = false } = holders
  return query(effectiveRoleRow)`
    with recursive member as (
      select unnest(${users}::text[]) as id
      union
      select f.user_account from federated_identity f
      where f.realm = ${realm} and f.identity_provider ${equalsAny(identityProviders)}
    ),
    joined as (
      (select g.id, g.parent from realm_group g where g.realm = ${realm} and g.id ${equalsAny(groups)}
        union
        select g.id, g.parent
        from member p
        join user_group m on m.realm = ${realm} and m.user_account = p.id
        join realm_group g on g.realm = ${realm} and g.id = m.realm_group
        union
        select g.id, g.parent
        from realm_default_group d join realm_group g on g.realm = d.realm and g.id = d.realm_group
        where d.realm = ${realm} and ${newUsers})
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    effective as (
      (select m.role as id from member p join user_role m on m.realm = ${realm} and m.user_account = p.id
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id
        union
        select m.role from client_role m where m.realm = ${realm} and m.client ${equalsAny(clients)}
        union
        select r.id from role r where r.realm = ${realm} and r.client ${equalsAny(clients)}
        union
        select m.role from client_scope_role m where m.realm = ${realm} and m.client_scope ${equalsAny(clientScopes)}
        union
        select r.default_role from realm r where r.number = ${realm} and ${newUsers})
      union
      select c.child_role ${buildExpansion(realm, unexpandedRole)}
    )
    select ${buildRoleNames(realm)}`.all(tx)
}

const roleOfRootRow = row({
  ...effectiveRoleRow.columns,
  /** Id of the object that has the role. A role counts as one of its own roles. */
  root: text,
})

/** A role with the id of the role, group or client (`root`) that contains it. */
export type RoleOfRoot = RowOf<typeof roleOfRootRow>

/** The roles to expand, and the groups whose direct roles are expanded, by their ids. `stop`: a realm role that is not expanded. */
export interface RoleRoots {
  readonly roles: readonly string[]
  readonly groups?: readonly string[]
  readonly stop: string | undefined
}

/** Returns roles, and the direct roles of groups, with all their composites, direct and indirect. One statement. */
export async function selectExpandedRoles(
  tx: Transaction,
  realm: number,
  { roles, groups = [], stop: unexpandedRole }: RoleRoots,
): Promise<RoleOfRoot[]> {
  return query(roleOfRootRow)`
    with recursive effective as (
      (select r.id as root, r.id from role r where r.realm = ${realm} and r.id ${equalsAny(roles)}
        union
        select m.realm_group, m.role from group_role m where m.realm = ${realm} and m.realm_group ${equalsAny(groups)})
      union
      select h.root, c.child_role ${buildExpansion(realm, unexpandedRole)}
    )
    select h.root, ${buildRoleNames(realm)}`.all(tx)
}

/** Returns the effective roles of service accounts by client, without the composites of `unexpandedRole`. One statement. */
export async function selectServiceAccountRoles(
  tx: Transaction,
  realm: number,
  { clients, stop: unexpandedRole }: { readonly clients: readonly string[]; readonly stop: string | undefined },
): Promise<RoleOfRoot[]> {
  return query(roleOfRootRow)`
    with recursive account as (
      select u.service_account_client as root, u.id from user_account u
      where u.realm = ${realm} and u.service_account_client ${equalsAny(clients)}
    ),
    joined as (
      select a.root, g.id, g.parent
      from account a
      join user_group m on m.realm = ${realm} and m.user_account = a.id
      join realm_group g on g.realm = ${realm} and g.id = m.realm_group
      union
      select j.root, g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    effective as (
      (select a.root, m.role as id from account a join user_role m on m.realm = ${realm} and m.user_account = a.id
        union
        select j.root, m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select h.root, c.child_role ${buildExpansion(realm, unexpandedRole)}
    )
    select h.root, ${buildRoleNames(realm)}`.all(tx)
}

/** Returns the effective roles of all users of a realm, without the composites of `unexpandedRole`. One statement. */
export async function selectRolesInUse(
  tx: Transaction,
  realm: number,
  unexpandedRole: string | undefined,
): Promise<EffectiveRole[]> {
  return query(effectiveRoleRow)`
    with recursive joined as (
      select g.id, g.parent from realm_group g
      where g.realm = ${realm}
        and exists (select from user_group m where m.realm = ${realm} and m.realm_group = g.id)
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    effective as (
      (select r.id from role r
        where r.realm = ${realm} and exists (select from user_role m where m.realm = ${realm} and m.role = r.id)
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select c.child_role ${buildExpansion(realm, unexpandedRole)}
    )
    select ${buildRoleNames(realm)}`.all(tx)
}

const rolesAndGroupsRow = row({
  directRoles: json<readonly RoleName[]>(),
  effectiveRoles: json<readonly RoleName[]>(),
  /** Paths of the groups of which the user is a direct member, with `~/` for a slash in a name. */
  groups: textArray,
})

/** The roles and groups of a user. */
export type RolesAndGroups = RowOf<typeof rolesAndGroupsRow>

/** Returns the direct roles, the effective roles and the groups of a user; none if there is no such user. One statement. */
export async function getRolesAndGroups(tx: Transaction, realm: number, user: string): Promise<RolesAndGroups> {
  return query(rolesAndGroupsRow)`
    with recursive joined as (
      select g.id, g.parent
      from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
      where m.realm = ${realm} and m.user_account = ${user}
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    direct as (select m.role as id from user_role m where m.realm = ${realm} and m.user_account = ${user}),
    effective as (
      (select id from direct
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select c.child_role from effective h join role_composite c on c.realm = ${realm} and c.role = h.id
    ),
    named as (
      select t.name, c.client_id as client, h.id in (select id from direct) as is_direct
      from effective h
      join role t on t.realm = ${realm} and t.id = h.id
      left join client c on c.realm = ${realm} and c.id = t.client
    )
    select
      (select coalesce(jsonb_agg(jsonb_build_object('client', client, 'name', name)), '[]')
        from named where is_direct) as "directRoles",
      (select coalesce(jsonb_agg(jsonb_build_object('client', client, 'name', name)), '[]')
        from named) as "effectiveRoles",
      (select coalesce(array_agg(g.path), '{}')
        from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
        where m.realm = ${realm} and m.user_account = ${user}) as groups`.firstOrThrow(tx)
}
