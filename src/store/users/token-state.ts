// The state of what a token refers to: its client, user, session and revocation, and the credential of its user.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { bigint, boolean, integer, json, optional, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildRevision } from '../journal/journal.ts'
import type { RoleName } from '../roles.ts'
import { buildCallerRoles, callerRoleNames, type UserPermissions, userPermissionsRow } from './role-mappings.ts'

const tokenStateRow = row({
  /** Whether the client is enabled. */
  enabled: boolean,
  /** Client id. */
  client: text,
  /** The roles in the scope of the client; null: all. */
  scope: optional(json<readonly RoleName[]>()),
  /** The admin roles that the last editor of the client could grant; null: all. */
  editorRoles: optional(json<readonly RoleName[]>()),
  /** Tokens of the client or user that were issued earlier are invalid; in seconds since 1970. */
  notBefore: integer,
  /** Null if the user is deleted. */
  user: optional(json<{ readonly id: string; readonly username: string; readonly enabled: boolean }>()),
  /** The session of the token, with the data of its client session. */
  session: optional(
    json<{ readonly id: string; readonly body: Representation; readonly clientSession: Representation | null }>(),
  ),
  revoked: boolean,
})

const tokenStateWithRolesRow = row({
  ...tokenStateRow.columns,
  roles: userPermissionsRow.columns.roles,
  /** Number of the last entry of the realm's configuration journal. */
  revision: bigint,
  /** Number of the transaction that has last written the user; null if the user is deleted. */
  userVersion: optional(text),
})

/** The current state of the user, the client and the session of a token. */
export interface TokenState extends RowOf<typeof tokenStateRow> {
  /** The effective roles of the user, with the versions of what they depend on; absent unless requested. */
  readonly roles?: UserPermissions['roles']
  readonly revision?: number
  readonly userVersion?: string | null
}

/** The ids of the user, the client and the session of a token. */
export interface TokenReferences {
  readonly client: string
  /** The user, if the token has no session. */
  readonly user?: string | undefined
  readonly session?: string | undefined
  /** The key of the token's revocation: see single-use.ts. */
  readonly revoked: string
}

/** A search for the state of a token. */
export interface TokenStateSearch {
  readonly token: TokenReferences
  /** Name of a realm role whose composites are not expanded. */
  readonly unexpandedRole: string | undefined
  /** Whether to return the roles of the user. */
  readonly withRoles: boolean
}

/**
 * Returns the current state of what a token refers to; undefined if its client is deleted. One statement.
 */
export async function findTokenState(
  tx: Transaction,
  realm: number,
  { token: { client, user, session, revoked }, unexpandedRole, withRoles }: TokenStateSearch,
): Promise<TokenState | undefined> {
  return query(withRoles ? tokenStateWithRolesRow : tokenStateRow)`
    with recursive token_client as (
      select c.id, c.client_id, c.body, c.editor_roles, coalesce((c.body ->> 'fullScopeAllowed')::boolean, false) as full_scope
      from client c where c.realm = ${realm} and c.id = ${client}
    ),
    scope as (
      (select m.role as id from token_client h join client_role m on m.realm = ${realm} and m.client = h.id and not h.full_scope
        union
        select t.id from token_client h join role t on t.realm = ${realm} and t.client = h.id and not h.full_scope)
      union
      select c.child_role
      from scope s cross join lateral (
        select p.child_role
        from role t join role_composite p on p.realm = t.realm and p.role = t.id
        where t.realm = ${realm} and t.id = s.id and not (t.client is null and t.name is not distinct from ${unexpandedRole ?? null}::text)
        offset 0
      ) c
    ),
    token_session as (
      select s.id, s.user_account, s.body,
        (select p.body from client_session p
          where p.realm = ${realm} and p.offline = s.offline and p.session = s.id and p.client = h.id) as "clientSession"
      from token_client h join user_session s on s.realm = ${realm} and s.id = ${session ?? null}
      order by s.offline limit 1
    ),
    caller as (
      select u.realm, u.id, u.username, u.xmin::text as version, u.body from user_account u
      where u.realm = ${realm} and u.id = coalesce((select n.user_account from token_session n), ${user ?? null})
    )${withRoles ? sql`, ${buildCallerRoles(unexpandedRole)}` : sql``}
    select coalesce((h.body ->> 'enabled')::boolean, false) as enabled, h.client_id as client,
      h.editor_roles as "editorRoles",
      case when not h.full_scope then (
        select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'client', r.client_id)), '[]')
        from scope s cross join lateral (
          select t.name, o.client_id
          from role t left join client o on o.realm = t.realm and o.id = t.client
          where t.realm = ${realm} and t.id = s.id
          offset 0
        ) r) end as scope,
      greatest((h.body ->> 'notBefore')::integer, (u.body ->> 'notBefore')::integer, 0) as "notBefore",
      case when u.id is not null then jsonb_build_object('id', u.id, 'username', u.username,
        'enabled', coalesce((u.body ->> 'enabled')::boolean, false)) end as "user",
      (select jsonb_build_object('id', n.id, 'body', n.body, 'clientSession', n."clientSession") from token_session n) as session,
      exists (select from single_use k where k.realm = ${realm} and k.key = ${revoked}) as revoked${withRoles ? sql`, ${callerRoleNames} as roles, ${buildRevision(sql`${realm}`)} as revision, u.version as "userVersion"` : sql``}
    from token_client h
    left join caller u on true`.first(tx)
}
