// Lists of the objects of a realm with the sources that manage them, and the number of objects of each kind.
import { type RawBuilder, sql } from 'kysely'
import type { Key, KindName } from '../kinds/kind.ts'
import { integer, json, query, type RowOf, row, text, textOf } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import type { ObjectFilter } from './object-filter.ts'
import { buildFilter, buildKey } from './object-sql.ts'
import { tables } from './tables.ts'

const listedObjectRow = row({
  id: text,
  key: json<Key>(),
  /** Names of the sources that manage the object. */
  sources: json<readonly string[]>(),
})

/** An object with the sources that manage it. */
export type ListedObject = RowOf<typeof listedObjectRow>

/** Selects objects of a list. */
export interface ObjectListFilter extends Pick<ObjectFilter, 'search' | 'first' | 'max'> {
  /** Only objects that a source manages, or only those that none does. */
  readonly managed?: boolean | undefined
}

/** Returns objects of a kind with the sources that manage them, by natural key. One statement. */
export async function selectListedObjects(
  tx: Transaction,
  realm: number,
  { kind, filter: { managed, first, max, ...filter } }: { readonly kind: KindName; readonly filter: ObjectListFilter },
): Promise<ListedObject[]> {
  const table = tables[kind]
  const isManaged = sql`exists (select from inventory i where ${buildManagement(realm, kind)} and i.object = t.id)`
  const condition = managed === undefined ? sql`true` : managed ? isManaged : sql`not ${isManaged}`
  return query(listedObjectRow)`
    select t.id, ${buildKey(kind, 't')} as key, coalesce((
        select jsonb_agg(s.name order by s.name) from inventory i join source s on s.number = i.source
        where ${buildManagement(realm, kind)} and i.object = t.id
      ), '[]') as sources
    from ${sql.table(table.name)} t
    where t.${sql.ref(table.realm)} = ${realm} and ${buildFilter(kind, realm, filter)} and ${condition}
    order by t.${sql.ref(table.key)}, t.id offset ${first ?? 0} limit ${max ?? null}`.all(tx)
}

const countedKindRow = row({ kind: textOf<KindName>(), count: integer, managed: integer })

/** The number of objects of a kind, and of those that sources manage. */
export type CountedKind = RowOf<typeof countedKindRow>

/** Returns the numbers of objects of some kinds. One statement. */
export async function countObjects(tx: Transaction, realm: number, kinds: readonly KindName[]): Promise<CountedKind[]> {
  const counts = kinds.map(
    (kind) => sql`
      select ${kind}::text as kind, (
        select count(*)::integer from ${sql.table(tables[kind].name)} t where t.${sql.ref(tables[kind].realm)} = ${realm}
      ) as count, (
        select count(*)::integer
        from (select from inventory i where ${buildManagement(realm, kind)} group by i.object) m
      ) as managed`,
  )
  return query(countedKindRow)`${sql.join(counts, sql` union all `)}`.all(tx)
}

/** Returns the condition of inventory rows of a kind whose source declares the object. */
function buildManagement(realm: number, kind: KindName): RawBuilder<unknown> {
  return sql`i.realm = ${realm} and i.kind = ${kind}::text and i.declared_digest is distinct from ''`
}
