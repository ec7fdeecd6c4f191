// What the journal of configuration tells of the past: revisions, and entries since one.

import { bigint, integer, json, optional, type RowOf, row, rows, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { type Actor, type StoredEntry, storedEntryRow } from './journal.ts'

const revisionRow = row({
  number: bigint,
  at: timestamp,
  actor: json<Actor>(),
  /** Objects, each counted once: what was made and then changed was made. */
  created: integer,
  updated: integer,
  deleted: integer,
  /** What was applied; null: no run of sources did this. */
  sources: optional(json<readonly { readonly name: string; readonly revision: string }[]>()),
})

/** What one transaction changed: its last journal entry is the revision of the realm from then on. */
export type Revision = RowOf<typeof revisionRow>

/** Entries that are looked through for revisions: more than that in one transaction are not counted. */
const WINDOW = 50_000

/** The last revisions below a number, newest first. One statement. */
export async function selectRevisions(
  tx: Transaction,
  realm: number,
  { below, max }: { readonly below: number; readonly max: number },
): Promise<Revision[]> {
  return rows(revisionRow)`
    select r.*, (
        select h.sources from history h where h.realm = ${realm} and h.version = r.number order by h.number limit 1
      ) as sources
    from (
      select max(o.number) as number, o.at, o.actor,
        count(*) filter (where o.first = 'create' and o.last <> 'delete')::integer as created,
        count(*) filter (where o.first <> 'create' and o.last <> 'delete')::integer as updated,
        count(*) filter (where o.first <> 'create' and o.last = 'delete')::integer as deleted
      from (
        select max(e.number) as number, e.at, e.actor,
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

/** The entries after a revision about objects that were touched until another one, oldest first. One statement. */
export async function selectEntriesAfter(
  tx: Transaction,
  realm: number,
  { after, until }: { readonly after: number; readonly until: number },
): Promise<StoredEntry[]> {
  return rows(storedEntryRow)`
    select j.number, j.at, j.actor, j.operation, j.kind, j.object, j.key, j.fields
    from journal j
    where j.realm = ${realm} and j.number > ${after} and (j.number <= ${until} or exists (
      select from journal t
      where t.realm = ${realm} and t.kind = j.kind and t.object = j.object and t.number > ${after} and t.number <= ${until}
    ))
    order by j.number`.all(tx)
}

/** Those of the numbers that are revisions: the last entry of what one transaction changed. One statement. */
export async function selectRevisionsAmong(
  tx: Transaction,
  realm: number,
  numbers: readonly number[],
): Promise<Set<number>> {
  const revisions = await rows(row({ number: bigint }))`
    select j.number from journal j
    where j.realm = ${realm} and j.number = any(${numbers}::bigint[]) and not exists (
      select from journal n
      where n.realm = ${realm} and n.number = j.number + 1 and n.at = j.at and n.actor = j.actor
    )`.all(tx)
  return new Set(revisions.map(({ number }) => number))
}
