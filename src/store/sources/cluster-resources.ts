// What is recorded about the resources of a cluster: who has edited them, and deleted ones whose objects still exist, since they could
// not be deleted or released at once.
import { sql } from 'kysely'
import { boolean, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** An edit of the resources of a source. */
export interface ResourceEdit {
  readonly source: string
  /** The name of the user in the cluster. */
  readonly editor: string
  readonly at: Date
}

/** Records an edit, and deletes those of the source before a time. One statement. */
export async function upsertEditor(tx: Transaction, { source, editor, at }: ResourceEdit, before: Date): Promise<void> {
  await sql`
    with outdated as (
      delete from source_editor e where e.source = ${source} and e.at < ${before}::timestamptz and e.editor <> ${editor}
    )
    insert into source_editor (source, editor, at) values (${source}, ${editor}, ${at}::timestamptz)
    on conflict (source, editor) do update set at = excluded.at`.execute(tx)
}

/** Returns the users who have edited resources of a source since a time, by name. One statement. */
export async function selectEditors(
  tx: Transaction,
  { source, since }: { readonly source: string; readonly since: Date },
): Promise<string[]> {
  const editors = await query(row({ editor: text }))`
    select e.editor from source_editor e where e.source = ${source} and e.at >= ${since}::timestamptz order by e.editor`.all(
    tx,
  )
  return editors.map(({ editor }) => editor)
}

const deletedResourceRow = row({
  realm: text,
  source: text,
  file: text,
  /** Whether its object becomes unmanaged, rather than being deleted. */
  released: boolean,
})

/** A deleted resource, by the names of its realm and source. */
export type DeletedResource = RowOf<typeof deletedResourceRow>

/** Returns all deleted resources. One statement. */
export async function selectDeletedResources(tx: Transaction): Promise<DeletedResource[]> {
  return query(deletedResourceRow)`
    /* all realms */ select r.name as realm, s.name as source, d.file, d.released
    from deleted_resource d join realm r on r.number = d.realm join source s on s.number = d.source`.all(tx)
}

/** Inserts deleted resources of a realm. One statement. */
export async function insertDeletedResources(
  tx: Transaction,
  realm: number,
  resources: readonly DeletedResource[],
): Promise<void> {
  await sql`
    insert into deleted_resource (realm, source, file, released)
    select ${realm}::integer, s.number, x.file, x.released
    from jsonb_to_recordset(${JSON.stringify(resources)}::jsonb) as x(source text, file text, released boolean)
    join source s on s.name = x.source
    on conflict (realm, source, file) do update set released = excluded.released`.execute(tx)
}

/** Deletes the records of deleted resources of a realm. One statement. */
export async function deleteDeletedResources(tx: Transaction, realm: number, files: readonly string[]): Promise<void> {
  await sql`delete from deleted_resource d where d.realm = ${realm} and d.file = any(${files}::text[])`.execute(tx)
}
