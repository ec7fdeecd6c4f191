// What people log in with: hashes of passwords, secrets of one-time codes and so on.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { chunks } from '../../lib/chunks.ts'
import { integer, json, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { CHUNK } from '../objects.ts'

/** A credential to write; `place` orders those of a user. */
export interface CredentialRow {
  readonly id: string
  readonly user_account: string
  readonly type: string
  readonly place: number
  readonly created_at: string
  readonly body: Representation
}

const storedCredentialRow = row({
  id: text,
  user: text,
  type: text,
  place: integer,
  createdAt: timestamp,
  body: json<Representation>(),
})

/** A credential as it is kept; what is secret of it is sealed. */
export type StoredCredential = RowOf<typeof storedCredentialRow>

/** Writes credentials. One statement per chunk. */
export async function insertCredentials(tx: Transaction, realm: number, rows: readonly CredentialRow[]): Promise<void> {
  for (const chunk of chunks(rows, CHUNK)) {
    await sql`
      insert into credential (realm, id, user_account, type, place, created_at, body)
      select ${realm}::integer, x.id, x.user_account, x.type, x.place, x.created_at, x.body
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb)
        as x(id text, user_account text, type text, place integer, created_at timestamptz, body jsonb)`.execute(tx)
  }
}

/** Deletes the credentials that users have of the named types. One statement per chunk. */
export async function deleteCredentials(
  tx: Transaction,
  realm: number,
  which: readonly { readonly user_account: string; readonly type: string }[],
): Promise<void> {
  for (const chunk of chunks(which, CHUNK)) {
    await sql`
      delete from credential c
      using jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(user_account text, type text)
      where c.realm = ${realm} and c.user_account = x.user_account and c.type = x.type`.execute(tx)
  }
}

/** Makes the passwords that users have passwords of the past. One statement. */
export async function keepPasswords(tx: Transaction, realm: number, users: readonly string[]): Promise<void> {
  await sql`
    update credential set type = 'password-history', id = gen_random_uuid()::text, place = place + 1
    where realm = ${realm} and user_account = any(${users}) and type = 'password'`.execute(tx)
}

/** Deletes passwords of the past that are neither among the latest of their user nor from after a time. One statement. */
export async function forgetPasswords(
  tx: Transaction,
  realm: number,
  { users, count, since }: { readonly users: readonly string[]; readonly count: number; readonly since: Date },
): Promise<void> {
  await sql`
    delete from credential c
    using (
      select id, created_at, row_number() over (partition by user_account order by created_at desc, id) as age
      from credential where realm = ${realm} and user_account = any(${users}) and type = 'password-history'
    ) past
    where c.realm = ${realm} and c.id = past.id and past.age > ${count} and past.created_at <= ${since}`.execute(tx)
}

/** The credentials of users, in the order in which each prefers them. One statement. */
export async function selectCredentials(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<StoredCredential[]> {
  return rows(storedCredentialRow)`
    select id, user_account as user, type, place, created_at as "createdAt", body
    from credential where realm = ${realm} and user_account = any(${users})
    order by user_account, place, id`.all(tx)
}

/** Deletes the credentials with these ids. One statement. */
export async function deleteCredentialsById(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from credential where realm = ${realm} and id = any(${ids})`.execute(tx)
}

/** Keeps a password hashed otherwise, unless it is another one by now. One statement. */
export async function replaceHash(
  tx: Transaction,
  realm: number,
  { id, before, after }: { readonly id: string; readonly before: Representation; readonly after: Representation },
): Promise<void> {
  await sql`
    update credential set body = ${JSON.stringify(after)}::jsonb
    where realm = ${realm} and id = ${id} and body = ${JSON.stringify(before)}::jsonb`.execute(tx)
}

/** Gives a credential a label. One statement. */
export async function labelCredential(
  tx: Transaction,
  realm: number,
  { id, label }: { readonly id: string; readonly label: string },
): Promise<void> {
  await sql`
    update credential set body = body || jsonb_build_object('userLabel', ${label}::text)
    where realm = ${realm} and id = ${id}`.execute(tx)
}

/** Changes what a credential says of itself, unless somebody was faster: whether nobody was. One statement. */
export async function updateCredentialData(
  tx: Transaction,
  realm: number,
  { id, before, after }: { readonly id: string; readonly before: string; readonly after: string },
): Promise<boolean> {
  const { rows } = await sql`
    update credential set body = body || jsonb_build_object('credentialData', ${after}::text)
    where realm = ${realm} and id = ${id} and body ->> 'credentialData' = ${before}
    returning id`.execute(tx)
  return rows.length === 1
}

/** Orders credentials. One statement. */
export async function placeCredentials(
  tx: Transaction,
  realm: number,
  places: readonly { readonly id: string; readonly place: number }[],
): Promise<void> {
  await sql`
    update credential c set place = x.place
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as x(id text, place integer)
    where c.realm = ${realm} and c.id = x.id`.execute(tx)
}
