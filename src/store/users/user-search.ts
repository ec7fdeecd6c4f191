// Searches users.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, countRow, equalsAny, json, optional, query, type RowOf, row, text } from '../database/query.ts'
import { NOT_PREPARED } from '../database/statement-names.ts'
import type { Transaction } from '../database/transaction.ts'
import { buildVisibility, type Visibility } from '../visibility.ts'

/** A search for users. All conditions must hold; without conditions, every user is found. Names are patterns of `like-patterns.ts`. */
export interface UserSearch {
  readonly ids?: readonly string[]
  /** Patterns that must each match user name, email address, first or last name. */
  readonly anyName?: readonly string[]
  readonly username?: string
  readonly email?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly enabled?: boolean
  readonly emailVerified?: boolean
  /** The time of creation; `until` is exclusive. */
  readonly created?: { readonly from?: Date; readonly until?: Date }
  /** Patterns of attribute values, by name. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Alias of an identity provider. */
  readonly provider?: string
  /** Id of the user at an identity provider. */
  readonly providerUser?: string
  /** Id of a group with the user as direct member. */
  readonly group?: string
  /** Id of a role that is mapped to the user directly. */
  readonly role?: string
  /** Whether to exclude service accounts. */
  readonly withoutServiceAccounts?: boolean
  readonly visible: Visibility
}

const listedUserRow = row({
  id: text,
  username: text,
  email: optional(text),
  body: json<Representation>(),
  isServiceAccount: boolean,
  /** Whether the user has an OTP credential. */
  totp: boolean,
})

/** A user in a search result. */
export type ListedUser = RowOf<typeof listedUserRow>

/**
 * Returns a page of the users that a search finds, by user name, or in the order of the ids of the search. Rows before the page are
 * counted, not read. One statement. `offset 0` keeps PostgreSQL from reading the credentials of all users for those of a page.
 */
export async function searchUsers(
  tx: Transaction,
  realm: number,
  {
    search,
    page: { first = 0, max } = {},
  }: { readonly search: UserSearch; readonly page?: { first?: number; max?: number } | undefined },
): Promise<ListedUser[]> {
  const where = sql`u.realm = ${realm} and ${buildConditions(search)}`
  const order = search.ids ? sql`array_position(${[...search.ids]}::text[], u.id)` : sql`u.username`
  const page = sql`order by ${order} offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}`
  const columns = sql`${renderPlanning(search)} u.id, u.username, u.email, u.body, u.service_account_client is not null as "isServiceAccount",
    exists (select from credential c where c.realm = u.realm and c.user_account = u.id and c.type = 'otp' offset 0) as totp`
  if (first === 0) return query(listedUserRow)`select ${columns} from user_account u where ${where} ${page}`.all(tx)
  return query(listedUserRow)`
    select ${columns} from (select u.id from user_account u where ${where} ${page}) result
    join user_account u on u.realm = ${realm} and u.id = result.id
    order by ${order}`.all(tx)
}

/** Returns the number of users that a search finds. One statement. */
export async function countUsers(tx: Transaction, realm: number, search: UserSearch): Promise<number> {
  const { count } = await query(countRow)`
    select ${renderPlanning(search)} count(*)::integer as count from user_account u where u.realm = ${realm} and ${buildConditions(search)}`.firstOrThrow(
    tx,
  )
  return count
}

/** The columns of names, all in lower case. */
const NAMES = [
  { field: 'username', column: 'username' },
  { field: 'email', column: 'email' },
  { field: 'firstName', column: 'first_name_folded' },
  { field: 'lastName', column: 'last_name_folded' },
] as const

/** The names of a user in one text, as they are indexed. */
const ALL_NAMES = sql`(u.username || ' ' || coalesce(u.email, '') || ' ' || coalesce(u.first_name_folded, '')
  || ' ' || coalesce(u.last_name_folded, ''))`

