// The objects that a caller may view, and the SQL condition for them.
import { type RawBuilder, sql } from 'kysely'

/** The objects of a kind that a caller may view. */
export type Visibility = 'all' | VisibleObjects

/** Single objects that a caller may view; without further fields, no others. */
export interface VisibleObjects {
  readonly ids: readonly string[]
  /** Whether all objects are visible that are not hidden. */
  readonly all?: boolean
  readonly hiddenIds?: readonly string[]
  /** For users: whose members are visible. */
  readonly groups?: VisibleGroups
}

/** The groups of which a caller may view the direct members. A user who is a member of a hidden group is hidden, also with other groups. */
export interface VisibleGroups {
  /** The number of their realm. */
  readonly realm: number
  readonly ids: readonly string[]
  /** The members of these groups and of the groups below them are hidden. */
  readonly hiddenIds: readonly string[]
  /** Whether users are visible (true) or hidden (false) who are members of other groups only. Absent: neither. */
  readonly all?: boolean | undefined
}

/** Returns the SQL condition that the row with an alias is visible. */
export function buildVisibility(alias: string, visible: Visibility = 'all'): RawBuilder<unknown> {
  if (visible === 'all') return sql`true`
  const id = sql`${sql.ref(alias)}.id`
  const { ids, all = false, hiddenIds = [], groups } = visible
  if (!all && !groups) return sql`${id} = any(${ids})`
  const isHidden = sql`${id} = any(${hiddenIds})`
  if (!groups) return sql`(${id} = any(${ids}) or not ${isHidden})`
  const hasGroup = (condition: RawBuilder<unknown>) => sql`exists (select from user_group m
    where m.realm = ${groups.realm} and m.user_account = ${id} and ${condition})`
  // An array is computed once, whereas another subquery might be executed for each user.
  const isInHiddenGroup = hasGroup(sql`m.realm_group = any(array(
    with recursive hidden as (
      select g.id from realm_group g where g.realm = ${groups.realm} and g.id = any(${groups.hiddenIds})
      union
      select g.id from hidden h join realm_group g on g.realm = ${groups.realm} and g.parent = h.id
    )
    select id from hidden))`)
  const isVisible = [
    hasGroup(sql`m.realm_group = any(${groups.ids})`),
    ...(groups.all ? [hasGroup(sql`true`)] : []),
    ...(all ? [groups.all === false ? sql`not ${hasGroup(sql`true`)}` : sql`true`] : []),
  ]
  return sql`(${id} = any(${ids}) or (not ${isHidden} and not ${isInHiddenGroup} and (${sql.join(isVisible, sql` or `)})))`
}
