// People and service accounts, as far as log-in needs them.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { boolean, json, optional, type RowOf, row, rows, text, textOf } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

const storedUserRow = row({
  id: text,
  username: text,
  email: optional(text),
  serviceAccountClient: optional(text),
  body: json<Representation>(),
})

/** A user as it is kept. */
export type StoredUser = RowOf<typeof storedUserRow>

const userAtLoginRow = row({
  ...storedUserRow.columns,
  passwords: json<readonly { readonly id: string; readonly createdAt: string; readonly body: Representation }[]>(),
})

/** A user with the passwords that they have: one, or none. */
export type UserAtLogin = RowOf<typeof userAtLoginRow>

/**
 * The user with that folded address, where the realm lets people log in by it, else with that user name. Keycloak: the address
 * counts first. One statement.
 */
export async function findUserForLogin(
  tx: Transaction,
  realm: number,
  { name, byEmail }: { readonly name: string; readonly byEmail: boolean },
): Promise<UserAtLogin | undefined> {
  return rows(userAtLoginRow)`
    select u.id, u.username, u.email, u.service_account_client as "serviceAccountClient", u.body,
      (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'createdAt', c.created_at, 'body', c.body) order by c.place), '[]')
        from credential c where c.realm = u.realm and c.user_account = u.id and c.type = 'password') as passwords
    from user_account u
    where u.realm = ${realm} and (u.username = ${name} ${byEmail ? sql`or u.sole_email = ${name}` : sql``})
    order by coalesce(u.sole_email = ${name}, false) desc
    limit 1`.first(tx)
}

/** The user with that id. One statement. */
export async function findUser(tx: Transaction, realm: number, id: string): Promise<StoredUser | undefined> {
  return rows(storedUserRow)`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and id = ${id}`.first(tx)
}

/** Disables a user, and gives them attributes that say why; false where they are disabled already. One statement. */
export async function disableForGood(
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
 * Requires an action of a user that the realm has enabled: what was required before; undefined where nothing changes.
 * One statement.
 */
export async function requireAction(
  tx: Transaction,
  realm: number,
  { id, action }: { readonly id: string; readonly action: string },
): Promise<string[] | undefined> {
  const user = await rows(row({ before: json<string[]>() }))`
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

/** The account of the client with that id. One statement. */
export async function findServiceAccount(
  tx: Transaction,
  realm: number,
  client: string,
): Promise<StoredUser | undefined> {
  return rows(storedUserRow)`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and service_account_client = ${client}`.first(tx)
}

/** Whether the realm has people; service accounts are none. One statement. */
export async function hasPeople(tx: Transaction, realm: number): Promise<boolean> {
  const { found } = await rows(row({ found: boolean }))`
    select exists (select from user_account
      where realm = ${realm} and service_account_client is null) as found`.one(tx)
  return found
}

/** The ids of the service accounts of clients. One statement. */
export async function selectServiceAccounts(
  tx: Transaction,
  realm: number,
  clients: readonly string[],
): Promise<{ id: string; client: string }[]> {
  return rows(row({ id: text, client: text }))`
    select id, service_account_client as client
    from user_account where realm = ${realm} and service_account_client = any(${clients})`.all(tx)
}

/** What of a user is taken already: the name, or the address. */
export type TakenField = 'username' | 'email'

/**
 * Reserves the addresses of users, where the realm lets nobody share one, and finds what of them another user has. Where
 * people log in by address, a name may not be the address of another user either. One statement. Throws the database's
 * unique violation.
 */
export async function reserveNames(
  tx: Transaction,
  realm: number,
  ids: readonly string[],
): Promise<TakenField | undefined> {
  const taken = await rows(row({ field: textOf<TakenField>() }))`
    with rules as (
      select coalesce((body ->> 'duplicateEmailsAllowed')::boolean, false) as shared,
        coalesce((body ->> 'loginWithEmailAllowed')::boolean, false) as named_by_email
      from realm where number = ${realm}
    ), reserved as (
      update user_account u set sole_email = case when r.shared then null else u.email end
      from rules r where u.realm = ${realm} and u.id = any(${ids})
        and u.sole_email is distinct from case when r.shared then null else u.email end
    )
    select case when o.email = u.username then 'username' else 'email' end as field
    from rules r cross join user_account u join user_account o on o.realm = u.realm and o.id <> u.id
      and (o.email = u.email or r.named_by_email and (o.email = u.username or o.username = u.email))
    where u.realm = ${realm} and u.id = any(${ids}) and not r.shared
    limit 1`.first(tx)
  return taken?.field
}

/** Reserves the addresses of all users of a realm anew: of those who share one, for the oldest account. One statement. */
export async function reserveAllAddresses(tx: Transaction, realm: number, areShared: boolean): Promise<void> {
  await sql`
    update user_account u set sole_email = case when f.place = 1 and not ${areShared}::boolean then u.email end
    from (
      select id, row_number() over (
        partition by email order by (body ->> 'createdTimestamp')::bigint nulls last, id) as place
      from user_account where realm = ${realm} and email is not null
    ) f
    where u.realm = ${realm} and u.id = f.id`.execute(tx)
}

/** Makes new users members of the groups that everybody new joins. One statement. */
export async function insertDefaultGroups(tx: Transaction, realm: number, users: readonly string[]): Promise<void> {
  await sql`
    insert into user_group (realm, user_account, realm_group)
    select ${realm}::integer, u.id, g.realm_group
    from realm_default_group g cross join unnest(${users}::text[]) as u(id)
    where g.realm = ${realm}
    on conflict do nothing`.execute(tx)
}

const nameRulesRow = row({
  nameMayChange: boolean,
  /** The usual language; null: English. */
  language: optional(text),
  /** Whether the realm has identity providers. */
  providers: boolean,
})

/** What a realm's settings say of its people. */
export type NameRules = RowOf<typeof nameRulesRow>

/** What a realm's settings say of the names and the language of its people. One statement. */
export async function findNameRules(tx: Transaction, realm: number): Promise<NameRules> {
  return rows(nameRulesRow)`
    select coalesce((r.body ->> 'editUsernameAllowed')::boolean, false) as "nameMayChange",
      case when (r.body ->> 'internationalizationEnabled')::boolean then r.body ->> 'defaultLocale' end as language,
      exists (select from identity_provider p where p.realm = r.number) as providers
    from realm r where r.number = ${realm}`.one(tx)
}
