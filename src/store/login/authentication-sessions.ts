// Authentication sessions: logins in progress, by browser and tab. The next form must send `code`.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { json, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteExpired } from '../delete-expired.ts'

/** The key of an authentication session: `id` is shared by all tabs of a browser. */
export interface AuthenticationSessionKey {
  readonly id: string
  readonly tab: string
}

const authenticationSessionRow = row({
  id: text,
  tab: text,
  code: text,
  expiresAt: timestamp,
  body: json<Representation>(),
})

/** A stored authentication session. */
export type AuthenticationSession = RowOf<typeof authenticationSessionRow>

/** Inserts an authentication session, and deletes the oldest ones of its browser above `maxPerBrowser`. One statement. */
export async function insertAuthenticationSession(
  tx: Transaction,
  realm: number,
  {
    session: { id, tab, code, expiresAt, body },
    mostOfBrowser: maxPerBrowser,
  }: { readonly session: AuthenticationSession; readonly mostOfBrowser: number },
): Promise<void> {
  await sql`
    with oldest as (
      delete from authentication_session where realm = ${realm} and id = ${id} and tab in (
        select tab from authentication_session where realm = ${realm} and id = ${id}
        order by expires_at desc offset ${maxPerBrowser - 1})
    )
    insert into authentication_session (realm, id, tab, code, expires_at, body)
    values (${realm}, ${id}, ${tab}, ${code}, ${expiresAt}, ${JSON.stringify(body)}::jsonb)`.execute(tx)
}

/** Deletes the oldest authentication sessions of a realm above `max`. One statement. */
export async function deleteOldestAuthenticationSessions(tx: Transaction, realm: number, max: number): Promise<void> {
  await sql`
    delete from authentication_session where realm = ${realm} and expires_at <= (
      select expires_at from authentication_session where realm = ${realm}
      order by expires_at desc offset ${max} limit 1)`.execute(tx)
}

/** Returns an authentication session that is not expired. One statement. */
export async function findAuthenticationSession(
  tx: Transaction,
  realm: number,
  { login: { id, tab }, now }: { readonly login: AuthenticationSessionKey; readonly now: Date },
): Promise<AuthenticationSession | undefined> {
  return query(authenticationSessionRow)`
    select id, tab, code, expires_at as "expiresAt", body from authentication_session
    where realm = ${realm} and id = ${id} and tab = ${tab} and expires_at > ${now}`.first(tx)
}

/** The session code that a browser sent to continue a login, and the code that replaces it. */
export interface CodeRotation {
  readonly login: AuthenticationSessionKey
  readonly code: string
  readonly next: string
  readonly now: Date
}

/** Replaces the code of an authentication session, and returns the session. Of several requests with the same code only one succeeds. One statement. */
export async function rotateCode(
  tx: Transaction,
  realm: number,
  { login: { id, tab }, code, next, now }: CodeRotation,
): Promise<AuthenticationSession | undefined> {
  return query(authenticationSessionRow)`
    update authentication_session set code = ${next}
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code} and expires_at > ${now}
    returning id, tab, code, expires_at as "expiresAt", body`.first(tx)
}

/** Updates an authentication session. Returns false, and changes nothing, if its code was replaced meanwhile. One statement. */
export async function updateAuthenticationSession(
  tx: Transaction,
  realm: number,
  {
    login: { id, tab },
    session: { id: next, code, expiresAt, body },
  }: { readonly login: AuthenticationSessionKey; readonly session: AuthenticationSession },
): Promise<boolean> {
  const { rows } = await sql`
    update authentication_session
    set id = ${next}, expires_at = ${expiresAt}, body = ${JSON.stringify(body)}::jsonb
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code}
    returning id`.execute(tx)
  return rows.length === 1
}

/** Changes the id of the authentication sessions of a browser. One statement. */
export async function changeAuthenticationSessionId(
  tx: Transaction,
  realm: number,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await sql`
    update authentication_session set id = ${to} where realm = ${realm} and id = ${from}`.execute(tx)
}

/** Deletes an authentication session. Returns false, and changes nothing, if its code was replaced meanwhile. One statement. */
export async function deleteAuthenticationSession(
  tx: Transaction,
  realm: number,
  { id, tab, code }: AuthenticationSessionKey & { readonly code: string },
): Promise<boolean> {
  const { rows } = await sql`
    delete from authentication_session
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code} returning id`.execute(tx)
  return rows.length === 1
}

/** Deletes at most `limit` expired authentication sessions, and returns their number. One statement. */
export function deleteExpiredAuthenticationSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`old.expires_at <= ${now}::timestamptz`
  return deleteExpired(tx, { table: 'authentication_session', key: ['id', 'tab'], when }, limit)
}
