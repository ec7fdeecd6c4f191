// Users and service accounts: lookups for login, and unique names.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, equalsAny, json, optional, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const storedUserRow = row({
  id: text,
  username: text,
  email: optional(text),
  serviceAccountClient: optional(text),
  body: json<Representation>(),
})

/** A stored user. */
export type StoredUser = RowOf<typeof storedUserRow>

const userWithPasswordsRow = row({
  ...storedUserRow.columns,
  passwords: json<readonly { readonly id: string; readonly createdAt: string; readonly body: Representation }[]>(),
})

/** A user with their password, if they have one. */
export type UserWithPasswords = RowOf<typeof userWithPasswordsRow>

/**
 * Returns the user with the email address, if the realm allows login by email address (`byEmail`), or else with the user name. `name` is in
 * lower case. Keycloak: the email address takes precedence. One statement.
 */
export async function findUserForLogin(
  tx: Transaction,
  realm: number,
  { name, byEmail }: { readonly name: string; readonly byEmail: boolean },
): Promise<UserWithPasswords | undefined> {
  return query(userWithPasswordsRow)`
    select u.id, u.username, u.email, u.service_account_client as "serviceAccountClient", u.body,
      (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'createdAt', c.created_at, 'body', c.body) order by c.position), '[]')
        from credential c where c.realm = u.realm and c.user_account = u.id and c.type = 'password') as passwords
    from user_account u
    where u.realm = ${realm} and (u.username = ${name} ${byEmail ? sql`or u.sole_email = ${name}` : sql``})
    order by coalesce(u.sole_email = ${name}, false) desc
    limit 1`.first(tx)
}

/** Returns a user by id. One statement. */
export async function findUser(tx: Transaction, realm: number, id: string): Promise<StoredUser | undefined> {
  return query(storedUserRow)`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and id = ${id}`.first(tx)
}

/** Disables a user, and adds attributes that give the reason. Returns false if the user is disabled already. One statement. */
export async function disableUser(
  tx: Transaction,
  realm: number,
  { id, attributes }: { readonly id: string; readonly attributes: Readonly<Record<string, readonly string[]>> },
): Promise<boolean> {
  const { rows } = await sql`
    update user_account set version = version + 1, body = body || jsonb_build_object('enabled', false,
      'attributes', coalesce(body -> 'attributes', '{}') || ${JSON.stringify(attributes)}::jsonb)
    where realm = ${realm} and id = ${id} and (body ->> 'enabled')::boolean
    returning id`.execute(tx)
  return rows.length > 0
}

/**
 * Adds a required action to a user, if the realm enables the action. Returns the previous required actions, or undefined if nothing changes.
 * One statement.
 */
export async function requireAction(
  tx: Transaction,
  realm: number,
  { id, action }: { readonly id: string; readonly action: string },
): Promise<string[] | undefined> {
  const user = await query(row({ before: json<string[]>() }))`
    update user_account u set version = u.version + 1, body = u.body || jsonb_build_object('requiredActions', (
      select jsonb_agg(a order by a collate "C")
      from (select jsonb_array_elements_text(w.actions) union select ${action}) as x(a)
    ))
    from (
      select coalesce(b.body -> 'requiredActions', '[]') as actions from user_account b
      where b.realm = ${realm} and b.id = ${id}
      for update
    ) w
    where u.realm = ${realm} and u.id = ${id} and not w.actions ? ${action}
      and exists (select from required_action r
        where r.realm = ${realm} and r.alias = ${action} and (r.body ->> 'enabled')::boolean)
    returning w.actions as before`.first(tx)
  return user?.before
}

/** Returns the service account of a client, by the client's internal id. One statement. */
export async function findServiceAccount(
  tx: Transaction,
  realm: number,
  client: string,
): Promise<StoredUser | undefined> {
  return query(storedUserRow)`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and service_account_client = ${client}`.first(tx)
}

/** Whether the realm has users other than service accounts. One statement. */
export async function hasUsers(tx: Transaction, realm: number): Promise<boolean> {
  const { exists } = await query(row({ exists: boolean }))`
    select exists (select from user_account
      where realm = ${realm} and service_account_client is null) as exists`.firstOrThrow(tx)
  return exists
}

/** Returns the ids of the service accounts of clients. One statement. */
export async function selectServiceAccounts(
  tx: Transaction,
  realm: number,
  clients: readonly string[],
): Promise<{ id: string; client: string }[]> {
  return query(row({ id: text, client: text }))`
    select id, service_account_client as client
    from user_account where realm = ${realm} and service_account_client ${equalsAny(clients)}`.all(tx)
}

/** The field of a user whose value another user has. */
export type ConflictingField = 'username' | 'email'

/** The names of a stored user, in lower case. */
export interface UserNames {
  readonly id: string
  readonly username: string
  readonly email: string | null
}

const sameNamesRow = row({ id: text, username: text, email: optional(text), namedByEmail: boolean })

