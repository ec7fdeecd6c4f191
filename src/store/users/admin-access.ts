// Finds out whether, and how, users with a role can log in and use it: the basis of the guard against locking out the last administrator.
import { sql } from 'kysely'
import { boolean, integer, query, row } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import type { RoleName } from '../roles.ts'

/** Returns parts of a recursive query: `granting_role` has the role and all roles that contain it, `holder` the users who have the role effectively. */
const buildHolders = (realm: number, { client, name }: RoleName) => sql`granting_role as (
      select r.id from role r left join client o on o.realm = r.realm and o.id = r.client
      where r.realm = ${realm} and r.name = ${name} and o.client_id is not distinct from ${client}::text
      union
      select p.role from granting_role g join role_composite p on p.realm = ${realm} and p.child_role = g.id
    ),
    granting_group as (
      select m.realm_group as id from granting_role g join group_role m on m.realm = ${realm} and m.role = g.id
      union
      select b.id from granting_group a join realm_group b on b.realm = ${realm} and b.parent = a.id
    ),
    holder as (
      select m.user_account as id from granting_role g join user_role m on m.realm = ${realm} and m.role = g.id
      union all
      select m.user_account from granting_group b join user_group m on m.realm = ${realm} and m.realm_group = b.id
    )`

/**
 * Whether a user who can log in has the role effectively: an enabled user with a password, or the service account of an enabled client.
 * One statement.
 */
export async function hasUsableHolder(tx: Transaction, realm: number, role: RoleName): Promise<boolean> {
  const { exists } = await query(row({ exists: boolean }))`
    with recursive ${buildHolders(realm, role)}
    select exists (
      select from holder h
      join user_account u on u.realm = ${realm} and u.id = h.id and (u.body ->> 'enabled')::boolean
      left join client c on c.realm = ${realm} and c.id = u.service_account_client
      where (c.body ->> 'enabled')::boolean
        or exists (select from credential k where k.realm = ${realm} and k.user_account = u.id and k.type = 'password')
    ) as exists`.firstOrThrow(tx)
  return exists
}

/** The ways in which an administrator can get a token with the role, from worst to best. */
export const ADMIN_ACCESS = {
  none: 0,
  /** By the browser, or by a client with a secret: the application gets the token. */
  byApplication: 1,
  /** By user name and password alone, or by a service account. */
  direct: 2,
  /** Like `byApplication`, by the requested client. */
  byApplicationRequested: 3,
  /** Like `direct`, by the requested client. */
  directRequested: 4,
} as const

/** A search for the ways in which users can administer. */
export interface AdminAccessSearch {
  /** The admin role. */
  readonly role: RoleName
  readonly now: Date
  /** Authenticators of browser flows that accept a password. */
  readonly browserSteps: readonly string[]
  /** Authenticators of direct grant flows that accept a password. */
  readonly directSteps: readonly string[]
  /** Algorithms by which access tokens can be signed. */
  readonly algorithms: readonly string[]
  /** Ids of clients to ignore. */
  readonly except: readonly string[]
  /** Id of the user; absent: any user. */
  readonly user?: string | undefined
  /** Client id of the requested client. */
  readonly client?: string | undefined
}

/** Returns a part of a recursive query: the flows with one of the authenticators enabled, also in sub-flows. */
const buildPassableFlows = (name: string, realm: number, steps: readonly string[]) => sql`${sql.raw(name)} as (
      select e.flow from authentication_execution e
      where e.realm = ${realm} and e.authenticator = any(${steps}::text[]) and coalesce(e.body ->> 'requirement', 'REQUIRED') <> 'DISABLED'
      union
      select e.flow from ${sql.raw(name)} p
      join authentication_execution e on e.realm = ${realm} and e.sub_flow = p.flow and coalesce(e.body ->> 'requirement', 'REQUIRED') <> 'DISABLED'
    )`

/** Returns a part of a recursive query: `client_authenticator` has the authenticators of the client authentication flow. */
const buildClientAuthenticators = (realm: number) => sql`client_authenticator as (
      select e.authenticator from realm r
      join authentication_execution e on e.realm = r.number and e.flow = r.client_authentication_flow
      where r.number = ${realm} and case when exists (
          select from authentication_execution f
          where f.realm = ${realm} and f.flow = e.flow and coalesce(f.body ->> 'requirement', 'REQUIRED') = 'REQUIRED')
        then e.position = (
          select min(f.position) from authentication_execution f
          where f.realm = ${realm} and f.flow = e.flow and coalesce(f.body ->> 'requirement', 'REQUIRED') = 'REQUIRED')
        else e.body ->> 'requirement' = 'ALTERNATIVE' end
    )`

