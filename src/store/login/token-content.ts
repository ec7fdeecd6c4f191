// What a user has that tokens may show.
import { sql } from 'kysely'
import { json, type RowOf, row, rows, text, textArray } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

/** A role by name, with the client that it belongs to. */
export interface NamedRole {
  readonly client: string | null
  readonly name: string
}

/** A group that a user belongs to, or one above it. */
export interface GroupFacts {
  readonly id: string
  readonly parent: string | null
  readonly name: string
  /** As the wire shows it. */
  readonly path: string
  /** Whether the user belongs to the group itself. */
  readonly direct: boolean
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

/** An organization that a user belongs to. */
export interface OrganizationFacts {
  readonly id: string
  readonly alias: string
  readonly attributes: Readonly<Record<string, readonly string[]>>
  readonly domains: readonly string[]
}

const userFactsRow = row({
  /** Roles in effect that the client and the client scopes permit. */
  roles: json<readonly NamedRole[]>(),
  /** Ids of the client scopes that the user may have: those with roles in their scope, only if one is in effect. */
  permitted: textArray,
  groups: json<readonly GroupFacts[]>(),
  /** Enabled ones. */
  organizations: json<readonly OrganizationFacts[]>(),
})

/** What a user has that tokens may show. */
export type UserFacts = RowOf<typeof userFactsRow>

/** Through what tokens look at a user. */
export interface Lens {
  /** The client's id, and ids of the client scopes that it was granted. */
  readonly client: string
  readonly scopes: readonly string[]
  /** Whether the client shows every role. */
  readonly fullScope: boolean
  /** What this role of the realm contains is not looked at. */
  readonly stop?: string | undefined
}

/** The enabled organizations of a user, as OrganizationFacts has them. */
const organizationsOf = (realm: number, user: string) => sql`
  (select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'alias', o.alias,
      'attributes', coalesce(o.body -> 'attributes', '{}'::jsonb),
      'domains', (select coalesce(jsonb_agg(d.name order by d.name), '[]') from organization_domain d
        where d.realm = o.realm and d.organization = o.id)) order by o.alias), '[]')
    from user_organization m join organization o on o.realm = m.realm and o.id = m.organization
    where m.realm = ${realm} and m.user_account = ${user}
      and coalesce((o.body ->> 'enabled')::boolean, true))`

/** What the user has, seen through a client. One statement, however many roles, groups and attributes there are. */
export async function selectUserFacts(
  tx: Transaction,
  realm: number,
  { user, lens }: { readonly user: string; readonly lens: Lens },
): Promise<UserFacts> {
  const { client, scopes, fullScope, stop = null } = lens
  return rows(userFactsRow)`
    with recursive joined as (
      select g.id, g.parent
      from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
      where m.realm = ${realm} and m.user_account = ${user}
      union
      select g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    ),
    held as (
      (select m.role as id from user_role m where m.realm = ${realm} and m.user_account = ${user}
        union
        select m.role from joined j join group_role m on m.realm = ${realm} and m.realm_group = j.id)
      union
      select c.part
      from held h
      join role t on t.realm = ${realm} and t.id = h.id and not (t.client is null and t.name is not distinct from ${stop}::text)
      join role_composite c on c.realm = ${realm} and c.role = h.id
    ),
    reached as (
      select m.client_scope as scope, m.role as id
      from client_scope_role m where m.realm = ${realm} and m.client_scope = any(${scopes}::text[])
      union
      select r.scope, c.part from reached r join role_composite c on c.realm = ${realm} and c.role = r.id
    ),
    own as (
      (select m.role as id from client_role m where m.realm = ${realm} and m.client = ${client} and not ${fullScope}
        union
        select t.id from role t where t.realm = ${realm} and t.client = ${client} and not ${fullScope})
      union
      select c.part from own o join role_composite c on c.realm = ${realm} and c.role = o.id
    )
    select
      (select coalesce(jsonb_agg(jsonb_build_object('client', c.client_id, 'name', t.name)
          order by c.client_id nulls first, t.name), '[]')
        from held h
        join role t on t.realm = ${realm} and t.id = h.id
        left join client c on c.realm = t.realm and c.id = t.client
        where ${fullScope} or h.id in (select id from own) or h.id in (select id from reached)) as roles,
      (select coalesce(array_agg(s.id), '{}')
        from unnest(${scopes}::text[]) as s(id)
        where not exists (select from reached r where r.scope = s.id)
          or exists (select from reached r join held h on h.id = r.id where r.scope = s.id)) as permitted,
      (select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'parent', g.parent, 'name', g.name,
          'path', replace(g.path, '~/', '/'), 'attributes', coalesce(g.body -> 'attributes', '{}'::jsonb),
          'direct', exists (select from user_group m
            where m.realm = g.realm and m.user_account = ${user} and m.realm_group = g.id))
          order by g.name, g.path), '[]')
        from joined j join realm_group g on g.realm = ${realm} and g.id = j.id) as groups,
      ${organizationsOf(realm, user)} as organizations`.one(tx)
}

/** Those of these aliases that enabled organizations of the realm have. One statement. */
export async function selectOrganizationAliases(
  tx: Transaction,
  realm: number,
  aliases: readonly string[],
): Promise<string[]> {
  const organizations = await rows(row({ alias: text }))`
    select o.alias from organization o
    where o.realm = ${realm} and o.alias = any(${aliases}::text[])
      and coalesce((o.body ->> 'enabled')::boolean, true)`.all(tx)
  return organizations.map(({ alias }) => alias)
}
