// Relations between objects: a row per element.
import { type RawBuilder, sql } from 'kysely'
import type { KindName } from '../kinds/kind.ts'
import { chunks } from '../lib/chunks.ts'
import { CHUNK_SIZE, query, type RowOf, row, text, textOf } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { concatenate, getRelationTable, ifTableIsShared, listRelationColumns } from './object-sql.ts'
import { tables } from './tables.ts'

/** A kind, and those of its fields that may refer to the objects of a search. */
export interface ReferringFields {
  readonly kind: KindName
  readonly fields: readonly string[]
}

const referrerRow = row({ kind: textOf<KindName>(), id: text })

/**
 * Returns the objects that refer to one of the targets by one of the fields of their kind. One statement, or none. `offset 0` lets PostgreSQL
 * look up each target by index: it does not expect that a realm has far more rows than others.
 */
export async function selectReferrers(
  tx: Transaction,
  realm: number,
  { referring, targets }: { readonly referring: readonly ReferringFields[]; readonly targets: readonly string[] },
): Promise<RowOf<typeof referrerRow>[]> {
  if (!referring.length) return []
  const selects = referring.flatMap((fields) => buildReferrerSelects(realm, fields))
  return query(referrerRow)`
    select distinct r.kind, r.id from unnest(${targets}::text[]) as x(target) cross join lateral (
      ${sql.join(selects, sql` union all `)} offset 0
    ) r`.all(tx)
}

/** Returns a query for each column, and for each table of relations, that may refer to the target in `x`. */
function buildReferrerSelects(realm: number, { kind, fields }: ReferringFields): RawBuilder<unknown>[] {
  const table = tables[kind]
  const columns = Object.entries(table.references).filter(([field]) => fields.includes(field.split('.')[0]!))
  const relations = Object.entries(table.relations).filter(([field]) => fields.includes(field))
  // Fields may share a table.
  const relationsByTable = new Map(relations.map(([, relation]) => [relation.name, relation]))
  return [
    ...columns.map(
      ([, column]) => sql`
        select ${kind}::text as kind, t.id from ${sql.table(table.name)} t
        where t.${sql.ref(table.realm)} = ${realm} and t.${sql.ref(column)} = x.target`,
    ),
    ...[...relationsByTable.values()].map(({ name, owner, target }) => {
      const id = owner === 'realm' ? sql`(select t.id from realm t where t.number = r.realm)` : sql`r.${sql.ref(owner)}`
      return sql`
        select ${kind}::text as kind, ${id} as id from ${sql.table(name)} r
        where r.realm = ${realm} and r.${sql.ref(target)} = x.target`
    }),
  ]
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
