// Tokens of client registration: initial access tokens, and the registration access tokens of clients.
import { sql } from 'kysely'
import { integer, query, type RowOf, row, text, timestamp } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { deleteExpired } from './delete-expired.ts'

const initialTokenRow = row({
  id: text,
  createdAt: timestamp,
  /** Seconds; 0: it does not expire. */
  lifespan: integer,
  /** The number of clients that it can register, and how many of them remain. */
  count: integer,
  remaining: integer,
})

/** A token that registers a number of clients. */
export type InitialAccessToken = RowOf<typeof initialTokenRow>

/** Inserts an initial access token. One statement. */
export async function insertInitialToken(
  tx: Transaction,
  realm: number,
  { id, createdAt, lifespan, count }: Omit<InitialAccessToken, 'remaining'>,
): Promise<void> {
  await sql`
    insert into initial_access_token (realm, id, created_at, lifespan, count, remaining)
    values (${realm}, ${id}, ${createdAt}, ${lifespan}, ${count}, ${count})`.execute(tx)
}

/** Returns the initial access tokens of a realm, the oldest first. One statement. */
export function selectInitialTokens(tx: Transaction, realm: number): Promise<InitialAccessToken[]> {
  return query(initialTokenRow)`
    select id, created_at as "createdAt", lifespan, count, remaining
    from initial_access_token where realm = ${realm} order by created_at, id`.all(tx)
}

/** Returns an initial access token; undefined if it does not exist. One statement. */
export function findInitialToken(tx: Transaction, realm: number, id: string): Promise<InitialAccessToken | undefined> {
  return query(initialTokenRow)`
    select id, created_at as "createdAt", lifespan, count, remaining
    from initial_access_token where realm = ${realm} and id = ${id}`.first(tx)
}

/** Uses an initial access token for one client. Returns whether it could be used; exact under concurrency. One statement. */
export async function useInitialToken(tx: Transaction, realm: number, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update initial_access_token set remaining = remaining - 1
    where realm = ${realm} and id = ${id} and remaining > 0`.execute(tx)
  return numAffectedRows === 1n
}

/** Deletes an initial access token, if it exists. Returns whether it did. One statement. */
export async function deleteInitialToken(tx: Transaction, realm: number, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from initial_access_token where realm = ${realm} and id = ${id}`.execute(tx)
  return numAffectedRows === 1n
}

/** Deletes at most `limit` initial access tokens that have expired or are used up, and returns their number. One statement. */
export function deleteExpiredInitialTokens(tx: Transaction, now: Date, limit: number): Promise<number> {
  const isExpired = sql`old.lifespan > 0 and old.created_at + old.lifespan * interval '1 second' <= ${now}::timestamptz`
  const when = sql`(old.remaining = 0 or (${isExpired}))`
  return deleteExpired(tx, { table: 'initial_access_token', key: ['id'], when }, limit)
}

/** Stores the id of the registration access token of a client, which replaces the previous one. One statement. */
export async function setRegistrationToken(
  tx: Transaction,
  realm: number,
  { client, id }: { readonly client: string; readonly id: string },
): Promise<void> {
  await sql`
    insert into registration_access_token (realm, client, id) values (${realm}, ${client}, ${id})
    on conflict (realm, client) do update set id = excluded.id`.execute(tx)
}

/** Returns the id of the registration access token of a client; undefined if it has none. One statement. */
export async function findRegistrationToken(
  tx: Transaction,
  realm: number,
  client: string,
): Promise<string | undefined> {
  const token = await query(row({ id: text }))`
    select id from registration_access_token where realm = ${realm} and client = ${client}`.first(tx)
  return token?.id
}

/** Returns the number of clients of a realm. One statement. */
export async function countClients(tx: Transaction, realm: number): Promise<number> {
  const { count } = await query(row({ count: integer }))`
    select count(*)::integer as count from client where realm = ${realm}`.firstOrThrow(tx)
  return count
}
