// The parts of the statements of objects.ts that follow from a kind's table. `t` is the row of the kind itself.
import { type RawBuilder, sql } from 'kysely'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import type { ObjectFilter } from './object-filter.ts'
import { type RelationTable, type Table, tables } from './tables.ts'

/** The natural key of the row `alias` as a JSON array. */
export function keyOf(kind: KindName, alias: string): RawBuilder<unknown> {
  const table = tables[kind]
  const name = sql`${sql.ref(alias)}.${sql.ref(table.key)}`
  return Object.entries(table.parents).reduceRight((otherwise, [parent, column]) => {
    const of = tables[parent as KindName]
    const parentKey = sql`(select p.${sql.ref(of.key)} from ${sql.table(of.name)} p
        where p.realm = ${sql.ref(alias)}.realm and p.id = ${sql.ref(alias)}.${sql.ref(column)})`
    return sql`case when ${sql.ref(alias)}.${sql.ref(column)} is not null
        then jsonb_build_array(${sql.lit(parent)}, ${parentKey}, ${name}) else ${otherwise} end`
  }, sql`jsonb_build_array(${name})`)
}

/** The representation of the row t less natural key, references and relations. */
export function bodyOf(kind: KindName): RawBuilder<unknown> {
  const pairs = Object.entries(tables[kind].columns).map(
    ([field, column]) => sql`${sql.lit(field)}, t.${sql.ref(column)}`,
  )
  return pairs.length ? sql`t.body || jsonb_strip_nulls(jsonb_build_object(${sql.join(pairs)}))` : sql`t.body`
}

/** The parent of the row t as `{kind, id}`, or null. */
export function parentOf(kind: KindName): RawBuilder<unknown> {
  return Object.entries(tables[kind].parents).reduceRight(
    (otherwise, [kind, column]) => sql`case when t.${sql.ref(column)} is not null
      then jsonb_build_object('kind', ${sql.lit(kind)}, 'id', t.${sql.ref(column)}) else ${otherwise} end`,
    sql`null::jsonb`,
  )
}

/** The references of the row t: field → `{id, key}`. */
export function referencesOf(kind: KindName): RawBuilder<unknown> {
  const table = tables[kind]
  const pairs = Object.entries(table.references).map(([field, column]) => {
    const target = targetOf(kind, field)
    return sql`${sql.lit(field)}, (select jsonb_build_object('id', f.id, 'key', ${keyOf(target, 'f')})
      from ${sql.table(tables[target].name)} f where f.realm = t.${sql.ref(table.realm)} and f.id = t.${sql.ref(column)})`
  })
  return pairs.length ? sql`jsonb_strip_nulls(jsonb_build_object(${sql.join(pairs)}))` : sql`'{}'::jsonb`
}

/** The relations of the row t: field → natural keys, in order; those of siblings relative to their parent. */
export function relationsOf(kind: KindName): RawBuilder<unknown> {
  const table = tables[kind]
  const pairs = Object.entries(table.relations).map(([field, relation]) => {
    const target = targetOf(kind, field)
    const owner = relation.owner === 'realm' ? sql`` : sql` and r.${sql.ref(relation.owner)} = t.id`
    const name = sql`s.${sql.ref(tables[target].key)}`
    const key = kinds[kind].fields[field]!.siblings ? sql`jsonb_build_array(${name})` : keyOf(target, 's')
    return sql`${sql.lit(field)}, (select coalesce(jsonb_agg(${key} order by ${name}), '[]')
      from ${sql.table(relation.name)} r
      join ${sql.table(tables[target].name)} s on s.realm = r.realm and s.id = r.${sql.ref(relation.target)}
      where r.realm = t.${sql.ref(table.realm)}${owner}${shared(relation, sql` and r.optional = ${sql.lit(relation.optional ?? false)}`)}${among(kind, field, target)})`
  })
  return pairs.length ? sql`jsonb_build_object(${sql.join(pairs)})` : sql`'{}'::jsonb`
}

/** A condition on the target s, where the field names only those of the realm, or only those of parents of one kind. */
function among(kind: KindName, field: string, target: KindName): RawBuilder<unknown> {
  const only = kinds[kind].fields[field]!.among
  if (only === undefined) return sql``
  const columns = Object.values(tables[target].parents)
  if (only === 'realm') return each(columns, (column) => sql` and s.${sql.ref(column)} is null`)
  return sql` and s.${sql.ref(parentColumn(target, only))} is not null`
}

