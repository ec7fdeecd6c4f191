// The tree of groups.
import { sql } from 'kysely'
import { chunks } from '../lib/chunks.ts'
import type { Transaction } from './database.ts'
import { CHUNK } from './objects.ts'

/** The ids of groups and of all that is below them, each once. One statement. */
export async function selectSubtree(tx: Transaction, realm: number, roots: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive subtree as (
      select g.id from realm_group g where g.realm = ${realm} and g.id = any(${roots})
      union
      select g.id from subtree s join realm_group g on g.realm = ${realm} and g.parent = s.id
    )
    select id from subtree`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Hangs groups below others; null: at the top. One statement per chunk. */
export async function setParents(
  tx: Transaction,
  realm: number,
  groups: readonly { id: string; parent: string | null }[],
): Promise<void> {
  for (const chunk of chunks(groups, CHUNK)) {
    await sql`
      update realm_group g set parent = x.parent
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(id text, parent text)
      where g.realm = ${realm} and g.id = x.id and g.parent is distinct from x.parent`.execute(tx)
  }
}
