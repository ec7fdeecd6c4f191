// Role mappings: the roles of users, and the default role of realms.
import { type RawBuilder, sql } from 'kysely'
import { boolean, equalsAny, json, optional, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import type { RoleName } from '../roles.ts'

/** Describes the roles of a user. */
export const userPermissionsRow = row({
  enabled: boolean,
  /** Effective roles. */
  roles: json<readonly RoleName[]>(),
})

/** Whether a user is enabled, and the user's effective roles. */
export type UserPermissions = RowOf<typeof userPermissionsRow>

const roleHolderRow = row({
  /** Id of the role; null for a group. */
  role: optional(text),
  /** Id of the group; null for a role. */
  group: optional(text),
})

/** A role or a group. */
export type RoleHolder = RowOf<typeof roleHolderRow>

/** Roles and attributes, and the roles and groups among which their holders are searched, by ids. */
export interface RoleHolderSearch {
  readonly roles: readonly string[]
  /** Names of attributes of groups. */
  readonly groupAttributes: readonly string[]
  readonly candidates: { readonly roles: readonly string[]; readonly groups: readonly string[] }
}

/**
 * Returns those of the candidates that contain one of the roles, directly or as composites; for groups, also through their ancestors.
 * Groups with one of the attributes are holders, too. One statement.
 */
export async function selectRoleHolders(
  tx: Transaction,
  realm: number,
  { roles, groupAttributes, candidates }: RoleHolderSearch,
): Promise<RoleHolder[]> {
  return query(roleHolderRow)`
    with recursive containing as (
      select r.id from role r where r.realm = ${realm} and r.id = any(${roles})
      union
      select c.role from containing h join role_composite c on c.realm = ${realm} and c.child_role = h.id
    ),
    joined as (
      select g.id as root, g.id, g.parent from realm_group g
      where g.realm = ${realm} and g.id = any(${candidates.groups})
      union
      select j.root, g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    )
    select h.id as role, null::text as "group" from containing h where h.id = any(${candidates.roles})
    union
    select null, j.root from joined j
    where exists (
        select from group_role m join containing h on h.id = m.role
        where m.realm = ${realm} and m.realm_group = j.id
      )
      or exists (
        select from realm_group g
        where g.realm = ${realm} and g.id = j.id and g.body -> 'attributes' ?| ${groupAttributes}::text[]
      )`.all(tx)
}

/** Returns the id of the default role of a realm. One statement. */
export async function findDefaultRole(tx: Transaction, realm: number): Promise<string | undefined> {
  const settings = await query(row({ role: optional(text) }))`
    select default_role as role from realm where number = ${realm}`.first(tx)
  return settings?.role ?? undefined
}

const realmDefaultRoleRow = row({
  /** Id of the realm. */
  realm: text,
  id: text,
  name: text,
  description: optional(text),
  composite: boolean,
  /** Id of the client that decides the permissions of administrators; null if there is none. */
  adminPermissionsClient: optional(text),
})

/** The default role of a realm, and its client for admin permissions. */
export type RealmDefaultRole = RowOf<typeof realmDefaultRoleRow>

/** Returns the default roles of realms, with the ids of their clients that have the client id. One statement. */
export async function selectDefaultRoles(
  tx: Transaction,
  realms: readonly string[],
  client: string,
): Promise<RealmDefaultRole[]> {
  return query(realmDefaultRoleRow)`
    select r.id as realm, t.id, t.name, t.body ->> 'description' as description,
      exists (select from role_composite c where c.realm = t.realm and c.role = t.id) as composite,
      p.id as "adminPermissionsClient"
    from realm r join role t on t.realm = r.number and t.id = r.default_role
    left join client p on p.realm = r.number and p.client_id = ${client}
    where r.id ${equalsAny(realms)}`.all(tx)
}

/**
 * Returns a user's effective roles: direct roles, and those of groups and composites. Undefined if there is no such user. The composites of
 * `unexpandedRole` are omitted: master's admin role contains the admin roles of every realm. One statement.
 */
export async function findUserPermissions(
  tx: Transaction,
  realm: string,
  { user, stop: unexpandedRole }: { readonly user: string; readonly stop: string | undefined },
): Promise<UserPermissions | undefined> {
  return query(userPermissionsRow)`
    with recursive caller as (
      select u.realm, u.id, u.body from realm r join user_account u on u.realm = r.number
      where r.name = ${realm} and u.id = ${user}
    ),
    ${buildCallerRoles(unexpandedRole)}
    select coalesce((a.body ->> 'enabled')::boolean, false) as enabled, ${callerRoleNames} as roles from caller a`.first(
    tx,
  )
}

/**
 * Returns parts of a recursive query: `effective` has the effective roles of the user in `caller`, by realm and id. `offset 0` lets PostgreSQL look
 * up the composites of each role by index: its estimate of a recursion is too high, so that it would read those of all realms.
 */
export function buildCallerRoles(unexpandedRole: string | undefined): RawBuilder<unknown> {
  return sql`joined as (
      select g.realm, g.id, g.parent
      from caller a join user_group ug on ug.realm = a.realm and ug.user_account = a.id
      join realm_group g on g.realm = ug.realm and g.id = ug.realm_group
      union
      select g.realm, g.id, g.parent from joined j join realm_group g on g.realm = j.realm and g.id = j.parent
    ),
    effective as (
      (select ur.realm, ur.role from caller a join user_role ur on ur.realm = a.realm and ur.user_account = a.id
        union
        select j.realm, gr.role from joined j join group_role gr on gr.realm = j.realm and gr.realm_group = j.id)
      union
      select c.realm, c.child_role
      from effective h cross join lateral (
        select rc.realm, rc.child_role
        from role t join role_composite rc on rc.realm = t.realm and rc.role = t.id
        where t.realm = h.realm and t.id = h.role and not (t.client is null and t.name is not distinct from ${unexpandedRole ?? null}::text)
        offset 0
      ) c
    )`
}

/** Returns the roles of `effective` as a list of RoleName. */
export const callerRoleNames = sql`(select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'client', r.client_id)), '[]')
  from effective h cross join lateral (
    select t.name, c.client_id
    from role t left join client c on c.realm = t.realm and c.id = t.client
    where t.realm = h.realm and t.id = h.role
    offset 0
  ) r)`
