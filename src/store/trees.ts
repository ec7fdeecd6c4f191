// Kinds whose objects stand below others of the same kind: groups, components.
import { sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import { idRow, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import { CHUNK } from './objects.ts'
import { tables } from './tables.ts'

/** The ids of objects and of all that is below them, each once. One statement. */
export async function selectSubtree(
  tx: Transaction,
  realm: number,
  { kind, roots }: { readonly kind: KindName; readonly roots: readonly string[] },
): Promise<string[]> {
  const table = sql.table(tables[kind].name)
  const subtree = await rows(idRow)`
    with recursive subtree as (
      select t.id from ${table} t where t.realm = ${realm} and t.id = any(${roots})
      union
      select t.id from subtree s join ${table} t on t.realm = ${realm} and t.parent = s.id
    )
    select id from subtree`.all(tx)
  return subtree.map(({ id }) => id)
}

/** What objects stand below, by id; those at the top are left out. One statement. */
export async function selectAbove(
  tx: Transaction,
  realm: number,
  { kind, ids }: { readonly kind: KindName; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const below = await rows(row({ id: text, parent: text }))`
    select t.id, t.parent from ${sql.table(tables[kind].name)} t
    where t.realm = ${realm} and t.id = any(${ids}) and t.parent is not null`.all(tx)
  return new Map(below.map(({ id, parent }) => [id, parent]))
}

/** Hangs objects below others; null: at the top. One statement per chunk. */
export async function setParents(
  tx: Transaction,
  realm: number,
  { kind, objects }: { readonly kind: KindName; readonly objects: readonly { id: string; parent: string | null }[] },
): Promise<void> {
  for (const chunk of chunks(objects, CHUNK)) {
    await sql`
      update ${sql.table(tables[kind].name)} t set parent = x.parent
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(id text, parent text)
      where t.realm = ${realm} and t.id = x.id and t.parent is distinct from x.parent`.execute(tx)
  }
}
