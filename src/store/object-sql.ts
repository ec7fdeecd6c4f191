// Parts of the statements of objects.ts, built from a kind's table. `t` is the row of the object.
import { type RawBuilder, sql } from 'kysely'
import { isKindName, kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { equalsAny } from './database/query.ts'
import type { ObjectFilter } from './object-filter.ts'
import { type KindTable, type RelationTable, tables } from './tables.ts'
import { buildVisibility } from './visibility.ts'

/** Returns the natural key of the row `alias`, as a JSON array. */
export function buildKey(kind: KindName, alias: string): RawBuilder<unknown> {
  const table = tables[kind]
  const name = sql`${sql.ref(alias)}.${sql.ref(table.key)}`
  return listParents(table).reduceRight((otherwise, { kind: parent, column, table: parentTable }) => {
    const parentKey = sql`(select p.${sql.ref(parentTable.key)} from ${sql.table(parentTable.name)} p
        where p.realm = ${sql.ref(alias)}.realm and p.id = ${sql.ref(alias)}.${sql.ref(column)})`
    return sql`case when ${sql.ref(alias)}.${sql.ref(column)} is not null
        then jsonb_build_array(${sql.lit(parent)}, ${parentKey}, ${name}) else ${otherwise} end`
  }, sql`jsonb_build_array(${name})`)
}

/** Returns the representation of the row t without natural key, references and relations. */
export function buildBody(kind: KindName): RawBuilder<unknown> {
  const pairs = Object.entries(tables[kind].columns).map(
    ([field, column]) => sql`${sql.lit(field)}, t.${sql.ref(column)}`,
  )
  return pairs.length ? sql`t.body || jsonb_strip_nulls(jsonb_build_object(${sql.join(pairs)}))` : sql`t.body`
}

/** Returns the parent of the row t as `{kind, id}`, or null. */
export function buildParent(kind: KindName): RawBuilder<unknown> {
  return Object.entries(tables[kind].parents).reduceRight(
    (otherwise, [kind, column]) => sql`case when t.${sql.ref(column)} is not null
      then jsonb_build_object('kind', ${sql.lit(kind)}, 'id', t.${sql.ref(column)}) else ${otherwise} end`,
    sql`null::jsonb`,
  )
}

/** Returns the references of the row t: field → `{id, key}`. */
export function buildReferences(kind: KindName): RawBuilder<unknown> {
  const table = tables[kind]
  const pairs = Object.entries(table.references).map(([field, column]) => {
    const target = getTargetKind(kind, field)
    return sql`${sql.lit(field)}, (select jsonb_build_object('id', f.id, 'key', ${buildKey(target, 'f')})
      from ${sql.table(tables[target].name)} f where f.realm = t.${sql.ref(table.realm)} and f.id = t.${sql.ref(column)})`
  })
  return pairs.length ? sql`jsonb_strip_nulls(jsonb_build_object(${sql.join(pairs)}))` : sql`'{}'::jsonb`
}

/** Returns the relations of the row t: field → natural keys, in order; the keys of siblings are relative to their parent. */
export function buildRelations(kind: KindName): RawBuilder<unknown> {
  const table = tables[kind]
  const pairs = Object.entries(table.relations).map(([field, relation]) => {
    const target = getTargetKind(kind, field)
    const owner = relation.owner === 'realm' ? sql`` : sql` and r.${sql.ref(relation.owner)} = t.id`
    const name = sql`s.${sql.ref(tables[target].key)}`
    const key = kinds[kind].fields[field]!.targetsSiblings ? sql`jsonb_build_array(${name})` : buildKey(target, 's')
    return sql`${sql.lit(field)}, (select coalesce(jsonb_agg(${key} order by ${name}), '[]')
      from ${sql.table(relation.name)} r
      join ${sql.table(tables[target].name)} s on s.realm = r.realm and s.id = r.${sql.ref(relation.target)}
      where r.realm = t.${sql.ref(table.realm)}${owner}${ifTableIsShared(relation, sql` and r.optional = ${sql.lit(relation.optional ?? false)}`)}${buildTargetCondition(kind, field, target)})`
  })
  return pairs.length ? sql`jsonb_build_object(${sql.join(pairs)})` : sql`'{}'::jsonb`
}

/** Returns the condition that the field may refer to the target s, if it refers to objects of the realm or of one kind of parent only. */
function buildTargetCondition(kind: KindName, field: string, target: KindName): RawBuilder<unknown> {
  const only = kinds[kind].fields[field]!.targetParent
  if (only === undefined) return sql``
  const columns = Object.values(tables[target].parents)
  if (only === 'realm') return concatenate(columns, (column) => sql` and s.${sql.ref(column)} is null`)
  return sql` and s.${sql.ref(getParentColumn(target, only))} is not null`
}

/** Returns the condition that the row t meets the filter. */
export function buildFilter(kind: KindName, realm: number, filter: ObjectFilter): RawBuilder<unknown> {
  const table = tables[kind]
  const any: RawBuilder<unknown>[] = []
  if (filter.ids) any.push(sql`t.id ${equalsAny(filter.ids)}`)
  if (filter.keys) any.push(...buildKeyConditions(table, realm, filter.keys))
  if (filter.parents)
    any.push(sql`t.${sql.ref(getParentColumn(kind, filter.parents.kind))} ${equalsAny(filter.parents.ids)}`)
  const all: RawBuilder<unknown>[] = [sql`true`]
  if (filter.ids || filter.keys || filter.parents)
    all.push(any.length ? sql`(${sql.join(any, sql` or `)})` : sql`false`)
  if (filter.topLevel) all.push(...Object.values(table.parents).map((column) => sql`t.${sql.ref(column)} is null`))
  if (filter.search) {
    const pattern = `%${filter.search.replace(/[\\%_]/g, '\\$&')}%`
    const key = sql`t.${sql.ref(table.key)} collate "default" ilike ${pattern}`
    all.push(filter.searchDescriptions ? sql`(${key} or t.body ->> 'description' ilike ${pattern})` : key)
  }
  if (filter.containing) all.push(sql`t.body @> ${JSON.stringify(filter.containing)}::jsonb`)
  if (filter.visible && filter.visible !== 'all') all.push(buildVisibility('t', filter.visible))
  return sql.join(all, sql` and `)
}

/** Returns conditions of natural keys on the row t. Names are matched with their parents, since names are unique per parent only. */
function buildKeyConditions(table: KindTable, realm: number, keys: readonly Key[]): RawBuilder<unknown>[] {
  const top = keys.filter((key) => key.length === 1).map((key) => key[0]!)
  const hasNoParent = Object.values(table.parents).map((column) => sql` and t.${sql.ref(column)} is null`)
  const conditions = top.length ? [sql`(t.${sql.ref(table.key)} ${equalsAny(top)}${sql.join(hasNoParent, sql``)})`] : []
  for (const { kind, column, table: parentTable } of listParents(table)) {
    const childKeys = keys.filter((key) => key.length === 3 && key[0] === kind)
    if (!childKeys.length) continue
    const [parents, names] = [childKeys.map((key) => key[1]), childKeys.map((key) => key[2])]
    conditions.push(sql`(t.${sql.ref(table.key)} ${equalsAny(names)} and (t.${sql.ref(column)}, t.${sql.ref(table.key)}) in (
      select p.id, k.name from unnest(${parents}::text[], ${names}::text[]) as k(parent, name)
      join ${sql.table(parentTable.name)} p on p.realm = ${realm} and p.${sql.ref(parentTable.key)} = k.parent))`)
  }
  return conditions
}

/** Returns the kind that a reference or relation refers to; a reference in a map is written `field.key`. */
function getTargetKind(kind: KindName, field: string): KindName {
  const target = kinds[kind].fields[field.split('.')[0]!]?.refersTo
  if (!target) throw new Error(`${kind}.${field} is no reference.`)
  return target
}

function listParents(table: KindTable): { kind: KindName; column: string; table: KindTable }[] {
  return Object.entries(table.parents).flatMap(([kind, column]) =>
    isKindName(kind) ? [{ kind, column, table: tables[kind] }] : [],
  )
}

function getParentColumn(kind: KindName, parent: KindName): string {
  const column = tables[kind].parents[parent]
  if (!column) throw new Error(`${kind} has no parent of kind ${parent}.`)
  return column
}

/** Returns the table of a relation. Throws if the kind has no such relation. */
export function getRelationTable(kind: KindName, field: string): RelationTable {
  const relation = tables[kind].relations[field]
  if (!relation) throw new Error(`${kind} has no relation ${field}.`)
  return relation
}

/** Returns the columns of owner and target, each with the property of an element that it stores. A realm as owner has no column. */
export function listRelationColumns(relation: RelationTable): [column: string, member: string][] {
  if (relation.owner === 'realm') return [[relation.target, 'target']]
  return [
    [relation.owner, 'owner'],
    [relation.target, 'target'],
  ]
}

/** Returns the SQL if two fields share the table of the relation, or else nothing. */
export function ifTableIsShared(relation: RelationTable, text: RawBuilder<unknown>): RawBuilder<unknown> {
  return relation.optional === undefined ? sql`` : text
}

/** Renders items and concatenates the results without a separator. */
export function concatenate<T>(items: readonly T[], render: (item: T) => RawBuilder<unknown>): RawBuilder<unknown> {
  return items.length ? sql.join(items.map(render), sql``) : sql``
}
