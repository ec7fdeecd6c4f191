// The tree of groups.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { countRow, integer, json, optional, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import { containing } from './like.ts'
import type { Visibility } from './object-filter.ts'

const foundGroupRow = row({
  id: text,
  path: text,
  /** The representation less path and roles. */
  body: json<Representation>(),
  /** The group that it belongs to; null at the top. */
  parent: optional(text),
  /** How many groups belong to it directly. */
  subGroups: integer,
})

/** A group that is found, and where it stands in the tree. */
export type FoundGroup = RowOf<typeof foundGroupRow>

/** Which groups: those that all of this is true of. Nothing stated: all. */
export interface GroupSearch {
  readonly ids?: readonly string[]
  /** They belong to this group; null: they are at the top. */
  readonly parent?: string | null
  /** Path as the wire shows it. */
  readonly wirePath?: string
  readonly name?: string
  /** Part of the name, in any case. */
  readonly search?: string
  readonly attributes?: Representation
  /** Id of a user who belongs to them. */
  readonly member?: string
  /** Id of a role that they have themselves. */
  readonly role?: string
  readonly visible?: Visibility
}

/** Which of the groups that are found are given, and what with them. */
export interface GroupPage {
  readonly first?: number
  readonly max?: number
  /** With all groups that they belong to, up to the top. */
  readonly withAbove?: boolean
}

/** The groups that are looked for, by name. One statement. */
export async function searchGroups(
  tx: Transaction,
  realm: number,
  {
    search,
    page: { first = 0, max, withAbove = false } = {},
  }: { readonly search: GroupSearch; readonly page?: GroupPage | undefined },
): Promise<FoundGroup[]> {
  return rows(foundGroupRow)`
    with recursive found as (
      select g.id, g.parent from realm_group g
      where g.realm = ${realm} and ${conditions(search)}
      order by g.name, g.id offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}
    ),
    shown as (
      select id, parent from found
      union
      select g.id, g.parent from shown s join realm_group g on g.realm = ${realm} and g.id = s.parent
      where ${withAbove}::boolean
    )
    select g.id, g.path, g.body, g.parent,
      (select count(*)::integer from realm_group c where c.realm = g.realm and c.parent = g.id) as "subGroups"
    from shown s join realm_group g on g.realm = ${realm} and g.id = s.id
    where ${seen(search.visible)}
    order by g.name, g.id`.all(tx)
}

/** How many groups are found. One statement. */
export async function countGroups(tx: Transaction, realm: number, search: GroupSearch): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from realm_group g where g.realm = ${realm} and ${conditions(search)}`.one(tx)
  return count
}

function conditions(search: GroupSearch): RawBuilder<unknown> {
  const { ids, parent, wirePath, name, attributes, member, role } = search
  const all = [seen(search.visible)]
  if (ids) all.push(sql`g.id = any(${ids})`)
  if (parent !== undefined) all.push(parent === null ? sql`g.parent is null` : sql`g.parent = ${parent}`)
  if (wirePath !== undefined) all.push(sql`replace(g.path, '~/', '/') = ${wirePath}`)
  if (name !== undefined) all.push(sql`g.name = ${name}`)
  if (search.search !== undefined) all.push(sql`g.name_folded like ${containing(search.search)}`)
  if (attributes) all.push(sql`g.body @> ${JSON.stringify({ attributes })}::jsonb`)
  if (member !== undefined)
    all.push(sql`exists (select from user_group m
      where m.realm = g.realm and m.realm_group = g.id and m.user_account = ${member})`)
  if (role !== undefined)
    all.push(sql`exists (select from group_role m
      where m.realm = g.realm and m.realm_group = g.id and m.role = ${role})`)
  return sql.join(all, sql` and `)
}

function seen(visible: Visibility = 'all'): RawBuilder<unknown> {
  return visible === 'all' ? sql`true` : sql`g.id = any(${visible.ids})`
}
