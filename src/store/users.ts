// People and service accounts, as far as log-in needs them.
import { sql } from 'kysely'
import type { Representation } from '../kinds/kind.ts'
import type { Transaction } from './database.ts'

/** A user as it is kept. */
export interface StoredUser {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly serviceAccountClient: string | null
  readonly body: Representation
}

/** A user with the passwords that they have: one, or none. */
export type UserAtLogin = StoredUser & {
  readonly passwords: readonly { readonly id: string; readonly createdAt: string; readonly body: Representation }[]
}

/** The user with that folded user name or, where the realm lets people log in by it, e-mail address. One statement. */
export async function findUserForLogin(
  tx: Transaction,
  realm: number,
  name: string,
  byEmail: boolean,
): Promise<UserAtLogin | undefined> {
  const { rows } = await sql<UserAtLogin>`
    select u.id, u.username, u.email, u.service_account_client as "serviceAccountClient", u.body,
      (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'createdAt', c.created_at, 'body', c.body) order by c.place), '[]')
        from credential c where c.realm = u.realm and c.user_account = u.id and c.type = 'password') as passwords
    from user_account u
    where u.realm = ${realm} and (u.username = ${name} ${byEmail ? sql`or u.email = ${name}` : sql``})
    order by u.username <> ${name}
    limit 1`.execute(tx)
  return rows[0]
}

/** The user with that id. One statement. */
export async function findUser(tx: Transaction, realm: number, id: string): Promise<StoredUser | undefined> {
  const { rows } = await sql<StoredUser>`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and id = ${id}`.execute(tx)
  return rows[0]
}

/** Disables a user, and gives them attributes that say why; false where they are disabled already. One statement. */
export async function disableForGood(
  tx: Transaction,
  realm: number,
  id: string,
  attributes: Readonly<Record<string, readonly string[]>>,
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
  id: string,
  action: string,
): Promise<string[] | undefined> {
  const { rows } = await sql<{ before: string[] }>`
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
    returning w.actions as before`.execute(tx)
  return rows[0]?.before
}

/** The account of the client with that id. One statement. */
export async function findServiceAccount(
  tx: Transaction,
  realm: number,
  client: string,
): Promise<StoredUser | undefined> {
  const { rows } = await sql<StoredUser>`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and service_account_client = ${client}`.execute(tx)
  return rows[0]
}

/** Whether the realm has people; service accounts are none. One statement. */
export async function hasPeople(tx: Transaction, realm: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from user_account
      where realm = ${realm} and service_account_client is null) as found`.execute(tx)
  return rows[0]!.found
}

/** The ids of the service accounts of clients. One statement. */
export async function selectServiceAccounts(
  tx: Transaction,
  realm: number,
  clients: readonly string[],
): Promise<{ id: string; client: string }[]> {
  const { rows } = await sql<{ id: string; client: string }>`
    select id, service_account_client as client
    from user_account where realm = ${realm} and service_account_client = any(${clients})`.execute(tx)
  return rows
}

/** The mail addresses among these that several users have, in a realm where that must not be. One statement. */
export async function selectSharedMail(
  tx: Transaction,
  realm: number,
  addresses: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select u.email from user_account u join realm r on r.number = u.realm
    where u.realm = ${realm} and u.email = any(${addresses})
      and not coalesce((r.body ->> 'duplicateEmailsAllowed')::boolean, false)
    group by u.email having count(*) > 1`.execute(tx)
  return rows.map(({ email }) => email)
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

/** What a realm's settings say of its people. */
export interface NameRules {
  readonly nameMayChange: boolean
  /** The usual language; null: English. */
  readonly language: string | null
  /** Whether the realm has identity providers. */
  readonly providers: boolean
}

/** What a realm's settings say of the names and the language of its people. One statement. */
export async function findNameRules(tx: Transaction, realm: number): Promise<NameRules> {
  const { rows } = await sql<NameRules>`
    select coalesce((r.body ->> 'editUsernameAllowed')::boolean, false) as "nameMayChange",
      case when (r.body ->> 'internationalizationEnabled')::boolean then r.body ->> 'defaultLocale' end as language,
      exists (select from identity_provider p where p.realm = r.number) as providers
    from realm r where r.number = ${realm}`.execute(tx)
  return rows[0]!
}
