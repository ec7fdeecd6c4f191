// Single-use objects: authorization codes, ids of assertions, revoked tokens, action tokens. Keycloak: SingleUseObjectProvider.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { integer, json, query, row } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteExpired } from '../delete-expired.ts'

/** A value that can be used once, such as an authorization code, to store. */
export interface SingleUse {
  readonly key: string
  readonly expiresAt: Date
  readonly body: Representation
}

/** Stores an unused object. One statement. */
export async function insertSingleUse(
  tx: Transaction,
  realm: number,
  { key, expiresAt, body }: SingleUse,
): Promise<void> {
  await sql`
    insert into single_use (realm, key, uses, expires_at, body)
    values (${realm}, ${key}, 0, ${expiresAt}, ${JSON.stringify(body)}::jsonb)`.execute(tx)
}

/** Uses a stored object that is not expired. Returns it with the number of its uses, this one included; exact under concurrency. One statement. */
export async function useStored(
  tx: Transaction,
  realm: number,
  { key, now }: { readonly key: string; readonly now: Date },
): Promise<{ uses: number; body: Representation } | undefined> {
  return query(row({ uses: integer, body: json<Representation>() }))`
    update single_use set uses = uses + 1
    where realm = ${realm} and key = ${key} and expires_at > ${now}
    returning uses, body`.first(tx)
}

/** Returns the body of a stored object that is not expired, used or not; undefined if there is none. One statement. */
export async function findStored(
  tx: Transaction,
  realm: number,
  { key, now }: { readonly key: string; readonly now: Date },
): Promise<Representation | undefined> {
  const stored = await query(row({ body: json<Representation>() }))`
    select body from single_use where realm = ${realm} and key = ${key} and expires_at > ${now}`.first(tx)
  return stored?.body
}

/** Uses a key that need not be stored. Returns the number of its uses, this one included. One statement. */
export async function recordUse(tx: Transaction, realm: number, { key, expiresAt, body }: SingleUse): Promise<number> {
  const { uses } = await query(row({ uses: integer }))`
    insert into single_use as stored (realm, key, uses, expires_at, body)
    values (${realm}, ${key}, 1, ${expiresAt}, ${JSON.stringify(body)}::jsonb)
    on conflict (realm, key) do update set uses = stored.uses + 1
    returning uses`.firstOrThrow(tx)
  return uses
}

/** Whether a value that may be used only once, such as an authorization code, was used. `key` identifies it. One statement. */
export async function isUsed(tx: Transaction, realm: number, key: string): Promise<boolean> {
  const { rows } = await sql`
    select from single_use where realm = ${realm} and key = ${key} and uses > 0`.execute(tx)
  return rows.length > 0
}

/** Deletes at most `limit` expired objects, and returns their number. One statement. */
export function deleteExpiredSingleUses(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`old.expires_at <= ${now}::timestamptz`
  return deleteExpired(tx, { table: 'single_use', key: ['key'], when }, limit)
}