/** Which rows t of a kind the filter means. */
export function conditions(kind: KindName, realm: number, filter: ObjectFilter): RawBuilder<unknown> {
  const table = tables[kind]
  const any: RawBuilder<unknown>[] = []
  if (filter.ids) any.push(sql`t.id = any(${filter.ids})`)
  if (filter.keys) any.push(...keyConditions(table, realm, filter.keys))
  if (filter.parents) any.push(sql`t.${sql.ref(parentColumn(kind, filter.parents.kind))} = any(${filter.parents.ids})`)
  const all: RawBuilder<unknown>[] = [sql`true`]
  if (filter.ids || filter.keys || filter.parents)
    all.push(any.length ? sql`(${sql.join(any, sql` or `)})` : sql`false`)
  if (filter.topLevel) all.push(...Object.values(table.parents).map((column) => sql`t.${sql.ref(column)} is null`))
  if (filter.search) all.push(sql`t.${sql.ref(table.key)} ilike ${`%${filter.search.replace(/[\\%_]/g, '\\$&')}%`}`)
  if (filter.containing) all.push(sql`t.body @> ${JSON.stringify(filter.containing)}::jsonb`)
  if (filter.visible && filter.visible !== 'all') all.push(sql`t.id = any(${filter.visible.ids})`)
  return sql.join(all, sql` and `)
}

/** Objects by natural key: each name stands beside the one of its parent, since another parent may have a namesake. */
function keyConditions(table: Table, realm: number, keys: readonly Key[]): RawBuilder<unknown>[] {
  const top = keys.filter((key) => key.length === 1).map((key) => key[0]!)
  const own = Object.values(table.parents).map((column) => sql` and t.${sql.ref(column)} is null`)
  const conditions = top.length ? [sql`(t.${sql.ref(table.key)} = any(${top})${sql.join(own, sql``)})`] : []
  for (const [parent, column] of Object.entries(table.parents)) {
    const under = keys.filter((key) => key.length === 3 && key[0] === parent)
    if (!under.length) continue
    const of = tables[parent as KindName]
    const [parents, names] = [under.map((key) => key[1]), under.map((key) => key[2])]
    conditions.push(sql`(t.${sql.ref(table.key)} = any(${names}) and (t.${sql.ref(column)}, t.${sql.ref(table.key)}) in (
      select p.id, k.name from unnest(${parents}::text[], ${names}::text[]) as k(parent, name)
      join ${sql.table(of.name)} p on p.realm = ${realm} and p.${sql.ref(of.key)} = k.parent))`)
  }
  return conditions
}

/** Conditions on the row t: one of the fields names one of the targets. */
export function naming(table: Table, fields: readonly string[], targets: readonly string[]): RawBuilder<unknown>[] {
  const columns = Object.entries(table.references).filter(([field]) => fields.includes(field.split('.')[0]!))
  const relations = Object.entries(table.relations).filter(([field]) => fields.includes(field))
  return [
    ...columns.map(([, column]) => sql`t.${sql.ref(column)} = any(${targets})`),
    ...relations.map(([, relation]) => {
      const owner = relation.owner === 'realm' ? sql`` : sql` and r.${sql.ref(relation.owner)} = t.id`
      return sql`exists (select from ${sql.table(relation.name)} r
        where r.realm = t.${sql.ref(table.realm)}${owner} and r.${sql.ref(relation.target)} = any(${targets}))`
    }),
  ]
}

/** The kind that a reference or relation names; a map's reference is written `field.key`. */
function targetOf(kind: KindName, field: string): KindName {
  const target = kinds[kind].fields[field.split('.')[0]!]?.refersTo
  if (!target) throw new Error(`${kind}.${field} refers to nothing`)
  return target
}

function parentColumn(kind: KindName, parent: KindName): string {
  const column = tables[kind].parents[parent]
  if (!column) throw new Error(`${kind} has no parent ${parent}`)
  return column
}

/** The table of a relation. Throws when the kind has no such relation. */
export function relationTable(kind: KindName, field: string): RelationTable {
  const relation = tables[kind].relations[field]
  if (!relation) throw new Error(`${kind} has no relation ${field}`)
  return relation
}

/** The columns of owner and target, with the member of an element that fills them; the realm owns by its number. */
export function relationColumns(relation: RelationTable): [column: string, member: string][] {
  if (relation.owner === 'realm') return [[relation.target, 'target']]
  return [
    [relation.owner, 'owner'],
    [relation.target, 'target'],
  ]
}

/** The text, where the table of the relation is shared by two fields. */
export function shared(relation: RelationTable, text: RawBuilder<unknown>): RawBuilder<unknown> {
  return relation.optional === undefined ? sql`` : text
}

/** The items rendered one after the other; the separator is theirs. */
export function each<T>(items: readonly T[], render: (item: T) => RawBuilder<unknown>): RawBuilder<unknown> {
  return items.length ? sql.join(items.map(render), sql``) : sql``
}
