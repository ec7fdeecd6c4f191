// Relations between objects: a row per element.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import { idRow, query } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import {
  buildReferrerConditions,
  concatenate,
  getRelationTable,
  ifTableIsShared,
  listRelationColumns,
} from './object-sql.ts'
import { CHUNK_SIZE } from './objects.ts'
import { tables } from './tables.ts'

/** A search for objects of a kind that refer to targets by one of the fields. */
export interface ReferrerSearch {
  readonly kind: KindName
  readonly fields: readonly string[]
  readonly targets: readonly string[]
}

/** Returns the ids of the objects whose references or relations refer to one of the targets. One statement. */
export async function selectReferrers(
  tx: Transaction,
  realm: number,
  { kind, fields, targets }: ReferrerSearch,
): Promise<string[]> {
  const table = tables[kind]
  const referrers = await query(idRow)`
    select t.id from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and (${sql.join(buildReferrerConditions(table, fields, targets), sql` or `)})`.all(
    tx,
  )
  return referrers.map(({ id }) => id)
}

/** An element of a relation: the ids of owner and target. */
export interface RelationElement {
  readonly owner: string
  readonly target: string
}

/** Elements to add to a relation or to delete from it. */
export interface RelationRows {
  readonly kind: KindName
  readonly field: string
  readonly elements: readonly RelationElement[]
}

/** Adds elements to a relation. If another field shares its table, the elements move from that field. One statement per chunk. */
export async function insertRelation(
  tx: Transaction,
  realm: number,
  { kind, field, elements }: RelationRows,
): Promise<void> {
  for (const chunk of chunks(elements, CHUNK_SIZE))
    await buildRelationInsert(realm, { kind, field, elements: JSON.stringify(chunk) }).execute(tx)
}

/** Returns the statement that adds elements to a relation. `elements` is the JSON of a list of RelationElement. */
export function buildRelationInsert(
  realm: number,
  { kind, field, elements }: { readonly kind: KindName; readonly field: string; readonly elements: string },
): RawBuilder<unknown> {
  const relation = getRelationTable(kind, field)
  const columns = listRelationColumns(relation)
  const key = concatenate(columns, ([c]) => sql`, ${sql.ref(c)}`)
  const onConflict =
    relation.optional === undefined
      ? sql`on conflict do nothing`
      : sql`on conflict (realm${key}) do update set optional = excluded.optional`
  return sql`
    insert into ${sql.table(relation.name)} (realm${key}${ifTableIsShared(relation, sql`, optional`)})
    select ${realm}::integer${concatenate(columns, ([, member]) => sql`, x.${sql.ref(member)}`)}${ifTableIsShared(relation, sql`, ${relation.optional}::boolean`)}
    from jsonb_to_recordset(${elements}::jsonb) as x(owner text, target text)
    ${onConflict}`
}

/** Removes elements from a relation. One statement per chunk. */
export async function deleteRelation(
  tx: Transaction,
  realm: number,
  { kind, field, elements }: RelationRows,
): Promise<void> {
  const relation = getRelationTable(kind, field)
  const columns = listRelationColumns(relation)
  for (const chunk of chunks(elements, CHUNK_SIZE)) {
    await sql`
      delete from ${sql.table(relation.name)} r
      using jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(owner text, target text)
      where r.realm = ${realm}${concatenate(columns, ([c, member]) => sql` and r.${sql.ref(c)} = x.${sql.ref(member)}`)}
        ${ifTableIsShared(relation, sql` and r.optional = ${relation.optional}::boolean`)}`.execute(tx)
  }
}
