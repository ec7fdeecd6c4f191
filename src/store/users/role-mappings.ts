// Who has which role, and the role that everybody new gets.
import { type RawBuilder, sql } from 'kysely'
import { boolean, json, optional, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

/** Describes what a user may do. */
export const holderRow = row({
  enabled: boolean,
  /** Roles by name, with the client that they belong to. */
  roles: json<readonly { readonly name: string; readonly client: string | null }[]>(),
})

/** What a user may do now. */
export type Holder = RowOf<typeof holderRow>

/** Gives users the role that everybody new gets. One statement. */
export async function insertDefaultRole(tx: Transaction, realm: number, users: readonly string[]): Promise<void> {
  await sql`
    insert into user_role (realm, user_account, role)
    select r.number, u.id, r.default_role
    from realm r cross join unnest(${users}::text[]) as u(id)
    where r.number = ${realm} and r.default_role is not null
    on conflict do nothing`.execute(tx)
}

/** Makes a role the one that everybody new gets. One statement. */
export async function setDefaultRole(tx: Transaction, realm: number, role: string): Promise<void> {
  await sql`update realm set default_role = ${role} where number = ${realm}`.execute(tx)
}

/** The id of the role that everybody new gets. One statement. */
export async function findDefaultRole(tx: Transaction, realm: number): Promise<string | undefined> {
  const settings = await rows(row({ role: optional(text) }))`
    select default_role as role from realm where number = ${realm}`.first(tx)
  return settings?.role ?? undefined
}

const defaultRoleRow = row({
  /** Id of the realm. */
  realm: text,
  id: text,
  name: text,
  description: optional(text),
  composite: boolean,
  /** Id of the client; null where there is none. */
  permissions: optional(text),
})

/** The role that everybody new in a realm gets, and the client that decides permissions of its administrators. */
export type DefaultRole = RowOf<typeof defaultRoleRow>

/** The roles that everybody new gets, and the clients of that name, in the realms with these ids. One statement. */
export async function selectDefaultRoles(
  tx: Transaction,
  realms: readonly string[],
  client: string,
): Promise<DefaultRole[]> {
  return rows(defaultRoleRow)`
    select r.id as realm, t.id, t.name, t.body ->> 'description' as description,
      exists (select from role_composite c where c.realm = t.realm and c.role = t.id) as composite,
      p.id as permissions
    from realm r join role t on t.realm = r.number and t.id = r.default_role
    left join client p on p.realm = r.number and p.client_id = ${client}
    where r.id = any(${realms}::text[])`.all(tx)
}

/**
 * A user of a realm with the roles that they hold, directly, through groups and through composites; undefined when there is none. What
 * the realm role `stop` contains is not looked at: master's admin contains the administration of every realm. One statement.
 */
export async function findHolder(
  tx: Transaction,
  realm: string,
  { user, stop }: { readonly user: string; readonly stop: string | undefined },
): Promise<Holder | undefined> {
  return rows(holderRow)`
    with recursive asker as (
      select u.realm, u.id, u.body from realm r join user_account u on u.realm = r.number
      where r.name = ${realm} and u.id = ${user}
    ),
    ${heldByAsker(stop)}
    select coalesce((a.body ->> 'enabled')::boolean, false) as enabled, ${rolesHeld} as roles from asker a`.first(tx)
}

/** Parts of a recursive query, after `asker` with a user's realm and id: `held` has the roles of that user. */
export function heldByAsker(stop: string | undefined): RawBuilder<unknown> {
  return sql`joined as (
      select g.realm, g.id, g.parent
      from asker a join user_group ug on ug.realm = a.realm and ug.user_account = a.id
      join realm_group g on g.realm = ug.realm and g.id = ug.realm_group
      union
      select g.realm, g.id, g.parent from joined j join realm_group g on g.realm = j.realm and g.id = j.parent
    ),
    held as (
      (select ur.realm, ur.role from asker a join user_role ur on ur.realm = a.realm and ur.user_account = a.id
        union
        select j.realm, gr.role from joined j join group_role gr on gr.realm = j.realm and gr.realm_group = j.id)
      union
      select rc.realm, rc.part
      from held h
      join role t on t.realm = h.realm and t.id = h.role and not (t.client is null and t.name is not distinct from ${stop ?? null}::text)
      join role_composite rc on rc.realm = h.realm and rc.role = h.role
    )`
}

/** The roles of `held` by name, with the clients that they belong to. */
export const rolesHeld = sql`(select coalesce(jsonb_agg(jsonb_build_object('name', t.name, 'client', c.client_id)), '[]')
  from held h join role t on t.realm = h.realm and t.id = h.role
  left join client c on c.realm = t.realm and c.id = t.client)`