/** Returns a part of a recursive query: `role_client` has the clients with the role in their scope, and how users get tokens from them. */
const buildClientsWithRole = (
  realm: number,
  now: number,
  { algorithms, except, client }: AdminAccessSearch,
) => sql`role_client as (
      select c.id, c.client_id is not distinct from ${client ?? null}::text as is_same,
        coalesce((c.body ->> 'publicClient')::boolean, false) as is_public,
        coalesce((c.body ->> 'directAccessGrantsEnabled')::boolean, false) and not coalesce((c.body ->> 'consentRequired')::boolean, false)
          and coalesce(c.direct_grant_flow, r.direct_grant_flow) in (select flow from direct_flow) as is_direct,
        coalesce((c.body ->> 'standardFlowEnabled')::boolean, false)
          and coalesce(c.browser_flow, r.browser_flow) in (select flow from browser_flow)
          and exists (
            select from jsonb_array_elements_text(coalesce(c.body -> 'redirectUris', '[]')) uri
            where case when uri like '/%' then coalesce(c.body ->> 'rootUrl', '') else uri end ~ '^([a-zA-Z][a-zA-Z0-9+.-]*:|[*]$)') as is_browser
      from realm r join client c on c.realm = r.number
      where r.number = ${realm} and (r.body ->> 'enabled')::boolean and (c.body ->> 'enabled')::boolean
        and c.editor_roles is null and not c.id = any(${except}::text[])
        and coalesce(c.body ->> 'protocol', 'openid-connect') = 'openid-connect'
        and not coalesce((c.body ->> 'bearerOnly')::boolean, false)
        and case when (c.body ->> 'publicClient')::boolean then 'client-secret' else coalesce(c.body ->> 'clientAuthenticatorType', 'client-secret') end
          in (select authenticator from client_authenticator)
        and greatest((r.body ->> 'notBefore')::bigint, (c.body ->> 'notBefore')::bigint, 0) <= ${now}
        and coalesce(nullif(c.body -> 'attributes' ->> 'access.token.lifespan', ''), r.body ->> 'accessTokenLifespan') ~ '^(-1|0*[1-9][0-9]*)$'
        and coalesce(nullif(c.body -> 'attributes' ->> 'access.token.signed.response.alg', ''), nullif(r.body ->> 'defaultSignatureAlgorithm', ''), 'RS256')
          = any(${algorithms}::text[])
        and ((c.body ->> 'fullScopeAllowed')::boolean
          or exists (select from client_role m join granting_role g on g.id = m.role where m.realm = ${realm} and m.client = c.id)
          or exists (select from role t join granting_role g on g.id = t.id where t.realm = ${realm} and t.client = c.id))
    )`

/**
 * Returns the best way, a value of ADMIN_ACCESS, in which a user of the enabled realm can get a token with the role: a service account whose
 * client has the role in its scope, or a user with a password, by such a client and a flow with a password step. One statement.
 */
export async function getAdminAccess(tx: Transaction, realm: number, options: AdminAccessSearch): Promise<number> {
  const { role, browserSteps, directSteps, user } = options
  const now = Math.floor(options.now.getTime() / 1000)
  const { access } = await query(row({ access: integer }))`
    with recursive ${buildHolders(realm, role)},
    ${buildPassableFlows('browser_flow', realm, browserSteps)},
    ${buildPassableFlows('direct_flow', realm, directSteps)},
    ${buildClientAuthenticators(realm)},
    ${buildClientsWithRole(realm, now, options)},
    admin as (
      select u.id, u.service_account_client, jsonb_array_length(coalesce(u.body -> 'requiredActions', '[]')) = 0 as is_ready
      from holder h
      join user_account u on u.realm = ${realm} and u.id = h.id and (u.body ->> 'enabled')::boolean
      where u.id = coalesce(${user ?? null}::text, u.id) and coalesce((u.body ->> 'notBefore')::bigint, 0) <= ${now}
    ),
    way as (
      select s.is_same, ${ADMIN_ACCESS.direct}::integer as access from admin a join role_client s on s.id = a.service_account_client
      union all
      select s.is_same, case when s.is_direct and a.is_ready and s.is_public then ${ADMIN_ACCESS.direct}::integer else ${ADMIN_ACCESS.byApplication}::integer end
      from admin a join role_client s on s.is_browser or s.is_direct and a.is_ready
      where exists (select from credential k where k.realm = ${realm} and k.user_account = a.id and k.type = 'password')
    )
    select coalesce(max(access + case when is_same then ${ADMIN_ACCESS.directRequested - ADMIN_ACCESS.direct}::integer else 0 end), ${ADMIN_ACCESS.none}::integer) as access from way`.firstOrThrow(
    tx,
  )
  return access
}
