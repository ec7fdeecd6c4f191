// What a token stands on: the client that got it, the credential of its user; and who stands above every realm.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, integer, json, optional, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { type Holder, heldByAsker, holderRow, rolesHeld } from './role-mappings.ts'

const standingRow = row({
  enabled: boolean,
  /** The client's name. */
  client: text,
  /** The roles that the client shows where its user has them; null: all. */
  scope: optional(json<readonly RoleName[]>()),
  /** The roles that the last editor of the client could grant; null: all. */
  editorRoles: optional(json<readonly RoleName[]>()),
  /** Tokens of the client, or of the user, from before are void: seconds since 1970. */
  notBefore: integer,
  /** Null: gone. */
  user: optional(json<{ readonly id: string; readonly username: string; readonly enabled: boolean }>()),
  /** The session that the token names, with what the client noted of it. */
  session: optional(
    json<{ readonly id: string; readonly body: Representation; readonly part: Representation | null }>(),
  ),
  revoked: boolean,
})

const standingWithRolesRow = row({ ...standingRow.columns, roles: holderRow.columns.roles })

/** What a token names, as it is now. */
export interface Standing extends RowOf<typeof standingRow> {
  /** The roles that the user has in effect, with the clients that they belong to; absent unless they are asked for. */
  readonly roles?: Holder['roles']
}

/** What a token names, by ids. */
export interface TokenNames {
  readonly client: string
  /** The user, where there is no session that says who it is. */
  readonly user?: string | undefined
  readonly session?: string | undefined
  /** The key under which its revocation would be kept: see single-use.ts. */
  readonly revoked: string
}

/** The token to look at. */
export interface StandingSearch {
  readonly token: TokenNames
  /** The realm role whose content is not looked at. */
  readonly stop: string | undefined
  /** Whether to look for the roles of the user, too. */
  readonly withRoles: boolean
}

/**
 * What the token stands on; undefined when its client is gone. A client without full scope shows the roles that
 * it has in its scope; what the realm role `stop` contains is not looked at. `withRoles`: and what roles its user has. One statement.
 */
export async function findStanding(
  tx: Transaction,
  realm: number,
  { token: { client, user, session, revoked }, stop, withRoles }: StandingSearch,
): Promise<Standing | undefined> {
  return rows(withRoles ? standingWithRolesRow : standingRow)`
    with recursive holder as (
      select c.id, c.client_id, c.body, c.editor_roles, coalesce((c.body ->> 'fullScopeAllowed')::boolean, false) as full_scope
      from client c where c.realm = ${realm} and c.id = ${client}
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
      where u.realm = ${realm} and u.id = coalesce((select n.user_account from named n), ${user ?? null})
    )${withRoles ? sql`, ${heldByAsker(stop)}` : sql``}
    select coalesce((h.body ->> 'enabled')::boolean, false) as enabled, h.client_id as client,
      h.editor_roles as "editorRoles",
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
    left join asker u on true`.first(tx)
}

/** Whether the user still has that credential. One statement. */
export async function hasCredential(
  tx: Transaction,
  realm: number,
  { user, id }: { readonly user: string; readonly id: string },
): Promise<boolean> {
  const { found } = await rows(row({ found: boolean }))`
    select exists (select from credential where realm = ${realm} and user_account = ${user} and id = ${id}) as found`.one(
    tx,
  )
  return found
}

/** A role of the realm, or of the client of that name. */
export interface RoleName {
  readonly client: string | null
  readonly name: string
}

/** Parts of a recursive query: `giving` has the roles by which somebody has the role, `holder` who has it in effect. */
const holding = (realm: number, { client, name }: RoleName) => sql`giving as (
      select r.id from role r left join client o on o.realm = r.realm and o.id = r.client
      where r.realm = ${realm} and r.name = ${name} and o.client_id is not distinct from ${client}::text
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
    )`

/**
 * Whether somebody who can log in has the role in effect: an enabled user with a password, or the account of an enabled
 * client. One statement.
 */
export async function isHeld(tx: Transaction, realm: number, role: RoleName): Promise<boolean> {
  const { found } = await rows(row({ found: boolean }))`
    with recursive ${holding(realm, role)}
    select exists (
      select from holder h
      join user_account u on u.realm = ${realm} and u.id = h.id and (u.body ->> 'enabled')::boolean
      left join client c on c.realm = ${realm} and c.id = u.service_account_client
      where (c.body ->> 'enabled')::boolean
        or exists (select from credential k where k.realm = ${realm} and k.user_account = u.id and k.type = 'password')
    ) as found`.one(tx)
  return found
}

/** Ways by which somebody administers, the best last. */
export const REACH = {
  none: 0,
  /** By a browser or a client with a secret: who gets the token is the application. */
  byApplication: 1,
  /** By name and password alone, or as the account of a client. */
  direct: 2,
  /** The same by the client that is asked for. */
  byApplicationAskedFor: 3,
  directAskedFor: 4,
} as const

/** What decides whether somebody can log in and administer. */
export interface ReachOptions {
  /** The role by which somebody administers. */
  readonly role: RoleName
  readonly now: Date
  /** Steps of flows that let in who knows the password: in a browser, and by name and password. */
  readonly browserSteps: readonly string[]
  readonly directSteps: readonly string[]
  /** What access tokens can be signed with. */
  readonly algorithms: readonly string[]
  /** Ids of clients that count for nothing. */
  readonly except: readonly string[]
  /** Just this one, by id; absent: anybody. */
  readonly user?: string | undefined
  /** The client that is better than all others, by client id. */
  readonly client?: string | undefined
}

