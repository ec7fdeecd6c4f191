// The history of a realm's configuration, read from its journal: revisions, and the entries after a revision.
import { sql } from 'kysely'
import { bigint, boolean, integer, json, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { type Actor, type StoredEntry, storedEntryRow } from './journal.ts'

const revisionRow = row({
  number: bigint,
  at: timestamp,
  actor: json<Actor>(),
  /** Numbers of objects, each counted once: an object that was created and then updated counts as created. */
  created: integer,
  updated: integer,
  deleted: integer,
  /** The sources that were applied; empty for a rollback, null if no source made the changes. */
  sources: optional(json<readonly { readonly name: string; readonly revision: string }[]>()),
  /** Whether older revisions existed, and were deleted by the retention of the journal. */
  oldestRetained: boolean,
})

/** The changes of one transaction. Its number is that of its last journal entry. */
export type Revision = RowOf<typeof revisionRow>

/** Maximum number of entries that are read to find revisions. Further entries of a transaction are not counted. */
const WINDOW = 50_000

/** Returns the last revisions below a number, newest first. One statement. */
export async function selectRevisions(
  tx: Transaction,
  realm: number,
  { below, max }: { readonly below: number; readonly max: number },
): Promise<Revision[]> {
  return query(revisionRow)`
    select r.number, r.at, r.actor, r.created, r.updated, r.deleted, r.first_number > 1 and r.first_number = (
        select min(o.number) from journal o where o.realm = ${realm}
      ) as "oldestRetained", (
        select h.sources from history h
        where h.realm = ${realm} and h.version = r.number and h.at = r.at order by h.number limit 1
      ) as sources
    from (
      select max(o.number) as number, min(o.first_number) as first_number, o.at, o.actor,
        count(*) filter (where o.first = 'create' and o.last <> 'delete')::integer as created,
        count(*) filter (where o.first <> 'create' and o.last <> 'delete')::integer as updated,
        count(*) filter (where o.first <> 'create' and o.last = 'delete')::integer as deleted
      from (
        select max(e.number) as number, min(e.number) as first_number, e.at, e.actor,
          (array_agg(e.operation order by e.number))[1] as first, (array_agg(e.operation order by e.number desc))[1] as last
        from (
          select j.number, j.at, j.actor, j.operation, j.kind, j.object from journal j
          where j.realm = ${realm} and j.number < ${below}
          order by j.number desc limit ${WINDOW}
        ) e
        group by e.at, e.actor, e.kind, e.object
      ) o
      group by o.at, o.actor
      order by 1 desc limit ${max}
    ) r
    order by r.number desc`.all(tx)
}

/** Returns the entries after the revision `after` about objects that were changed up to the revision `until`, oldest first. One statement. */
export async function selectEntriesAfter(
  tx: Transaction,
  realm: number,
  { after, until }: { readonly after: number; readonly until: number },
): Promise<StoredEntry[]> {
  return query(storedEntryRow)`
    select j.number, j.at, j.actor, j.operation, j.kind, j.object, j.key, j.fields
    from journal j
    where j.realm = ${realm} and j.number > ${after} and (j.number <= ${until} or exists (
      select from journal t
      where t.realm = ${realm} and t.kind = j.kind and t.object = j.object and t.number > ${after} and t.number <= ${until}
    ))
    order by j.number`.all(tx)
}

/** Returns the number of users that were changed after a revision. One statement. */
export async function countUsersChangedAfter(tx: Transaction, realm: number, revision: number): Promise<number> {
  const { count } = await query(row({ count: integer }))`
    select count(distinct (u.kind, u.object))::integer as count from user_journal u
    where u.realm = ${realm} and u.at > (
      select j.at from journal j where j.realm = ${realm} and j.number = ${revision}
    )`.firstOrThrow(tx)
  return count
}

/** Returns the number of the oldest entry of a realm. One statement. */
export async function selectOldestEntry(tx: Transaction, realm: number): Promise<number> {
  const { number } = await query(row({ number: bigint }))`
    select coalesce(min(j.number), 1) as number from journal j where j.realm = ${realm}`.firstOrThrow(tx)
  return number
}

/** Returns those of the numbers that are revisions, i.e. of the last entry of a transaction. One statement. */
export async function selectRevisionsAmong(
  tx: Transaction,
  realm: number,
  numbers: readonly number[],
): Promise<Set<number>> {
  const revisions = await query(row({ number: bigint }))`
    select j.number from journal j
    where j.realm = ${realm} and j.number = any(${numbers}::bigint[]) and not exists (
      select from journal n
      where n.realm = ${realm} and n.number = j.number + 1 and n.at = j.at and n.actor = j.actor
    )`.all(tx)
  return new Set(revisions.map(({ number }) => number))
}

const changeTimesRow = row({ object: text, created: timestamp, updated: timestamp })

/** The times of the first and the last journal entry about an object, as far as the journal reaches back. */
export interface ChangeTimes {
  readonly created: Date
  readonly updated: Date
}

/**
 * Returns the times at which objects of a kind were created and last changed, by id. An object without entries, such as one that was created
 * with the realm, has the time of the realm's oldest entry. One statement.
 */
export async function selectChangeTimes(
  tx: Transaction,
  realm: number,
  { kind, ids }: { readonly kind: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, ChangeTimes>> {
  const rows = await query(changeTimesRow)`
    select x.id as object, coalesce(e.created, o.at) as created, coalesce(e.updated, o.at) as updated
    from unnest(${ids}::text[]) as x(id)
      left join lateral (
        select min(j.at) as created, max(j.at) as updated from journal j
        where j.realm = ${realm} and j.kind = ${kind} and j.object = x.id
      ) e on true
      join lateral (
        select j.at from journal j where j.realm = ${realm} order by j.number limit 1
      ) o on true`.all(tx)
  return new Map(rows.map(({ object, ...times }) => [object, times]))
}

/** Returns the last entries about one object, newest first. One statement. */
export async function selectObjectEntries(
  tx: Transaction,
  realm: number,
  {
    kind,
    object,
    isUserData,
    max,
  }: { readonly kind: string; readonly object: string; readonly isUserData: boolean; readonly max: number },
): Promise<StoredEntry[]> {
  return query(storedEntryRow)`
    select j.number, j.at, j.actor, j.operation, j.kind, j.object, j.key, j.fields
    from ${sql.table(isUserData ? 'user_journal' : 'journal')} j
    where j.realm = ${realm} and j.kind = ${kind} and j.object = ${object}
    order by j.number desc limit ${max}`.all(tx)
}

const lastChangeRow = row({ realm: integer, number: bigint, at: timestamp, actor: json<Actor>() })

/** The last change of the configuration of a realm. */
export type LastRealmChange = RowOf<typeof lastChangeRow>

/** Returns the last change of each of these realms. One statement. */
export async function selectLastRealmChanges(tx: Transaction, realms: readonly number[]): Promise<LastRealmChange[]> {
  return query(lastChangeRow)`
    select r.number as realm, j.number, j.at, j.actor
    from unnest(${realms}::integer[]) as r(number)
    cross join lateral (
      select j.number, j.at, j.actor from journal j where j.realm = r.number order by j.number desc limit 1
    ) j`.all(tx)
}
