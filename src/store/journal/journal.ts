// The journal of configuration: who changed what, with the values before. The after is the next entry, or what is live.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { chunks } from '../../lib/chunks.ts'
import { absentRow, bigint, json, type RowOf, row, rows, text, textOf, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { waking } from '../database/wake.ts'
import { CHUNK } from '../objects.ts'
import { type OwnedRow, ownedRow } from '../sources/inventory.ts'

/** Who acted. */
export interface Actor {
  /**
   * `administrator`: a person or service by REST or CLI; `person`: whose account it is, on the pages of log-in; `source`:
   * declared state; `system`: Regent itself.
   */
  readonly kind: 'administrator' | 'person' | 'source' | 'system'
  /** Realm, id and name of the person. */
  readonly realm?: string
  readonly userId?: string
  readonly user?: string
  readonly client?: string
  readonly address?: string
  /** Names of sources, and the revisions that they had. */
  readonly source?: string
  readonly revision?: string
  /** The plan that was carried out, where it was kept, and who approved it. */
  readonly plan?: string
  readonly approvedBy?: string
}

/** What happened to one object. */
export interface JournalEntry {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: string
  readonly object: string
  readonly key: Key
  /** Flat fields with their values before; of an update only those that changed, null where there was none. */
  readonly fields: Readonly<Record<string, Json>>
}

/** Describes an entry as it is kept. */
export const storedEntryRow = row({
  number: bigint,
  at: timestamp,
  actor: json<Actor>(),
  operation: textOf<JournalEntry['operation']>(),
  kind: text,
  object: text,
  key: json<Key>(),
  fields: json<JournalEntry['fields']>(),
})

/** An entry as it is kept. */
export type StoredEntry = RowOf<typeof storedEntryRow>

/** What is returned where no row is owned by such a source. */
const noOwnedRow = absentRow(ownedRow)

/** The number of the next entry. Exact only under the realm's lock. One statement. */
export async function nextNumber(tx: Transaction, realm: number): Promise<number> {
  const { next } = await rows(row({ next: bigint }))`
    select coalesce(max(number), 0) + 1 as next from journal where realm = ${realm}`.one(tx)
  return next
}

/** Entries to write. */
export interface NewPeopleEntries {
  readonly at: Date
  readonly actor: Actor
  readonly entries: readonly JournalEntry[]
  /** Names of the sources that made the changes: what these own is not marked. */
  readonly except: readonly string[]
  /** Whether to return what is owned by sources that do not simply allow the changes. */
  readonly asked?: boolean
}

/** Entries to write, numbered from `first`. */
export interface NewEntries extends NewPeopleEntries {
  readonly first: number
}

/**
 * Writes entries, numbered from `first`, and marks what sources own of the objects that changed: every source but those
 * that did. Gives what of that is owned by sources that do not simply allow it, where it is asked. One statement per chunk.
 */
export async function insertEntries(
  tx: Transaction,
  realm: number,
  { first, at, actor, entries, except, asked = false }: NewEntries,
): Promise<OwnedRow[]> {
  const owned: OwnedRow[] = []
  for (const chunk of chunks(numbered(entries, first), CHUNK)) {
    const touched = await rows(ownedRow, noOwnedRow)`
      with entry as (
        select x.entry from jsonb_array_elements(${JSON.stringify(chunk)}::jsonb) as x(entry)
      ),
      written as (
        insert into journal (realm, number, at, actor, operation, kind, object, key, fields)
        select ${realm}::integer, (e.entry ->> 'number')::bigint, ${at}::timestamptz, ${JSON.stringify(actor)}::jsonb,
          e.entry ->> 'operation', e.entry ->> 'kind', e.entry ->> 'object', e.entry -> 'key', e.entry -> 'fields'
        from entry e
      ),
      ${marking(realm, except, asked)}`.all(tx)
    owned.push(...touched.filter((row) => row.source !== null))
  }
  return owned
}

function* numbered(entries: readonly JournalEntry[], first: number): Generator<JournalEntry & { number: number }> {
  for (const [at, entry] of entries.entries()) yield { ...entry, number: first + at }
}

/**
 * Whoever changes an object marks its rows of the inventory, whoever makes one the sources whose lists are whole, and wakes those who look for drift, also where they are marked
 * already: it may have been put back. `entry` holds the entries. Where it is asked, gives the rows of the sources that do not simply
 * allow it.
 */
function marking(realm: number, except: readonly string[], asked: boolean): RawBuilder<unknown> {
  return sql`touched as (
        select i.source, i.kind, i.object
        from inventory i join entry e on i.kind = e.entry ->> 'kind' and i.object = e.entry ->> 'object'
        where i.realm = ${realm} and i.stated is distinct from '' and e.entry ->> 'operation' <> 'create'
          and i.source <> all (select s.number from source s where s.name = any(${except}::text[]))
      ),
      added as (
        update source_realm sr set added = true
        where sr.realm = ${realm} and not sr.added and sr.settings ->> 'prune' = 'all'
          and exists (select from entry e where e.entry ->> 'operation' = 'create' and e.entry ->> 'kind' <> 'user')
          and sr.source <> all (select s.number from source s where s.name = any(${except}::text[]))
        returning sr.source
      ),
      marked as (
        update inventory i set marked = true
        from touched t
        where i.realm = ${realm} and not i.marked and i.source = t.source and i.kind = t.kind and i.object = t.object
      )
      select o.* from (select ${waking({ topic: 'drift', realm })} where exists (select from touched) or exists (select from added)) woken
        left join (
          select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.lines, sr.settings
          from touched t
            join inventory i on i.realm = ${realm} and i.source = t.source and i.kind = t.kind and i.object = t.object
            join source_realm sr
              on sr.realm = ${realm} and sr.source = t.source and sr.settings ->> 'ownership' in ('warn', 'refuse')
            join source s on s.number = t.source
          where ${asked}
        ) o on true`
}

/** Of each field of the objects the entry of a stream that changed it last, and their last entry; newest first. One statement. */
export async function selectEntries(
  tx: Transaction,
  realm: number,
  { objects, people }: { readonly objects: readonly { kind: string; object: string }[]; readonly people: boolean },
): Promise<StoredEntry[]> {
  const journal = sql.table(people ? 'people_journal' : 'journal')
  return rows(storedEntryRow)`
    select * from (
      select distinct on (j.kind, j.object, f.path) j.number, j.at, j.actor, j.operation, j.kind, j.object, j.key,
        case when f.path is null then '{}' else jsonb_build_object(f.path, j.fields -> f.path) end as fields
      from ${journal} j
      join jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as x(kind text, object text)
        on j.kind = x.kind and j.object = x.object
      left join lateral jsonb_object_keys(j.fields) as f(path) on true
      where j.realm = ${realm}
      order by j.kind, j.object, f.path, j.number desc
    ) latest
    order by number desc`.all(tx)
}

/**
 * Writes entries of the people stream, which takes no lock: their order is that of their transactions. Marks what sources
 * own as `insertEntries` does. One statement per chunk.
 */
export async function insertPeopleEntries(
  tx: Transaction,
  realm: number,
  { at, actor, entries, except, asked = false }: NewPeopleEntries,
): Promise<OwnedRow[]> {
  const owned: OwnedRow[] = []
  for (const chunk of chunks(entries, CHUNK)) {
    const touched = await rows(ownedRow, noOwnedRow)`
      with entry as (
        select x.entry from jsonb_array_elements(${JSON.stringify(chunk)}::jsonb) as x(entry)
      ),
      written as (
        insert into people_journal (realm, at, actor, operation, kind, object, key, fields)
        select ${realm}::integer, ${at}::timestamptz, ${JSON.stringify(actor)}::jsonb,
          e.entry ->> 'operation', e.entry ->> 'kind', e.entry ->> 'object', e.entry -> 'key', e.entry -> 'fields'
        from entry e
      ),
      ${marking(realm, except, asked)}`.all(tx)
    owned.push(...touched.filter((row) => row.source !== null))
  }
  return owned
}
