// What it takes to judge how much harm a plan may do.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'
import type { Actor } from './journal.ts'

/** What goes with a realm. */
export interface RealmSize {
  readonly people: number
  readonly clients: number
  readonly sessions: number
}

/** How many people, clients and sessions a realm has. One statement. */
export async function countContent(tx: Transaction, realm: number): Promise<RealmSize> {
  const { rows } = await sql<RealmSize>`
    select
      (select count(*)::integer from user_account u where u.realm = ${realm} and u.service_account_client is null) as people,
      (select count(*)::integer from client c where c.realm = ${realm}) as clients,
      (select count(*)::integer from user_session s where s.realm = ${realm}) as sessions`.execute(tx)
  return rows[0]!
}

/** How many objects sources own in a realm. One statement. */
export async function countOwned(tx: Transaction, realm: number, sources: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct (i.kind, i.object))::integer as count
    from inventory i join source s on s.number = i.source
    where i.realm = ${realm} and s.name = any(${sources}::text[])`.execute(tx)
  return rows[0]!.count
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
  const { rows } = await sql<{ object: string; actor: Actor }>`
    select distinct on (j.object) j.object, j.actor from people_journal j
    where j.realm = ${realm} and j.kind = 'user' and j.object = any(${people}::text[]) and j.operation = 'create'
    order by j.object, j.number desc`.execute(tx)
  return new Map(rows.map(({ object, actor }) => [object, actor]))
}

/** A realm that is gone. */
export interface FormerRealm {
  readonly deletedAt: Date
  /** Null: nobody counted them. */
  readonly people: number | null
}

/** The realm that had a name last, if it is gone. One statement. */
export async function selectFormerRealm(tx: Transaction, name: string): Promise<FormerRealm | undefined> {
  const { rows } = await sql<FormerRealm>`
    select f.deleted_at as "deletedAt", f.people from former_realm f
    where f.name = ${name} order by f.deleted_at desc limit 1`.execute(tx)
  return rows[0]
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
