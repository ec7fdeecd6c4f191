// Looking for users, by any of what is known of them.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, countRow, json, optional, type RowOf, row, rows, text } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Visibility } from '../object-filter.ts'

/** Which users: those that all of this is true of. Nothing stated: all. Texts are patterns of `like.ts`. */
export interface UserSearch {
  readonly ids?: readonly string[]
  /** Each is matched by the user name, the mail address, the first or the last name. */
  readonly anyName?: readonly string[]
  readonly username?: string
  readonly email?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly enabled?: boolean
  readonly emailVerified?: boolean
  /** Values of attributes, in any case. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Alias of an identity provider that they have an account at. */
  readonly provider?: string
  /** Their id at an identity provider. */
  readonly providerUser?: string
  /** Id of a group that they belong to themselves. */
  readonly group?: string
  /** Id of a role that they have themselves. */
  readonly role?: string
  /** Without the accounts of clients. */
  readonly peopleOnly?: boolean
  readonly visible: Visibility
}

const foundUserRow = row({
  id: text,
  username: text,
  email: optional(text),
  body: json<Representation>(),
  /** Whether it is the account of a client. */
  ofClient: boolean,
  /** Whether they have one-time codes. */
  totp: boolean,
})

/** A user who is found, as lists show them. */
export type FoundUser = RowOf<typeof foundUserRow>

/** The users who are found, a page of them, by user name: what comes before it is counted, not read. One statement. */
export async function searchUsers(
  tx: Transaction,
  realm: number,
  {
    search,
    page: { first = 0, max } = {},
  }: { readonly search: UserSearch; readonly page?: { first?: number; max?: number } | undefined },
): Promise<FoundUser[]> {
  const where = sql`u.realm = ${realm} and ${conditions(search)}`
  const part = sql`order by u.username offset ${first} ${max === undefined ? sql`` : sql`limit ${max}`}`
  const shown = sql`u.id, u.username, u.email, u.body, u.service_account_client is not null as "ofClient",
    exists (select from credential c where c.realm = u.realm and c.user_account = u.id and c.type = 'otp') as totp`
  if (first === 0) return rows(foundUserRow)`select ${shown} from user_account u where ${where} ${part}`.all(tx)
  return rows(foundUserRow)`
    select ${shown} from (select u.id from user_account u where ${where} ${part}) found
    join user_account u on u.realm = ${realm} and u.id = found.id
    order by u.username`.all(tx)
}

/** How many users are found. One statement. */
export async function countUsers(tx: Transaction, realm: number, search: UserSearch): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from user_account u where u.realm = ${realm} and ${conditions(search)}`.one(tx)
  return count
}

/** The columns that hold names, all in lower case. */
const NAMES = [
  { field: 'username', column: 'username' },
  { field: 'email', column: 'email' },
  { field: 'firstName', column: 'first_name_folded' },
  { field: 'lastName', column: 'last_name_folded' },
] as const

function conditions(search: UserSearch): RawBuilder<unknown> {
  const {
    ids,
    anyName = [],
    enabled,
    emailVerified,
    attributes = {},
    provider,
    providerUser,
    group,
    role,
    visible,
  } = search
  const like = (column: string, pattern: string) => sql`u.${sql.ref(column)} like ${pattern}`
  const all: RawBuilder<unknown>[] = [sql`true`]
  if (visible !== 'all') all.push(sql`u.id = any(${visible.ids})`)
  if (ids) all.push(sql`u.id = any(${ids})`)
  for (const pattern of anyName) {
    const columns = NAMES.map(({ column }) => like(column, pattern))
    all.push(sql`(${sql.join(columns, sql` or `)})`)
  }
  for (const { field, column } of NAMES) {
    const pattern = search[field]
    if (pattern !== undefined) all.push(like(column, pattern))
  }
  if (enabled !== undefined) all.push(sql`coalesce((u.body ->> 'enabled')::boolean, false) = ${enabled}::boolean`)
  if (emailVerified !== undefined)
    all.push(sql`coalesce((u.body ->> 'emailVerified')::boolean, false) = ${emailVerified}::boolean`)
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
  if (search.peopleOnly) all.push(sql`u.service_account_client is null`)
  return sql.join(all, sql` and `)
}
