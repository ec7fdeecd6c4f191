// What a token stands on: the client that got it, the credential of its user; and who stands above every realm.
import { sql } from 'kysely'
import type { Representation } from '../kinds/kind.ts'
import type { Transaction } from './database.ts'
import { type Holder, heldByAsker, rolesHeld } from './role-mappings.ts'

/** What a token names, as it is now. */
export interface Standing {
  readonly enabled: boolean
  /** The roles that the client shows where its user has them; null: all. */
  readonly scope: readonly { readonly name: string; readonly client: string | null }[] | null
  /** Tokens of the client, or of the user, from before are void: seconds since 1970. */
  readonly notBefore: number
  /** Null: gone. */
  readonly user: { readonly id: string; readonly username: string; readonly enabled: boolean } | null
  /** The session that the token names, with what the client noted of it. */
  readonly session: { readonly id: string; readonly body: Representation; readonly part: Representation | null } | null
  readonly revoked: boolean
  /** The roles that the user has in effect, with the clients that they belong to; absent unless they are asked for. */
  readonly roles?: Holder['roles']
}

/** What a token names. */
export interface TokenNames {
  /** The client's name, not its id. */
  readonly client: string
  /** The subject that it names: the user's id, where there is no session that tells the user. */
  readonly user: string
  readonly session: string | undefined
  /** The key under which its revocation would be kept: see single-use.ts. */
  readonly revoked: string
}

/**
 * What the token stands on; undefined when its client is gone. A client without full scope shows the roles that
 * it has in its scope; what the realm role `stop` contains is not looked at. `withRoles`: and what roles its user has. One statement.
 */
export async function findStanding(
  tx: Transaction,
  realm: number,
  { client, user, session, revoked }: TokenNames,
  stop: string | undefined,
  withRoles: boolean,
): Promise<Standing | undefined> {
  const { rows } = await sql<Standing>`
    with recursive holder as (
      select c.id, c.body, coalesce((c.body ->> 'fullScopeAllowed')::boolean, false) as full_scope
      from client c where c.realm = ${realm} and c.client_id = ${client}
    ),
    scope as (
      (select m.role as id from holder h join client_role m on m.realm = ${realm} and m.client = h.id and not h.full_scope
        union
        select t.id from holder h join role t on t.realm = ${realm} and t.client = h.id and not h.full_scope)
      union
      select p.part
      from scope s
      join role t on t.realm = ${realm} and t.id = s.id and not (t.client is null and t.name is not distinct from ${stop ?? null}::text)
      join role_composite p on p.realm = ${realm} and p.role = s.id
    ),
    named as (
      select s.id, s.user_account, s.body,
        (select p.body from client_session p
          where p.realm = ${realm} and p.offline = s.offline and p.session = s.id and p.client = h.id) as part
      from holder h join user_session s on s.realm = ${realm} and s.id = ${session ?? null}
      order by s.offline limit 1
    ),
    asker as (
      select u.realm, u.id, u.username, u.body from user_account u
      where u.realm = ${realm} and u.id = coalesce((select n.user_account from named n), ${user})
    )${withRoles ? sql`, ${heldByAsker(stop)}` : sql``}
    select coalesce((h.body ->> 'enabled')::boolean, false) as enabled,
      case when not h.full_scope then (
        select coalesce(jsonb_agg(jsonb_build_object('name', t.name, 'client', o.client_id)), '[]')
        from scope s join role t on t.realm = ${realm} and t.id = s.id
        left join client o on o.realm = t.realm and o.id = t.client) end as scope,
      greatest((h.body ->> 'notBefore')::integer, (u.body ->> 'notBefore')::integer, 0) as "notBefore",
      case when u.id is not null then jsonb_build_object('id', u.id, 'username', u.username,
        'enabled', coalesce((u.body ->> 'enabled')::boolean, false)) end as "user",
      (select jsonb_build_object('id', n.id, 'body', n.body, 'part', n.part) from named n) as session,
      exists (select from single_use k where k.realm = ${realm} and k.key = ${revoked}) as revoked${withRoles ? sql`, ${rolesHeld} as roles` : sql``}
    from holder h
    left join asker u on true`.execute(tx)
  return rows[0]
}

/** Whether the user still has that credential. One statement. */
export async function hasCredential(tx: Transaction, realm: number, user: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from credential where realm = ${realm} and user_account = ${user} and id = ${id}) as found`.execute(
    tx,
  )
  return rows[0]!.found
}

/**
 * Whether somebody who can log in has the realm role in effect: an enabled user with a password, or the account of an enabled
 * client. One statement.
 */
export async function isHeld(tx: Transaction, realm: number, role: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive giving as (
      select r.id from role r where r.realm = ${realm} and r.client is null and r.name = ${role}
      union
      select p.role from giving g join role_composite p on p.realm = ${realm} and p.part = g.id
    ),
    belonging as (
      select m.realm_group as id from giving g join group_role m on m.realm = ${realm} and m.role = g.id
      union
      select b.id from belonging a join realm_group b on b.realm = ${realm} and b.parent = a.id
    ),
    holder as (
      select m.user_account as id from giving g join user_role m on m.realm = ${realm} and m.role = g.id
      union all
      select m.user_account from belonging b join user_group m on m.realm = ${realm} and m.realm_group = b.id
    )
    select exists (
      select from holder h
      join user_account u on u.realm = ${realm} and u.id = h.id and (u.body ->> 'enabled')::boolean
      left join client c on c.realm = ${realm} and c.id = u.service_account_client
      where (c.body ->> 'enabled')::boolean
        or exists (select from credential k where k.realm = ${realm} and k.user_account = u.id and k.type = 'password')
    ) as found`.execute(tx)
  return rows[0]!.found
}
