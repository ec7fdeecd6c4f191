// Searches the tree of groups.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { countRow, equalsAny, integer, json, optional, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { toContainsWildcardPattern, toPrefixPattern } from './like-patterns.ts'
import { buildVisibility, type Visibility } from './visibility.ts'

const listedGroupRow = row({
  id: text,
  path: text,
  /** The representation without path and roles. */
  body: json<Representation>(),
  /** Id of the parent group; null at the top. */
  parent: optional(text),
  /** The number of direct subgroups. */
  subGroups: integer,
})

/** A group in a search result, with its position in the tree. */
export type ListedGroup = RowOf<typeof listedGroupRow>

/** A search for groups of the realm, or of an organization. All conditions must hold; without conditions, every group is found. */
export interface GroupSearch {
  /** Id of the organization whose groups are searched. Absent: the groups of the realm. */
  readonly organization?: string
  readonly ids?: readonly string[]
  /** Id of the parent group; null: groups at the top. */
  readonly parent?: string | null
  /** Path as in the admin API. */
  readonly wirePath?: string
  readonly name?: string
  /** Part of the name, ignoring case; `*` matches any text. */
  readonly search?: string
  /** Beginning of the name, ignoring case; `*` matches any text. */
  readonly prefix?: string
  readonly attributes?: Representation
  /** Id of a member. */
  readonly member?: string
  /** Id of a role that is mapped to the group directly. */
  readonly role?: string
  readonly visible?: Visibility
}

/** The page of a search result to return. */
export interface GroupPage {
  readonly first?: number
  readonly max?: number
  /** Whether to return all ancestors of the groups, too. */
  readonly withAncestors?: boolean
}

/** Returns a page of the groups that a search finds, by name. One statement. */
export async function searchGroups(
  tx: Transaction,
  realm: number,
  {
    search,
    page: { first = 0, max, withAncestors = false } = {},
  }: { readonly search: GroupSearch; readonly page?: GroupPage | undefined },
): Promise<ListedGroup[]> {
  const table = getTable(search)
  return query(listedGroupRow)`
    with recursive found as (
      select g.id, g.parent from ${table} g
      where g.realm = ${realm} and ${buildConditions(search)}
      order by g.name, g.id offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}
    ),
    listed as (
      select id, parent from found
      union
      select g.id, g.parent from listed s join ${table} g on g.realm = ${realm} and g.id = s.parent
      where ${withAncestors}::boolean
    )
    select g.id, g.path, g.body, g.parent,
      (select count(*)::integer from ${table} c where c.realm = g.realm and c.parent = g.id) as "subGroups"
    from listed s join ${table} g on g.realm = ${realm} and g.id = s.id
    where ${buildVisibility('g', search.visible)}
    order by g.name, g.id`.all(tx)
}

/** Returns the number of groups that a search finds. One statement. */
export async function countGroups(tx: Transaction, realm: number, search: GroupSearch): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from ${getTable(search)} g where g.realm = ${realm} and ${buildConditions(search)}`.firstOrThrow(
    tx,
  )
  return count
}

const getTable = ({ organization }: GroupSearch): RawBuilder<unknown> =>
  sql.table(organization === undefined ? 'realm_group' : 'organization_group')

function buildConditions(search: GroupSearch): RawBuilder<unknown> {
  const { organization, ids, parent, wirePath, name, prefix, attributes, member, role } = search
  const all = [buildVisibility('g', search.visible)]
  if (organization !== undefined) all.push(sql`g.organization = ${organization}`)
  if (ids) all.push(sql`g.id ${equalsAny(ids)}`)
  if (parent !== undefined) all.push(parent === null ? sql`g.parent is null` : sql`g.parent = ${parent}`)
  if (wirePath !== undefined) all.push(sql`replace(g.path, '~/', '/') = ${wirePath}`)
  if (name !== undefined) all.push(sql`g.name = ${name}`)
  if (search.search !== undefined) all.push(sql`g.name_folded like ${toContainsWildcardPattern(search.search)}`)
  if (prefix !== undefined) all.push(sql`g.name_folded like ${toPrefixPattern(prefix)}`)
  if (attributes) all.push(sql`g.body @> ${JSON.stringify({ attributes })}::jsonb`)
  if (member !== undefined)
    all.push(sql`exists (select from user_group m
      where m.realm = g.realm and m.realm_group = g.id and m.user_account = ${member})`)
  if (role !== undefined)
    all.push(sql`exists (select from group_role m
      where m.realm = g.realm and m.realm_group = g.id and m.role = ${role})`)
  return sql.join(all, sql` and `)
}

const policySubjectRow = row({ username: optional(text), path: optional(text) })

/** A user and the path of one of the user's groups, or one of both. */
export type PolicySubject = RowOf<typeof policySubjectRow>

/** Users, service accounts by the ids of their clients, and groups, by ids. */
export interface PolicySubjects {
  readonly users?: readonly string[]
  readonly clients?: readonly string[]
  readonly groups?: readonly string[]
}

/** Returns users and service accounts with each of their groups, and groups alone. One statement. */
export async function selectPolicySubjects(
  tx: Transaction,
  realm: number,
  { users = [], clients = [], groups = [] }: PolicySubjects,
): Promise<PolicySubject[]> {
  return query(policySubjectRow)`
    select u.username, g.path
    from user_account u
    left join user_group m on m.realm = u.realm and m.user_account = u.id
    left join realm_group g on g.realm = m.realm and g.id = m.realm_group
    where u.realm = ${realm} and (u.id ${equalsAny(users)} or u.service_account_client ${equalsAny(clients)})
    union all
    select null, g.path from realm_group g where g.realm = ${realm} and g.id ${equalsAny(groups)}`.all(tx)
}

const membershipRow = row({ user: text, group: text })

/** Returns the ids of the groups of users, and of the ancestors of these groups, by id of the user. One statement. */
export async function selectGroupsOfUsers(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<Map<string, string[]>> {
  const memberships = await query(membershipRow)`
    with recursive joined as (
      select m.user_account as "user", g.id, g.parent
      from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
      where m.realm = ${realm} and m.user_account ${equalsAny(users)}
      union
      select j."user", g.id, g.parent from joined j join realm_group g on g.realm = ${realm} and g.id = j.parent
    )
    select "user", id as "group" from joined`.all(tx)
  const byUser = Map.groupBy(memberships, ({ user }) => user)
  return new Map([...byUser].map(([user, ofUser]) => [user, ofUser.map(({ group }) => group)]))
}
