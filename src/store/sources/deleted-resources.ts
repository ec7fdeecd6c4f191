// Deleted resources of a cluster whose objects still exist, since they could not be deleted or released at once.
import { sql } from 'kysely'
import { boolean, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

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
