// Everything that comes with a new realm, in one statement: ids are made up before, so nothing has to be asked for.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { executionUpsert } from './authentication-flows.ts'
import type { Transaction } from './database/transaction.ts'
import { insertion } from './objects.ts'
import { relationInsertion } from './relations.ts'

/** Rows of objects of several kinds, what these contain first; each list as the text that its statement takes. */
export interface NewTree {
  readonly objects: readonly { readonly kind: KindName; readonly rows: string }[]
  /** Steps of flows. */
  readonly executions: string
  readonly relations: readonly { readonly kind: KindName; readonly field: string; readonly elements: string }[]
}

/** Writes the rows of a tree, a chunk of each at most. References are checked when all are there. One statement. */
export async function insertTree(
  tx: Transaction,
  realm: number,
  { version, tree }: { readonly version: number; readonly tree: NewTree },
): Promise<void> {
  const parts = [
    ...tree.objects.map(({ kind, rows }) => insertion(realm, { kind, version, rows })),
    executionUpsert(realm, tree.executions),
    ...tree.relations.map(({ kind, field, elements }) => relationInsertion(realm, { kind, field, elements })),
  ]
  const named = parts.map((part, at): RawBuilder<unknown> => sql`${sql.ref(`part_${at}`)} as (${part})`)
  await sql`with ${sql.join(named)} select`.execute(tx)
}
