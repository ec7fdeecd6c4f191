// What it takes to judge how much harm a plan may do.
import { sql } from 'kysely'
import { countRow, integer, json, optional, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Actor } from '../journal/journal.ts'

const realmSizeRow = row({
  people: integer,
  clients: integer,
  sessions: integer,
})

/** What goes with a realm. */
export type RealmSize = RowOf<typeof realmSizeRow>

/** How many people, clients and sessions a realm has. One statement. */
export async function countContent(tx: Transaction, realm: number): Promise<RealmSize> {
  return rows(realmSizeRow)`
    select
      (select count(*)::integer from user_account u where u.realm = ${realm} and u.service_account_client is null) as people,
      (select count(*)::integer from client c where c.realm = ${realm}) as clients,
      (select count(*)::integer from user_session s where s.realm = ${realm}) as sessions`.one(tx)
}

/** How many objects sources own in a realm. One statement. */
export async function countOwned(tx: Transaction, realm: number, sources: readonly string[]): Promise<number> {
  const { count } = await rows(countRow)`
    select count(distinct (i.kind, i.object))::integer as count
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and s.name = any(${sources}::text[])`.one(tx)
  return count
}

/** Whether other sources than these own anything in a realm; what they state no more counts for nothing. One statement. */
export async function isOwnedByOthers(tx: Transaction, realm: number, sources: readonly string[]): Promise<boolean> {
  const { rows } = await sql`
    select from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and s.name <> all (${sources}::text[]) and i.stated is distinct from '' limit 1`.execute(
    tx,
  )
  return rows.length > 0
}

/** Who made people, by their ids, as far as the journal knows. One statement. */
export async function selectMakers(
  tx: Transaction,
  realm: number,
  people: readonly string[],
): Promise<Map<string, Actor>> {
  const makers = await rows(row({ object: text, actor: json<Actor>() }))`
    select distinct on (j.object) j.object, j.actor from people_journal j
    where j.realm = ${realm} and j.kind = 'user' and j.object = any(${people}::text[]) and j.operation = 'create'
    order by j.object, j.number desc`.all(tx)
  return new Map(makers.map(({ object, actor }) => [object, actor]))
}

const formerRealmRow = row({
  deletedAt: timestamp,
  /** Null: nobody counted them. */
  people: optional(integer),
})

/** A realm that is gone. */
export type FormerRealm = RowOf<typeof formerRealmRow>

/** The realm that had a name last, if it is gone. One statement. */
export async function selectFormerRealm(tx: Transaction, name: string): Promise<FormerRealm | undefined> {
  return rows(formerRealmRow)`
    select f.deleted_at as "deletedAt", f.people from former_realm f
    where f.name = ${name} order by f.deleted_at desc limit 1`.first(tx)
}

/** Notes what a realm is called that is about to go, and how many people it has. One statement. */
export async function insertFormerRealm(tx: Transaction, realm: number, at: Date): Promise<void> {
  await sql`
    insert into former_realm (number, name, people, deleted_at)
    select r.number, r.name, (
        select count(*)::integer from user_account u where u.realm = r.number and u.service_account_client is null
      ), ${at}::timestamptz
    from realm r where r.number = ${realm}`.execute(tx)
}
