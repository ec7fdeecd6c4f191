// The users who edit the resources of a cluster that declare realms.
import { sql } from 'kysely'
import { query, row, text } from '../database/query.ts'
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