/** Whether the index of parts of names finds few users with a pattern. The indexes of the columns find those that begin with a text. */
const isIndexed = (pattern: string): boolean => pattern.startsWith('%') && /[\p{L}\p{N}]{3}/u.test(pattern)

/** Returns the patterns of names that a user must have. */
function listPatterns(search: UserSearch): string[] {
  return [...(search.anyName ?? []), ...NAMES.flatMap(({ field }) => search[field] ?? [])]
}

/** Returns the comment of a search with conditions, since the best plan depends on how many users meet them. */
function renderPlanning({ visible, withoutServiceAccounts: _, ...conditions }: UserSearch): RawBuilder<unknown> {
  return sql.raw(visible === 'all' && !Object.keys(conditions).length ? '' : NOT_PREPARED)
}

function buildConditions(search: UserSearch): RawBuilder<unknown> {
  const {
    ids,
    anyName = [],
    enabled,
    emailVerified,
    created = {},
    attributes = {},
    provider,
    providerUser,
    group,
    role,
    visible,
  } = search
  const like = (column: string, pattern: string) => sql`u.${sql.ref(column)} like ${pattern}`
  /** Checks the columns after the index of parts of names: it finds the pattern also across two names. */
  const check = (pattern: string, condition: RawBuilder<unknown>) =>
    // `case` hides the condition from the query planner. It would take the two conditions for independent ones, expect few users for any
    // pattern, and read all of many users instead of a page.
    isIndexed(pattern) ? sql`case when ${condition} then true end` : condition
  const all: RawBuilder<unknown>[] = [sql`true`]
  if (visible !== 'all') all.push(buildVisibility('u', visible))
  if (ids) all.push(sql`u.id ${equalsAny(ids)}`)
  for (const pattern of listPatterns(search).filter(isIndexed)) all.push(sql`${ALL_NAMES} like ${`%${pattern}%`}`)
  for (const pattern of anyName) {
    const columns = NAMES.map(({ column }) => like(column, pattern))
    all.push(check(pattern, sql`(${sql.join(columns, sql` or `)})`))
  }
  for (const { field, column } of NAMES) {
    const pattern = search[field]
    if (pattern !== undefined) all.push(check(pattern, like(column, pattern)))
  }
  if (enabled !== undefined) all.push(sql`coalesce((u.body ->> 'enabled')::boolean, false) = ${enabled}::boolean`)
  if (emailVerified !== undefined)
    all.push(sql`coalesce((u.body ->> 'emailVerified')::boolean, false) = ${emailVerified}::boolean`)
  const createdAt = sql`(u.body ->> 'createdTimestamp')::bigint`
  if (created.from) all.push(sql`${createdAt} >= ${created.from.getTime()}`)
  if (created.until) all.push(sql`${createdAt} < ${created.until.getTime()}`)
  for (const [name, pattern] of Object.entries(attributes))
    all.push(sql`exists (select from jsonb_array_elements_text(u.body -> 'attributes' -> ${name}::text) as a(value)
      where lower(a.value collate "default") like ${pattern})`)
  if (provider !== undefined || providerUser !== undefined)
    all.push(sql`exists (select from federated_identity f
      join identity_provider p on p.realm = f.realm and p.id = f.identity_provider
      where f.realm = u.realm and f.user_account = u.id
        and (${provider ?? null}::text is null or p.alias = ${provider ?? null})
        and (${providerUser ?? null}::text is null or f.user_id = ${providerUser ?? null}))`)
  if (group !== undefined)
    all.push(sql`exists (select from user_group m
      where m.realm = u.realm and m.user_account = u.id and m.realm_group = ${group})`)
  if (role !== undefined)
    all.push(sql`exists (select from user_role m
      where m.realm = u.realm and m.user_account = u.id and m.role = ${role})`)
  if (search.withoutServiceAccounts) all.push(sql`u.service_account_client is null`)
  return sql.join(all, sql` and `)
}
