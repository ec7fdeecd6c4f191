// Credentials of users: password hashes, OTP secrets, passkeys.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE, equalsAny, integer, json, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** A credential to write; `position` orders those of a user. */
export interface CredentialRow {
  readonly id: string
  readonly user_account: string
  readonly type: string
  readonly position: number
  readonly created_at: string
  readonly body: Representation
}

const storedCredentialRow = row({
  id: text,
  user: text,
  type: text,
  position: integer,
  createdAt: timestamp,
  body: json<Representation>(),
})

/** A stored credential. Its secret data is sealed. */
export type StoredCredential = RowOf<typeof storedCredentialRow>

/** Inserts credentials. One statement per chunk. */
export async function insertCredentials(tx: Transaction, realm: number, rows: readonly CredentialRow[]): Promise<void> {
  for (const chunk of chunks(rows, CHUNK_SIZE)) {
    await sql`
      insert into credential (realm, id, user_account, type, position, created_at, body)
      select ${realm}::integer, x.id, x.user_account, x.type, x.position, x.created_at, x.body
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb)
        as x(id text, user_account text, type text, position integer, created_at timestamptz, body jsonb)`.execute(tx)
  }
}

/** Deletes the credentials of users by type. One statement per chunk. */
export async function deleteCredentials(
  tx: Transaction,
  realm: number,
  types: readonly { readonly user_account: string; readonly type: string }[],
): Promise<void> {
  for (const chunk of chunks(types, CHUNK_SIZE)) {
    await sql`
      delete from credential c
      using jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(user_account text, type text)
      where c.realm = ${realm} and c.user_account = x.user_account and c.type = x.type`.execute(tx)
  }
}

/** Moves the passwords of users to their password history. One statement. */
export async function archivePasswords(tx: Transaction, realm: number, users: readonly string[]): Promise<void> {
  await sql`
    update credential set type = 'password-history', id = gen_random_uuid()::text, position = position + 1
    where realm = ${realm} and user_account ${equalsAny(users)} and type = 'password'`.execute(tx)
}

/** Deletes from the password history all but the latest `count` passwords of each user and those since a time. One statement. */
export async function deleteOldPasswords(
  tx: Transaction,
  realm: number,
  { users, count, since }: { readonly users: readonly string[]; readonly count: number; readonly since: Date },
): Promise<void> {
  await sql`
    delete from credential c
    using (
      select id, created_at, row_number() over (partition by user_account order by created_at desc, id) as age
      from credential where realm = ${realm} and user_account ${equalsAny(users)} and type = 'password-history'
    ) history
    where c.realm = ${realm} and c.id = history.id and history.age > ${count} and history.created_at <= ${since}`.execute(
    tx,
  )
}

/** Returns the credentials of users, in order of preference. One statement. */
export async function selectCredentials(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<StoredCredential[]> {
  return query(storedCredentialRow)`
    select id, user_account as user, type, position, created_at as "createdAt", body
    from credential where realm = ${realm} and user_account ${equalsAny(users)}
    order by user_account, position, id`.all(tx)
}

/** Deletes credentials. One statement. */
export async function deleteCredentialsById(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from credential where realm = ${realm} and id = any(${ids})`.execute(tx)
}

/** Replaces the hash of a password, unless the password was changed meanwhile. One statement. */
export async function replaceHash(
  tx: Transaction,
  realm: number,
  { id, before, after }: { readonly id: string; readonly before: Representation; readonly after: Representation },
): Promise<void> {
  await sql`
    update credential set body = ${JSON.stringify(after)}::jsonb
    where realm = ${realm} and id = ${id} and body = ${JSON.stringify(before)}::jsonb`.execute(tx)
}

/** Sets the label of a credential, if the credential exists. One statement. */
export async function labelCredential(
  tx: Transaction,
  realm: number,
  { id, label }: { readonly id: string; readonly label: string },
): Promise<void> {
  await sql`
    update credential set body = body || jsonb_build_object('userLabel', ${label}::text)
    where realm = ${realm} and id = ${id}`.execute(tx)
}

/** Replaces the credential data. Returns false, and changes nothing, if it was changed meanwhile. One statement. */
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

/** Sets the positions of credentials. One statement. */
export async function reorderCredentials(
  tx: Transaction,
  realm: number,
  positions: readonly { readonly id: string; readonly position: number }[],
): Promise<void> {
  await sql`
    update credential c set position = x.position
    from jsonb_to_recordset(${JSON.stringify(positions)}::jsonb) as x(id text, position integer)
    where c.realm = ${realm} and c.id = x.id`.execute(tx)
}
