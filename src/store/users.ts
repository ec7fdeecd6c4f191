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

/** A credential as it is kept: the hash with its parameters. */
export interface StoredCredential {
  readonly id: string
  readonly type: string
  readonly body: Representation
}

/** A user to write. */
export interface UserRow {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly service_account_client: string | null
  readonly body: Representation
}

/** A credential to write; `place` orders those of a user. */
export interface CredentialRow {
  readonly id: string
  readonly user_account: string
  readonly type: string
  readonly place: number
  readonly body: Representation
}

/** The user with that folded user name or, where the realm lets people log in by it, e-mail address. One statement. */
export async function findUserForLogin(
  tx: Transaction,
  realm: number,
  name: string,
  byEmail: boolean,
): Promise<(StoredUser & { credentials: StoredCredential[] }) | undefined> {
  const { rows } = await sql<StoredUser & { credentials: StoredCredential[] }>`
    select u.id, u.username, u.email, u.service_account_client as "serviceAccountClient", u.body,
      (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'type', c.type, 'body', c.body) order by c.place), '[]')
        from credential c where c.realm = u.realm and c.user_account = u.id) as credentials
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

/** Whether the realm has people; service accounts are none. One statement. */
export async function hasPeople(tx: Transaction, realm: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from user_account
      where realm = ${realm} and service_account_client is null) as found`.execute(tx)
  return rows[0]!.found
}

/** Writes new users. One statement. */
export async function insertUsers(
  tx: Transaction,
  realm: number,
  version: number,
  users: readonly UserRow[],
): Promise<void> {
  await sql`
    insert into user_account (realm, id, username, email, service_account_client, version, body)
    select ${realm}::integer, x.id, x.username, x.email, x.service_account_client, ${version}::bigint, x.body
    from jsonb_to_recordset(${JSON.stringify(users)}::jsonb)
      as x(id text, username text, email text, service_account_client text, body jsonb)`.execute(tx)
}

/** The service accounts of clients. One statement. */
export async function selectServiceAccounts(
  tx: Transaction,
  realm: number,
  clients: readonly string[],
): Promise<StoredUser[]> {
  const { rows } = await sql<StoredUser>`
    select id, username, email, service_account_client as "serviceAccountClient", body
    from user_account where realm = ${realm} and service_account_client = any(${clients})`.execute(tx)
  return rows
}

/** Gives users other names. One statement. */
export async function renameServiceAccounts(
  tx: Transaction,
  realm: number,
  users: readonly { id: string; username: string }[],
): Promise<void> {
  await sql`
    update user_account u set username = x.username
    from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as x(id text, username text)
    where u.realm = ${realm} and u.id = x.id`.execute(tx)
}

/** Deletes the service accounts of clients. One statement. */
export async function deleteServiceAccounts(tx: Transaction, realm: number, clients: readonly string[]): Promise<void> {
  await sql`
    delete from user_account where realm = ${realm} and service_account_client = any(${clients})`.execute(tx)
}

/** Writes credentials. One statement. */
export async function insertCredentials(
  tx: Transaction,
  realm: number,
  at: Date,
  rows: readonly CredentialRow[],
): Promise<void> {
  await sql`
    insert into credential (realm, id, user_account, type, place, created_at, body)
    select ${realm}::integer, x.id, x.user_account, x.type, x.place, ${at}::timestamptz, x.body
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as x(id text, user_account text, type text, place integer, body jsonb)`.execute(tx)
}

/** Deletes the credentials of one type that users have. One statement. */
export async function deleteCredentials(
  tx: Transaction,
  realm: number,
  users: readonly string[],
  type: string,
): Promise<void> {
  await sql`
    delete from credential where realm = ${realm} and user_account = any(${users}) and type = ${type}`.execute(tx)
}
