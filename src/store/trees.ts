// Trees of objects of one kind: groups and components.
import { sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import { CHUNK_SIZE, equalsAny, idRow, ifSingle, query, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { tables } from './tables.ts'

/** Returns the ids of objects and of all their descendants, each once. One statement. */
export async function selectSubtree(
  tx: Transaction,
  realm: number,
  { kind, roots }: { readonly kind: KindName; readonly roots: readonly string[] },
): Promise<string[]> {
  const table = sql.table(tables[kind].name)
  const subtree = await query(idRow)`
    with recursive subtree as (
      select t.id from ${table} t where t.realm = ${realm} and t.id ${equalsAny(roots)}
      union
      select t.id from subtree s join ${table} t on t.realm = ${realm} and t.parent = s.id
    )
    select id from subtree`.all(tx)
  return subtree.map(({ id }) => id)
}

/** Returns the ids of the parents of objects, by id. Objects at the top are omitted. One statement. */
export async function selectParents(
  tx: Transaction,
  realm: number,
  { kind, ids }: { readonly kind: KindName; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const children = await query(row({ id: text, parent: text }))`
    select t.id, t.parent from ${sql.table(tables[kind].name)} t
    where t.realm = ${realm} and t.id ${equalsAny(ids)} and t.parent is not null`.all(tx)
  return new Map(children.map(({ id, parent }) => [id, parent]))
}

/** Sets the parents of objects; null moves an object to the top. One statement per chunk. */
export async function setParents(
  tx: Transaction,
  realm: number,
  { kind, objects }: { readonly kind: KindName; readonly objects: readonly { id: string; parent: string | null }[] },
): Promise<void> {
  for (const chunk of chunks(objects, CHUNK_SIZE)) {
    await sql`
      update ${sql.table(tables[kind].name)} t set parent = x.parent
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(id text, parent text)
      where t.realm = ${realm} and t.id = x.id and t.parent is distinct from x.parent
        ${ifSingle(chunk, sql`t.id`, ({ id }) => id)}`.execute(tx)
  }
}