/**
 * Reserves the email addresses of users, unless the realm allows duplicates, and returns a field whose value another user has. If users
 * log in by email address, the user name must not be another user's email address either. Throws the unique violation of the database.
 * One statement. It compares with lists instead of joining the table with itself: while a new realm has no statistics, a join may be
 * planned as a scan of the realm for each user.
 */
export async function reserveNames(
  tx: Transaction,
  realm: number,
  users: readonly UserNames[],
): Promise<ConflictingField | undefined> {
  const ids = users.map(({ id }) => id)
  const usernames = users.map(({ username }) => username)
  const emails = users.flatMap(({ email }) => email ?? [])
  const sameNames = await query(sameNamesRow)`
    with rules as (
      select coalesce((body ->> 'duplicateEmailsAllowed')::boolean, false) as shared,
        coalesce((body ->> 'loginWithEmailAllowed')::boolean, false) as named_by_email
      from realm where number = ${realm}
    ), reserved as (
      update user_account u set sole_email = case when r.shared then null else u.email end
      from rules r where u.realm = ${realm} and u.id ${equalsAny(ids)}
        and u.sole_email is distinct from case when r.shared then null else u.email end
    )
    select u.id, u.username, u.email, r.named_by_email as "namedByEmail"
    from rules r cross join user_account u
    where u.realm = ${realm} and not r.shared
      and (u.email ${equalsAny(emails)} or u.email ${equalsAny(usernames)} or u.username ${equalsAny(emails)})`.all(tx)
  return findNameConflict(users, sameNames)
}

/** Returns a field of the users whose value another user has as their email address or, where users log in by it, as their user name. */
function findNameConflict(
  users: readonly UserNames[],
  sameNames: readonly RowOf<typeof sameNamesRow>[],
): ConflictingField | undefined {
  const byUsername = Map.groupBy(users, ({ username }) => username)
  const byEmail = Map.groupBy(users, ({ email }) => email)
  for (const { id, username, email, namedByEmail } of sameNames) {
    const isOther = (user: UserNames) => user.id !== id
    const sharesEmail = email === null ? undefined : byEmail.get(email)?.find(isOther)
    if (sharesEmail) return sharesEmail.username === email ? 'username' : 'email'
    if (!namedByEmail) continue
    if (email !== null && byUsername.get(email)?.some(isOther)) return 'username'
    if (byEmail.get(username)?.some(isOther)) return 'email'
  }
  return undefined
}

/** Reserves the email addresses of all users of a realm again; a shared address for the oldest account. One statement. */
export async function reserveAllEmails(tx: Transaction, realm: number, areShared: boolean): Promise<void> {
  await sql`
    update user_account u set sole_email = case when f.rank = 1 and not ${areShared}::boolean then u.email end
    from (
      select id, row_number() over (
        partition by email order by (body ->> 'createdTimestamp')::bigint nulls last, id) as rank
      from user_account where realm = ${realm} and email is not null
    ) f
    where u.realm = ${realm} and u.id = f.id`.execute(tx)
}

/** Makes new users members of the default groups of the realm, and grants some of them the default role. One statement. */
export async function insertDefaults(
  tx: Transaction,
  realm: number,
  { users, withDefaultRole }: { readonly users: readonly string[]; readonly withDefaultRole: readonly string[] },
): Promise<void> {
  await sql`
    with granted as (
      insert into user_role (realm, user_account, role)
      select r.number, u.id, r.default_role
      from realm r cross join unnest(${withDefaultRole}::text[]) as u(id)
      where r.number = ${realm} and r.default_role is not null
      on conflict do nothing
    )
    insert into user_group (realm, user_account, realm_group)
    select ${realm}::integer, u.id, g.realm_group
    from realm_default_group g cross join unnest(${users}::text[]) as u(id)
    where g.realm = ${realm}
    on conflict do nothing`.execute(tx)
}

const userNameSettingsRow = row({
  canChangeUsername: boolean,
  /** The default language; null: English. */
  language: optional(text),
  hasIdentityProviders: boolean,
  /** The aliases of the required actions that new users get. */
  defaultRequiredActions: json<readonly string[]>(),
})

/** Settings of a realm for the names, languages and required actions of users. */
export type UserNameSettings = RowOf<typeof userNameSettingsRow>

/** Returns the settings of a realm for the names, languages and required actions of users. One statement. */
export async function selectUserNameSettings(tx: Transaction, realm: number): Promise<UserNameSettings> {
  return query(userNameSettingsRow)`
    select coalesce((r.body ->> 'editUsernameAllowed')::boolean, false) as "canChangeUsername",
      case when (r.body ->> 'internationalizationEnabled')::boolean then r.body ->> 'defaultLocale' end as language,
      exists (select from identity_provider p where p.realm = r.number) as "hasIdentityProviders",
      coalesce((
        select jsonb_agg(a.alias order by a.alias) from required_action a
        where a.realm = r.number and a.body @> '{"enabled": true, "defaultAction": true}'
      ), '[]') as "defaultRequiredActions"
    from realm r where r.number = ${realm}`.firstOrThrow(tx)
}
