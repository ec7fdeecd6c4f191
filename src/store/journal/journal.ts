// The journal: who changed what, with the previous values. The new value is in the next entry about the field, or live.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { chunks } from '../../lib/chunks.ts'
import {
  absentRow,
  bigint,
  CHUNK_SIZE,
  json,
  query,
  type RowOf,
  row,
  text,
  textOf,
  timestamp,
} from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildWakeUps, type WakeUp } from '../database/wake-up.ts'
import { type ProtectedInventoryRow, protectedInventoryRow } from '../sources/inventory.ts'

/** The originator of a change. */
export interface Actor {
  /**
   * `administrator`: a user or service account by REST or CLI; `user`: the owner of the account, on the login pages; `client`: an
   * application that registers itself; `source`: a source of declarations; `workflow`: a step of a workflow; `federation`: a
   * user federation provider; `system`: Regent itself.
   */
  readonly kind: 'administrator' | 'user' | 'client' | 'source' | 'workflow' | 'federation' | 'system'
  /** Realm, id and name of the administrator or user. */
  readonly realm?: string
  readonly userId?: string
  readonly user?: string
  readonly client?: string
  readonly address?: string
  /** Name of the workflow. */
  readonly workflow?: string
  /** Name of the user federation provider. */
  readonly provider?: string
  /** Names of sources, and their revisions. */
  readonly source?: string
  readonly revision?: string
  /** Id of the saved plan that was applied, and the name of the user who approved it. */
  readonly plan?: string
  readonly approvedBy?: string
  /** The revision that a rollback went back to. */
  readonly rolledBackTo?: number
}

/** A change of one object, with the previous values. Author and time are those of the transaction. */
export interface JournalEntry {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: KindName
  readonly object: string
  readonly key: Key
  /** Previous values by field path; for an update only of the changed fields, null where there was no value. */
  readonly fields: Readonly<Record<string, Json>>
}

/** The columns of a stored journal entry. */
export const storedEntryRow = row({
  number: bigint,
  at: timestamp,
  actor: json<Actor>(),
  operation: textOf<JournalEntry['operation']>(),
  kind: textOf<KindName>(),
  object: text,
  key: json<Key>(),
  fields: json<JournalEntry['fields']>(),
})

/** A stored journal entry. */
export type StoredEntry = RowOf<typeof storedEntryRow>

/** The row that is returned if there is no protected row. */
const noProtectedRow = absentRow(protectedInventoryRow)

