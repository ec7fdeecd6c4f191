// What people lose when objects end or can be used no more: what goes with a row by its foreign keys, and so stands in no journal.
import { type RawBuilder, sql } from 'kysely'
import { integer, type RowOf, row, rows, text, textOf } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { goingOn, type SessionLimits } from '../login/session-filter.ts'

/** What is counted of an object. */
export type Effect =
  | 'unlinksUsers'
  | 'hindersUsers'
  | 'locksOutUsers'
  | 'takesRoleFromUsers'
  | 'takesRoleFromGroups'
  | 'removesMembers'
  | 'endsSessions'
  | 'stopsSessions'
  | 'removesConsents'
  | 'orphansUsers'

const countedRow = row({
  kind: text,
  object: text,
  what: textOf<Effect>(),
  count: integer,
})

/** How much of it. */
export type Counted = RowOf<typeof countedRow>

/** Which sessions go on. */
export interface Limits {
  readonly online: SessionLimits
  readonly offline: SessionLimits
}

type Counter = (realm: number, ids: readonly string[], limits: Limits) => RawBuilder<unknown>

const links: Counter = (realm, ids) => sql`
  select identity_provider as object, count(*) from federated_identity
  where realm = ${realm} and identity_provider = any(${ids}) group by 1`

/** Who has neither a password nor a passkey, comes from no user store, and has no account at a provider that stays. */
const linksOnly: Counter = (realm, ids) => sql`
  select f.identity_provider as object, count(*) from federated_identity f
  join user_account u on u.realm = f.realm and u.id = f.user_account and u.body ->> 'federationLink' is null
  where f.realm = ${realm} and f.identity_provider = any(${ids})
    and not exists (select from credential c where c.realm = f.realm and c.user_account = f.user_account
      and c.type in ('password', 'webauthn-passwordless'))
    and not exists (select from federated_identity o where o.realm = f.realm and o.user_account = f.user_account
      and o.identity_provider <> all(${ids}))
  group by 1`

const sessionsOfClient: Counter = (realm, ids, limits) => sql`
  select c.client as object, count(*) from client_session c
  join user_session s on s.realm = c.realm and s.offline = c.offline and s.id = c.session
  where c.realm = ${realm} and c.client = any(${ids}) and ${going(limits)} group by 1`

const sessionsOfUser: Counter = (realm, ids, limits) => sql`
  select s.user_account as object, count(*) from user_session s
  where s.realm = ${realm} and s.user_account = any(${ids}) and ${going(limits)} group by 1`

const sessionsOfRealm: Counter = (realm, ids, limits) => sql`
  select ${ids[0]}::text as object, count(*) from user_session s where s.realm = ${realm} and ${going(limits)}`

/** What is counted when an object is deleted, and when it can be used no more, by kind. */
const deleted: Readonly<Record<string, Partial<Record<Effect, Counter>>>> = {
  identityProvider: { unlinksUsers: links, locksOutUsers: linksOnly },
  role: {
    takesRoleFromUsers: (realm, ids) => sql`
      select role as object, count(*) from user_role where realm = ${realm} and role = any(${ids}) group by 1`,
    takesRoleFromGroups: (realm, ids) => sql`
      select role as object, count(*) from group_role where realm = ${realm} and role = any(${ids}) group by 1`,
  },
  group: {
    removesMembers: (realm, ids) => sql`
      select below.object, count(distinct m.user_account) from (
        with recursive tree (object, id) as (
          select id, id from realm_group where realm = ${realm} and id = any(${ids})
          union select t.object, g.id from tree t join realm_group g on g.realm = ${realm} and g.parent = t.id
        ) select * from tree) below
      join user_group m on m.realm = ${realm} and m.realm_group = below.id group by 1`,
  },
  client: {
    endsSessions: sessionsOfClient,
    removesConsents: (realm, ids) => sql`
      select client as object, count(*) from user_consent where realm = ${realm} and client = any(${ids}) group by 1`,
    takesRoleFromUsers: (realm, ids) => sql`
      select r.client as object, count(distinct m.user_account) from role r
      join user_role m on m.realm = r.realm and m.role = r.id
      where r.realm = ${realm} and r.client = any(${ids}) group by 1`,
  },
  clientScope: {
    removesConsents: (realm, ids) => sql`
      select client_scope as object, count(*) from user_consent_client_scope
      where realm = ${realm} and client_scope = any(${ids}) group by 1`,
  },
  organization: {
    removesMembers: (realm, ids) => sql`
      select organization as object, count(*) from user_organization
      where realm = ${realm} and organization = any(${ids}) group by 1`,
  },
  component: {
    orphansUsers: (realm, ids) => sql`
      select body ->> 'federationLink' as object, count(*) from user_account
      where realm = ${realm} and body ->> 'federationLink' = any(${ids}) group by 1`,
  },
  user: { endsSessions: sessionsOfUser },
}

const disabled: typeof deleted = {
  identityProvider: { hindersUsers: links, locksOutUsers: linksOnly },
  client: { stopsSessions: sessionsOfClient },
  user: { stopsSessions: sessionsOfUser },
  realm: { stopsSessions: sessionsOfRealm },
}

/** Ids of objects, by kind. */
export type Ids = Readonly<Record<string, readonly string[]>>

/** What people lose when these objects are deleted, and those disabled; what is nothing is left out. One statement, or none. */
export async function countEffects(
  tx: Transaction,
  realm: number,
  { ending, limits }: { readonly ending: { readonly deleted: Ids; readonly disabled: Ids }; readonly limits: Limits },
): Promise<Counted[]> {
  const counts = (counters: typeof deleted, ids: Ids) =>
    Object.entries(ids).flatMap(([kind, own]) =>
      Object.entries(counters[kind] ?? {}).map(
        ([what, count]) =>
          sql`select ${kind}::text as kind, ${what}::text as what, object, count::integer from (${count(realm, own, limits)}) counted (object, count)`,
      ),
    )
  const all = [...counts(deleted, ending.deleted), ...counts(disabled, ending.disabled)]
  if (!all.length) return []
  return rows(countedRow)`
    select * from (${sql.join(all, sql` union all `)}) effects where count > 0`.all(tx)
}

function going({ online, offline }: Limits): RawBuilder<unknown> {
  return sql`case when s.offline then ${goingOn(offline)} else ${goingOn(online)} end`
}
