// The data of a user that tokens may contain.
import { sql } from 'kysely'
import { json, query, type RowOf, row, text, textArray } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import type { RoleName } from '../roles.ts'

/** A group of a user, or an ancestor of one. */
export interface TokenGroup {
  readonly id: string
  readonly parent: string | null
  readonly name: string
  /** Path as in the admin API. */
  readonly path: string
  /** Whether the user is a direct member. */
  readonly direct: boolean
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

/** An organization of a user. */
export interface TokenOrganization {
  readonly id: string
  readonly alias: string
  readonly attributes: Readonly<Record<string, readonly string[]>>
  readonly domains: readonly string[]
  /** Paths of the groups of the organization that the user is a direct member of. */
  readonly groups: readonly string[]
  /** The roles of these groups, with their composites. */
  readonly roles: readonly RoleName[]
}

const tokenUserDataRow = row({
  /** Effective roles in the scope of the client or of its client scopes. */
  roles: json<readonly RoleName[]>(),
  /** Ids of the client scopes that apply to the user: those with role scope mappings only if the user has one of the roles. */
  permitted: textArray,
  groups: json<readonly TokenGroup[]>(),
  /** Enabled organizations. */
  organizations: json<readonly TokenOrganization[]>(),
})

/** The data of a user that tokens may contain. */
export type TokenUserData = RowOf<typeof tokenUserDataRow>

/** The client and client scopes for which a token is issued. */
export interface TokenGrant {
  /** Internal id of the client. */
  readonly client: string
  /** Ids of the granted client scopes. */
  readonly scopes: readonly string[]
  /** Whether the client has all roles in its scope. */
  readonly fullScope: boolean
  /** Name of a realm role whose composites are not expanded. */
  readonly unexpandedRole?: string | undefined
}

/** Returns the SQL that selects the roles of the organization groups of a user, with their composites, as `organization_roles`. */
const buildOrganizationRoles = (realm: number, user: string) => sql`
  organization_roles as (
    select g.organization, r.role as id
    from user_organization_group m
    join organization_group g on g.realm = m.realm and g.id = m.organization_group
    join organization_group_role r on r.realm = g.realm and r.organization_group = g.id
    where m.realm = ${realm} and m.user_account = ${user}
    union
    select o.organization, c.child_role
    from organization_roles o join role_composite c on c.realm = ${realm} and c.role = o.id
  )`

/** Returns the enabled organizations of a user, in the form of TokenOrganization. Needs `organization_roles`. */
const buildOrganizations = (realm: number, user: string) => sql`
  (select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'alias', o.alias,
      'attributes', coalesce(o.body -> 'attributes', '{}'::jsonb),
      'domains', (select coalesce(jsonb_agg(d.name order by d.name), '[]') from organization_domain d
        where d.realm = o.realm and d.organization = o.id),
      'groups', (select coalesce(jsonb_agg(replace(g.path, '~/', '/') order by g.path), '[]')
        from user_organization_group n join organization_group g on g.realm = n.realm and g.id = n.organization_group
        where n.realm = o.realm and n.user_account = ${user} and g.organization = o.id),
      'roles', (select coalesce(jsonb_agg(jsonb_build_object('client', c.client_id, 'name', t.name)
          order by c.client_id nulls first, t.name), '[]')
        from organization_roles r
        join role t on t.realm = o.realm and t.id = r.id
        left join client c on c.realm = t.realm and c.id = t.client
        where r.organization = o.id)) order by o.alias), '[]')
    from user_organization m join organization o on o.realm = m.realm and o.id = m.organization
    where m.realm = ${realm} and m.user_account = ${user}
      and coalesce((o.body ->> 'enabled')::boolean, true))`

/** Returns the data of a user for a token. One statement. */
export async function getTokenUserData(
  tx: Transaction,
  realm: number,
  { user, grant }: { readonly user: string; readonly grant: TokenGrant },
): Promise<TokenUserData> {
  const { client, scopes, fullScope, unexpandedRole = null } = grant
  return query(tokenUserDataRow)`
    with recursive joined as (
      select g.id, g.parent
      from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
      where m.realm = ${realm} and m.user_account = ${user}
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    effective as (
      (select m.role as id from user_role m where m.realm = ${realm} and m.user_account = ${user}
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select c.child_role
      from effective h
      join role t on t.realm = ${realm} and t.id = h.id and not (t.client is null and t.name is not distinct from ${unexpandedRole}::text)
      join role_composite c on c.realm = ${realm} and c.role = h.id
    ),
    scope_roles as (
      select m.client_scope as scope, m.role as id
      from client_scope_role m where m.realm = ${realm} and m.client_scope = any(${scopes}::text[])
      union
      select r.scope, c.child_role from scope_roles r join role_composite c on c.realm = ${realm} and c.role = r.id
    ),
    client_scope_roles as (
      (select m.role as id from client_role m where m.realm = ${realm} and m.client = ${client} and not ${fullScope}
        union
        select t.id from role t where t.realm = ${realm} and t.client = ${client} and not ${fullScope})
      union
      select c.child_role from client_scope_roles o join role_composite c on c.realm = ${realm} and c.role = o.id
    ),
    ${buildOrganizationRoles(realm, user)}
    select
      (select coalesce(jsonb_agg(jsonb_build_object('client', c.client_id, 'name', t.name)
          order by c.client_id nulls first, t.name), '[]')
        from effective h
        join role t on t.realm = ${realm} and t.id = h.id
        left join client c on c.realm = t.realm and c.id = t.client
        where ${fullScope} or h.id in (select id from client_scope_roles) or h.id in (select id from scope_roles)) as roles,
      (select coalesce(array_agg(s.id), '{}')
        from unnest(${scopes}::text[]) as s(id)
        where not exists (select from scope_roles r where r.scope = s.id)
          or exists (select from scope_roles r join effective h on h.id = r.id where r.scope = s.id)) as permitted,
      (select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'parent', g.parent, 'name', g.name,
          'path', replace(g.path, '~/', '/'), 'attributes', coalesce(g.body -> 'attributes', '{}'::jsonb),
          'direct', exists (select from user_group m
            where m.realm = g.realm and m.user_account = ${user} and m.realm_group = g.id))
          order by g.name, g.path), '[]')
        from joined j join realm_group g on g.realm = ${realm} and g.id = j.id) as groups,
      ${buildOrganizations(realm, user)} as organizations`.firstOrThrow(tx)
}

/** Returns those of the aliases that enabled organizations have. One statement. */
export async function selectOrganizationAliases(
  tx: Transaction,
  realm: number,
  aliases: readonly string[],
): Promise<string[]> {
  const organizations = await query(row({ alias: text }))`
    select o.alias from organization o
    where o.realm = ${realm} and o.alias = any(${aliases}::text[])
      and coalesce((o.body ->> 'enabled')::boolean, true)`.all(tx)
  return organizations.map(({ alias }) => alias)
}