/** Flows with one of these steps that is not disabled, also in flows below them. */
const passable = (name: string, realm: number, steps: readonly string[]) => sql`${sql.raw(name)} as (
      select e.flow from authentication_execution e
      where e.realm = ${realm} and e.authenticator = any(${steps}::text[]) and coalesce(e.body ->> 'requirement', 'REQUIRED') <> 'DISABLED'
      union
      select e.flow from ${sql.raw(name)} p
      join authentication_execution e on e.realm = ${realm} and e.sub_flow = p.flow and coalesce(e.body ->> 'requirement', 'REQUIRED') <> 'DISABLED'
    )`

/** `proving` has the authenticators that clients of the realm may use. */
const proving = (realm: number) => sql`proving as (
      select e.authenticator from realm r
      join authentication_execution e on e.realm = r.number and e.flow = r.client_authentication_flow
      where r.number = ${realm} and case when exists (
          select from authentication_execution f
          where f.realm = ${realm} and f.flow = e.flow and coalesce(f.body ->> 'requirement', 'REQUIRED') = 'REQUIRED')
        then e.place = (
          select min(f.place) from authentication_execution f
          where f.realm = ${realm} and f.flow = e.flow and coalesce(f.body ->> 'requirement', 'REQUIRED') = 'REQUIRED')
        else e.body ->> 'requirement' = 'ALTERNATIVE' end
    )`

/** `showing` has the clients that show the role of `giving`, and by which flows that pass they get tokens. */
const showing = (realm: number, now: number, { algorithms, except, client }: ReachOptions) => sql`showing as (
      select c.id, c.client_id is not distinct from ${client ?? null}::text as is_same,
        coalesce((c.body ->> 'publicClient')::boolean, false) as is_public,
        coalesce((c.body ->> 'directAccessGrantsEnabled')::boolean, false) and not coalesce((c.body ->> 'consentRequired')::boolean, false)
          and coalesce(c.direct_grant_flow, r.direct_grant_flow) in (select flow from granting) as is_direct,
        coalesce((c.body ->> 'standardFlowEnabled')::boolean, false)
          and coalesce(c.browser_flow, r.browser_flow) in (select flow from browsing)
          and exists (
            select from jsonb_array_elements_text(coalesce(c.body -> 'redirectUris', '[]')) uri
            where case when uri like '/%' then coalesce(c.body ->> 'rootUrl', '') else uri end ~ '^([a-zA-Z][a-zA-Z0-9+.-]*:|[*]$)') as is_browser
      from realm r join client c on c.realm = r.number
      where r.number = ${realm} and (r.body ->> 'enabled')::boolean and (c.body ->> 'enabled')::boolean
        and c.editor_roles is null and not c.id = any(${except}::text[])
        and coalesce(c.body ->> 'protocol', 'openid-connect') = 'openid-connect'
        and not coalesce((c.body ->> 'bearerOnly')::boolean, false)
        and case when (c.body ->> 'publicClient')::boolean then 'client-secret' else coalesce(c.body ->> 'clientAuthenticatorType', 'client-secret') end
          in (select authenticator from proving)
        and greatest((r.body ->> 'notBefore')::bigint, (c.body ->> 'notBefore')::bigint, 0) <= ${now}
        and coalesce(nullif(c.body -> 'attributes' ->> 'access.token.lifespan', ''), r.body ->> 'accessTokenLifespan') ~ '^0*[1-9][0-9]*$'
        and coalesce(nullif(c.body -> 'attributes' ->> 'access.token.signed.response.alg', ''), nullif(r.body ->> 'defaultSignatureAlgorithm', ''), 'RS256')
          = any(${algorithms}::text[])
        and ((c.body ->> 'fullScopeAllowed')::boolean
          or exists (select from client_role m join giving g on g.id = m.role where m.realm = ${realm} and m.client = c.id)
          or exists (select from role t join giving g on g.id = t.id where t.realm = ${realm} and t.client = c.id))
    )`

/**
 * Returns the best way by which somebody can log in to the enabled realm and has the role in the token that they get, from REACH: the
 * account of a client that shows the role, or a user with a password, by a client that shows it and a flow that has a password step. One
 * statement.
 */
export async function findReach(tx: Transaction, realm: number, options: ReachOptions): Promise<number> {
  const { role, browserSteps, directSteps, user } = options
  const now = Math.floor(options.now.getTime() / 1000)
  const { reach } = await rows(row({ reach: integer }))`
    with recursive ${holding(realm, role)},
    ${passable('browsing', realm, browserSteps)},
    ${passable('granting', realm, directSteps)},
    ${proving(realm)},
    ${showing(realm, now, options)},
    able as (
      select u.id, u.service_account_client, jsonb_array_length(coalesce(u.body -> 'requiredActions', '[]')) = 0 as is_ready
      from holder h
      join user_account u on u.realm = ${realm} and u.id = h.id and (u.body ->> 'enabled')::boolean
      where u.id = coalesce(${user ?? null}::text, u.id) and coalesce((u.body ->> 'notBefore')::bigint, 0) <= ${now}
    ),
    way as (
      select s.is_same, ${REACH.direct}::integer as reach from able a join showing s on s.id = a.service_account_client
      union all
      select s.is_same, case when s.is_direct and a.is_ready and s.is_public then ${REACH.direct}::integer else ${REACH.byApplication}::integer end
      from able a join showing s on s.is_browser or s.is_direct and a.is_ready
      where exists (select from credential k where k.realm = ${realm} and k.user_account = a.id and k.type = 'password')
    )
    select coalesce(max(reach + case when is_same then ${REACH.directAskedFor - REACH.direct}::integer else 0 end), ${REACH.none}::integer) as reach from way`.one(
    tx,
  )
  return reach
}
