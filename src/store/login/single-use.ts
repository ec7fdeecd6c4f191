// What may be used once only: authorization codes, ids of assertions, tokens that were revoked or that are an errand's.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { integer, json, row, rows } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteOver } from '../delete-over.ts'

/** What is kept of something that may be used once. */
export interface SingleUse {
  readonly key: string
  readonly expiresAt: Date
  readonly body: Representation
}

/** Keeps something for its one use. One statement. */
export async function insertSingleUse(
  tx: Transaction,
  realm: number,
  { key, expiresAt, body }: SingleUse,
): Promise<void> {
  await sql`
    insert into single_use (realm, key, uses, expires_at, body)
    values (${realm}, ${key}, 0, ${expiresAt}, ${JSON.stringify(body)}::jsonb)`.execute(tx)
}

/** Uses what is kept and is not over, and says how often it has been used with that: exact, whoever else uses it. One statement. */
export async function useKept(
  tx: Transaction,
  realm: number,
  { key, now }: { readonly key: string; readonly now: Date },
): Promise<{ uses: number; body: Representation } | undefined> {
  return rows(row({ uses: integer, body: json<Representation>() }))`
    update single_use set uses = uses + 1
    where realm = ${realm} and key = ${key} and expires_at > ${now}
    returning uses, body`.first(tx)
}

/** Uses a key that nobody kept before, and says how often it has been used with that. One statement. */
export async function useKey(tx: Transaction, realm: number, { key, expiresAt, body }: SingleUse): Promise<number> {
  const { uses } = await rows(row({ uses: integer }))`
    insert into single_use as kept (realm, key, uses, expires_at, body)
    values (${realm}, ${key}, 1, ${expiresAt}, ${JSON.stringify(body)}::jsonb)
    on conflict (realm, key) do update set uses = kept.uses + 1
    returning uses`.one(tx)
  return uses
}

/** Whether a key has been used. One statement. */
export async function hasUses(tx: Transaction, realm: number, key: string): Promise<boolean> {
  const { rows } = await sql`
    select from single_use where realm = ${realm} and key = ${key} and uses > 0`.execute(tx)
  return rows.length > 0
}

/** Forgets what is over, at most so much; gives how much. One statement. */
export function deleteExpiredSingleUses(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`old.expires_at <= ${now}::timestamptz`
  return deleteOver(tx, { table: 'single_use', key: ['key'], when }, limit)
}
