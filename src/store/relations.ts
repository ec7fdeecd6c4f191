// Relations: who names whom, kept a row per element.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import { idRow, rows } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import { each, naming, relationColumns, relationTable, shared } from './object-sql.ts'
import { CHUNK } from './objects.ts'
import { tables } from './tables.ts'

/** The fields of a kind that may name one of the targets. */
export interface ReferrerSearch {
  readonly kind: KindName
  readonly fields: readonly string[]
  readonly targets: readonly string[]
}

/** Ids of the objects of a kind whose references or relations name one of the targets. One statement. */
export async function selectReferrers(
  tx: Transaction,
  realm: number,
  { kind, fields, targets }: ReferrerSearch,
): Promise<string[]> {
  const table = tables[kind]
  const referrers = await rows(idRow)`
    select t.id from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and (${sql.join(naming(table, fields, targets), sql` or `)})`.all(tx)
  return referrers.map(({ id }) => id)
}

/** An element of a relation: ids of owner and target. */
export interface RelationElement {
  readonly owner: string
  readonly target: string
}

/** Elements of the relation of a field. */
export interface RelationRows {
  readonly kind: KindName
  readonly field: string
  readonly elements: readonly RelationElement[]
}

/** Adds elements to a relation; what another field has that shares the table moves. One statement per chunk. */
export async function insertRelation(
  tx: Transaction,
  realm: number,
  { kind, field, elements }: RelationRows,
): Promise<void> {
  for (const chunk of chunks(elements, CHUNK))
    await relationInsertion(realm, { kind, field, elements: JSON.stringify(chunk) }).execute(tx)
}

/** The statement that adds elements to a relation, of their text. */
export function relationInsertion(
  realm: number,
  { kind, field, elements }: { readonly kind: KindName; readonly field: string; readonly elements: string },
): RawBuilder<unknown> {
  const relation = relationTable(kind, field)
  const columns = relationColumns(relation)
  const key = each(columns, ([c]) => sql`, ${sql.ref(c)}`)
  const moved =
    relation.optional === undefined
      ? sql`on conflict do nothing`
      : sql`on conflict (realm${key}) do update set optional = excluded.optional`
  return sql`
    insert into ${sql.table(relation.name)} (realm${key}${shared(relation, sql`, optional`)})
    select ${realm}::integer${each(columns, ([, member]) => sql`, x.${sql.ref(member)}`)}${shared(relation, sql`, ${relation.optional}::boolean`)}
    from jsonb_to_recordset(${elements}::jsonb) as x(owner text, target text)
    ${moved}`
}

/** Removes elements from a relation. One statement per chunk. */
export async function deleteRelation(
  tx: Transaction,
  realm: number,
  { kind, field, elements }: RelationRows,
): Promise<void> {
  const relation = relationTable(kind, field)
  const columns = relationColumns(relation)
  for (const chunk of chunks(elements, CHUNK)) {
    await sql`
      delete from ${sql.table(relation.name)} r
      using jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(owner text, target text)
      where r.realm = ${realm}${each(columns, ([c, member]) => sql` and r.${sql.ref(c)} = x.${sql.ref(member)}`)}
        ${shared(relation, sql` and r.optional = ${relation.optional}::boolean`)}`.execute(tx)
  }
}
