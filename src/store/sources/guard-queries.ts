// Queries of the guards, which decide whether a plan needs an approval.
import { sql } from 'kysely'
import { countRow, integer, json, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Actor } from '../journal/journal.ts'

const realmSizeRow = row({
  users: integer,
  clients: integer,
  sessions: integer,
})

/** The numbers of objects that are deleted with a realm. */
export type RealmSize = RowOf<typeof realmSizeRow>

/** Returns the numbers of users, clients and sessions of a realm; service accounts do not count. One statement. */
export async function countRealmContent(tx: Transaction, realm: number): Promise<RealmSize> {
  return query(realmSizeRow)`
    select
      (select count(*)::integer from user_account u where u.realm = ${realm} and u.service_account_client is null) as users,
      (select count(*)::integer from client c where c.realm = ${realm}) as clients,
      (select count(*)::integer from user_session s where s.realm = ${realm}) as sessions`.firstOrThrow(tx)
}

/** Returns the number of objects of a realm that the sources manage. One statement. */
export async function countManagedObjects(tx: Transaction, realm: number, sources: readonly string[]): Promise<number> {
  const { count } = await query(countRow)`
    select count(distinct (i.kind, i.object))::integer as count
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and s.name = any(${sources}::text[])`.firstOrThrow(tx)
  return count
}

/** Whether other sources manage objects of a realm; objects that are no longer declared do not count. One statement. */
export async function isManagedByOtherSources(
  tx: Transaction,
  realm: number,
  sources: readonly string[],
): Promise<boolean> {
  const { rows } = await sql`
    select from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and s.name <> all (${sources}::text[]) and i.declared_digest is distinct from '' limit 1`.execute(
    tx,
  )
  return rows.length > 0
}

/** Returns the actors who created users, by id; users without a journal entry are omitted. One statement. */
export async function selectUserCreators(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<Map<string, Actor>> {
  const creators = await query(row({ object: text, actor: json<Actor>() }))`
    select distinct on (j.object) j.object, j.actor from user_journal j
    where j.realm = ${realm} and j.kind = 'user' and j.object = any(${users}::text[]) and j.operation = 'create'
    order by j.object, j.number desc`.all(tx)
  return new Map(creators.map(({ object, actor }) => [object, actor]))
}

const deletedRealmRow = row({
  deletedAt: timestamp,
  /** Number of users; null if unknown. */
  users: optional(integer),
})

/** A deleted realm. */
export type DeletedRealm = RowOf<typeof deletedRealmRow>

/** Returns the last deleted realm with a name. One statement. */
export async function findDeletedRealm(tx: Transaction, name: string): Promise<DeletedRealm | undefined> {
  return query(deletedRealmRow)`
    select f.deleted_at as "deletedAt", f.users from deleted_realm f
    where f.name = ${name} order by f.deleted_at desc limit 1`.first(tx)
}

/** Records name and number of users of a realm before it is deleted. One statement. */
export async function recordDeletedRealm(tx: Transaction, realm: number, at: Date): Promise<void> {
  await sql`
    insert into deleted_realm (number, name, users, deleted_at)
    select r.number, r.name, (
        select count(*)::integer from user_account u where u.realm = r.number and u.service_account_client is null
      ), ${at}::timestamptz
    from realm r where r.number = ${realm}`.execute(tx)
}

const flowBindingRow = row({
  /** The client id of a client with a flow of its own; null for the realm. */
  client: optional(text),
  /** The path of the field that binds the flow. */
  path: text,
  alias: text,
})

/** A flow that a realm or client binds. */
export type FlowBindingRow = RowOf<typeof flowBindingRow>

/** Returns the flows that a realm and its clients bind. Flows of brokering and of Docker are omitted. One statement. */
export async function selectFlowBindings(tx: Transaction, realm: number): Promise<FlowBindingRow[]> {
  return query(flowBindingRow)`
    select b.client, b.path, f.alias
    from (
      select null::text as client, v.path, v.flow
      from realm r, lateral (values
        ('browserFlow', r.browser_flow), ('registrationFlow', r.registration_flow), ('directGrantFlow', r.direct_grant_flow),
        ('resetCredentialsFlow', r.reset_credentials_flow), ('clientAuthenticationFlow', r.client_authentication_flow)
      ) v (path, flow)
      where r.number = ${realm}
      union all
      select c.client_id, v.path, v.flow
      from client c, lateral (values
        ('authenticationFlowBindingOverrides.browser', c.browser_flow),
        ('authenticationFlowBindingOverrides.direct_grant', c.direct_grant_flow)
      ) v (path, flow)
      where c.realm = ${realm} and (c.browser_flow is not null or c.direct_grant_flow is not null)
    ) b join authentication_flow f on f.realm = ${realm} and f.id = b.flow`.all(tx)
}
