// Relations: who names whom, kept a row per element.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import type { Transaction } from './database.ts'
import { each, naming, relationColumns, relationTable, shared } from './object-sql.ts'
import { CHUNK } from './objects.ts'
import { tables } from './tables.ts'

/** Ids of the objects of a kind whose references or relations name one of the targets. One statement. */
export async function selectReferrers(
  tx: Transaction,
  realm: number,
  kind: KindName,
  fields: readonly string[],
  targets: readonly string[],
): Promise<string[]> {
  const table = tables[kind]
  const { rows } = await sql<{ id: string }>`
    select t.id from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and (${sql.join(naming(table, fields, targets), sql` or `)})`.execute(tx)
  return rows.map(({ id }) => id)
}

/** An element of a relation: ids of owner and target. */
export interface RelationElement {
  readonly owner: string
  readonly target: string
}

/** Adds elements to a relation; what another field has that shares the table moves. One statement per chunk. */
export async function insertRelation(
  tx: Transaction,
  realm: number,
  kind: KindName,
  field: string,
  elements: readonly RelationElement[],
): Promise<void> {
  for (const chunk of chunks(elements, CHUNK))
    await relationInsertion(realm, kind, field, JSON.stringify(chunk)).execute(tx)
}

/** The statement that adds elements to a relation, of their text. */
export function relationInsertion(realm: number, kind: KindName, field: string, elements: string): RawBuilder<unknown> {
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
  kind: KindName,
  field: string,
  elements: readonly RelationElement[],
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
