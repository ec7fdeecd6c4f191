// Counts the effects on users of deleting or disabling objects. Cascading deletes cause most of them, so the journal does not have them.
import { type RawBuilder, sql } from 'kysely'
import { integer, query, type RowOf, row, text, textOf } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildActiveFilter, type SessionLimits } from '../login/session-filter.ts'

/** An effect of a deletion or update on users or groups. */
export type Effect =
  | 'unlinksUsers'
  | 'blocksLogins'
  | 'locksOutUsers'
  | 'removesRoleFromUsers'
  | 'removesRoleFromGroups'
  | 'removesMembers'
  | 'endsSessions'
  | 'disablesSessions'
  | 'removesConsents'
  | 'orphansUsers'

const effectCountRow = row({
  kind: text,
  object: text,
  effect: textOf<Effect>(),
  count: integer,
})

/** An effect of an object, with the number of affected users, groups or sessions. */
export type EffectCount = RowOf<typeof effectCountRow>

/** The time limits of active online and offline sessions. */
export interface SessionLimitsByType {
  readonly online: SessionLimits
  readonly offline: SessionLimits
}

type Counter = (realm: number, ids: readonly string[], limits: SessionLimitsByType) => RawBuilder<unknown>

const linkedUsers: Counter = (realm, ids) => sql`
  select identity_provider as object, count(*) from federated_identity
  where realm = ${realm} and identity_provider = any(${ids}) group by 1`

/** Counts users who have neither a password nor a passkey, no user store, and no account at another identity provider. */
const lockedOutUsers: Counter = (realm, ids) => sql`
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
  where c.realm = ${realm} and c.client = any(${ids}) and ${buildActiveCondition(limits)} group by 1`

const sessionsOfUser: Counter = (realm, ids, limits) => sql`
  select s.user_account as object, count(*) from user_session s
  where s.realm = ${realm} and s.user_account = any(${ids}) and ${buildActiveCondition(limits)} group by 1`

const sessionsOfRealm: Counter = (realm, ids, limits) => sql`
  select ${ids[0]}::text as object, count(*) from user_session s where s.realm = ${realm} and ${buildActiveCondition(limits)}`

/** The effects of deleting an object, by kind. */
const deletionEffects: Readonly<Record<string, Partial<Record<Effect, Counter>>>> = {
  identityProvider: { unlinksUsers: linkedUsers, locksOutUsers: lockedOutUsers },
  role: {
    removesRoleFromUsers: (realm, ids) => sql`
      select role as object, count(*) from user_role where realm = ${realm} and role = any(${ids}) group by 1`,
    removesRoleFromGroups: (realm, ids) => sql`
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
    removesRoleFromUsers: (realm, ids) => sql`
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

/** The effects of disabling an object, by kind. */
const disablingEffects: typeof deletionEffects = {
  identityProvider: { blocksLogins: linkedUsers, locksOutUsers: lockedOutUsers },
  client: { disablesSessions: sessionsOfClient },
  user: { disablesSessions: sessionsOfUser },
  realm: { disablesSessions: sessionsOfRealm },
}

/** Ids of objects, by kind. */
export type IdsByKind = Readonly<Record<string, readonly string[]>>

/** Counts the effects of deleting and disabling objects. Counts of 0 are omitted. One statement, or none. */
export async function countEffects(
  tx: Transaction,
  realm: number,
  {
    ending: changes,
    limits,
  }: {
    readonly ending: { readonly deleted: IdsByKind; readonly disabled: IdsByKind }
    readonly limits: SessionLimitsByType
  },
): Promise<EffectCount[]> {
  const counts = (counters: typeof deletionEffects, ids: IdsByKind) =>
    Object.entries(ids).flatMap(([kind, idsOfKind]) =>
      Object.entries(counters[kind] ?? {}).map(
        ([effect, count]) =>
          sql`select ${kind}::text as kind, ${effect}::text as effect, object, count::integer from (${count(realm, idsOfKind, limits)}) counted (object, count)`,
      ),
    )
  const all = [...counts(deletionEffects, changes.deleted), ...counts(disablingEffects, changes.disabled)]
  if (!all.length) return []
  return query(effectCountRow)`
    select * from (${sql.join(all, sql` union all `)}) effects where count > 0`.all(tx)
}

function buildActiveCondition({ online, offline }: SessionLimitsByType): RawBuilder<unknown> {
  return sql`case when s.offline then ${buildActiveFilter(offline)} else ${buildActiveFilter(online)} end`
}