/** Returns the SQL of the number of a realm's last entry; 0 if it has none. The next number is reserved only if the realm is locked. */
export const buildRevision = (realm: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select coalesce(max(j.number), 0) from journal j where j.realm = ${realm})`

/** Journal entries about user data to write. */
export interface NewUserEntries {
  readonly at: Date
  readonly actor: Actor
  readonly entries: readonly JournalEntry[]
  /** Names of the sources that made the changes: their inventory rows are not marked as possibly drifted. */
  readonly except: readonly string[]
  /** Wake-ups to send with the entries. */
  readonly wakeUps?: readonly WakeUp[]
  /** Whether to return the inventory rows of changed objects whose source warns of changes by others, or refuses them. */
  readonly returnsProtected?: boolean
}

/** Entries about configuration to write. Unlike those about user data, they are numbered: from `first`. */
export interface NewEntries extends NewUserEntries {
  readonly first: number
}

/**
 * Inserts entries of the configuration stream, and marks the inventory rows of the changed objects, except for those of the sources that
 * made the changes. Returns protected rows if requested. One statement per chunk.
 */
export async function insertEntries(
  tx: Transaction,
  realm: number,
  { first, entries, ...options }: NewEntries,
): Promise<ProtectedInventoryRow[]> {
  const protectedRows: ProtectedInventoryRow[] = []
  for (const chunk of chunks(withNumbers(entries, first), CHUNK_SIZE)) {
    const touched = await query(protectedInventoryRow, noProtectedRow)`
      with entry as (
        select x.entry from jsonb_array_elements(${JSON.stringify(chunk)}::jsonb) as x(entry)
      ),
      written as (
        insert into journal (realm, number, at, actor, operation, kind, object, key, fields)
        select ${realm}::integer, (e.entry ->> 'number')::bigint, ${options.at}::timestamptz,
          ${JSON.stringify(options.actor)}::jsonb, e.entry ->> 'operation', e.entry ->> 'kind', e.entry ->> 'object',
          e.entry -> 'key', e.entry -> 'fields'
        from entry e
      ),
      ${buildMarking(realm, options)}`.all(tx)
    protectedRows.push(...touched.filter((row) => row.source !== null))
  }
  return protectedRows
}

function* withNumbers(entries: readonly JournalEntry[], first: number): Generator<JournalEntry & { number: number }> {
  for (const [at, entry] of entries.entries()) yield { ...entry, number: first + at }
}

/**
 * Returns the part of a statement that marks inventory rows of changed objects, and sources with authoritative lists if objects were created.
 * `entry` has the journal entries. Sends a wake-up even if the rows are marked already, since the change may have corrected the drift.
 * Sends `wakeUps`, too. Returns protected rows if requested.
 */
function buildMarking(
  realm: number,
  { except, wakeUps = [], returnsProtected = false }: Omit<NewUserEntries, 'entries'>,
): RawBuilder<unknown> {
  return sql`touched as (
        select i.source, i.kind, i.object
        from inventory i join entry e on i.kind = e.entry ->> 'kind' and i.object = e.entry ->> 'object'
        where i.realm = ${realm} and i.declared_digest is distinct from '' and e.entry ->> 'operation' <> 'create'
          and i.source <> all (select s.number from source s where s.name = any(${except}::text[]))
      ),
      added as (
        update source_realm sr set objects_added = true
        where sr.realm = ${realm} and not sr.objects_added and sr.settings ->> 'prune' = 'all'
          and exists (select from entry e where e.entry ->> 'operation' = 'create' and e.entry ->> 'kind' <> 'user')
          and sr.source <> all (select s.number from source s where s.name = any(${except}::text[]))
        returning sr.source
      ),
      marked as (
        update inventory i set marked = true
        from touched t
        where i.realm = ${realm} and not i.marked and i.source = t.source and i.kind = t.kind and i.object = t.object
      )
      select o.* from (${buildWakeUps(wakeUps, {
        wakeUps: [{ topic: 'drift', realm }],
        condition: sql`exists (select from touched) or exists (select from added)`,
      })}) notified
        left join (
          select s.name as source, i.kind, i.object, i.key, i.fields, i.file, i.line, i.lines, sr.settings
          from touched t
            join inventory i on i.realm = ${realm} and i.source = t.source and i.kind = t.kind and i.object = t.object
            join source_realm sr
              on sr.realm = ${realm} and sr.source = t.source and sr.settings ->> 'ownership' in ('warn', 'refuse')
            join source s on s.number = t.source
          where ${returnsProtected}
        ) o on true`
}

/** Returns the last entry about each field of the objects, and the last entry about each object, newest first. One statement. */
export async function selectEntries(
  tx: Transaction,
  realm: number,
  {
    objects,
    isUserData,
  }: { readonly objects: readonly { kind: string; object: string }[]; readonly isUserData: boolean },
): Promise<StoredEntry[]> {
  const journal = sql.table(isUserData ? 'user_journal' : 'journal')
  return query(storedEntryRow)`
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
 * Inserts entries of the user stream, which needs no lock: their order is that of the transactions. Marks inventory rows as `insertEntries`
 * does. One statement per chunk.
 */
export async function insertUserEntries(
  tx: Transaction,
  realm: number,
  { entries, ...options }: NewUserEntries,
): Promise<ProtectedInventoryRow[]> {
  const protectedRows: ProtectedInventoryRow[] = []
  for (const chunk of chunks(entries, CHUNK_SIZE)) {
    const touched = await query(protectedInventoryRow, noProtectedRow)`
      with entry as (
        select x.entry from jsonb_array_elements(${JSON.stringify(chunk)}::jsonb) as x(entry)
      ),
      written as (
        insert into user_journal (realm, at, actor, operation, kind, object, key, fields)
        select ${realm}::integer, ${options.at}::timestamptz, ${JSON.stringify(options.actor)}::jsonb,
          e.entry ->> 'operation', e.entry ->> 'kind', e.entry ->> 'object', e.entry -> 'key', e.entry -> 'fields'
        from entry e
      ),
      ${buildMarking(realm, options)}`.all(tx)
    protectedRows.push(...touched.filter((row) => row.source !== null))
  }
  return protectedRows
}
