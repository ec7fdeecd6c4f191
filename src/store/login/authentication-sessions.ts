// Log-ins that people are about to do, by browser and tab. `code` is what the next form must bring.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { json, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteOver } from '../delete-over.ts'

/** Which log-in: of a browser, in one of its tabs. */
export interface Tab {
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

/** A log-in as it is kept. */
export type AuthenticationSession = RowOf<typeof authenticationSessionRow>

/** Keeps a new log-in. Of its browser the oldest go where there are more than so many with it. One statement. */
export async function insertAuthenticationSession(
  tx: Transaction,
  realm: number,
  {
    session: { id, tab, code, expiresAt, body },
    mostOfBrowser,
  }: { readonly session: AuthenticationSession; readonly mostOfBrowser: number },
): Promise<void> {
  await sql`
    with oldest as (
      delete from authentication_session where realm = ${realm} and id = ${id} and tab in (
        select tab from authentication_session where realm = ${realm} and id = ${id}
        order by expires_at desc offset ${mostOfBrowser - 1})
    )
    insert into authentication_session (realm, id, tab, code, expires_at, body)
    values (${realm}, ${id}, ${tab}, ${code}, ${expiresAt}, ${JSON.stringify(body)}::jsonb)`.execute(tx)
}

/** Forgets the oldest log-ins of a realm where there are more than so many. One statement. */
export async function deleteOldestAuthenticationSessions(tx: Transaction, realm: number, most: number): Promise<void> {
  await sql`
    delete from authentication_session where realm = ${realm} and expires_at <= (
      select expires_at from authentication_session where realm = ${realm}
      order by expires_at desc offset ${most} limit 1)`.execute(tx)
}

/** A log-in that is not over. One statement. */
export async function findAuthenticationSession(
  tx: Transaction,
  realm: number,
  { login: { id, tab }, now }: { readonly login: Tab; readonly now: Date },
): Promise<AuthenticationSession | undefined> {
  return rows(authenticationSessionRow)`
    select id, tab, code, expires_at as "expiresAt", body from authentication_session
    where realm = ${realm} and id = ${id} and tab = ${tab} and expires_at > ${now}`.first(tx)
}

/** An attempt to take the code of a login, with the code that comes next. */
export interface CodeExchange {
  readonly login: Tab
  readonly code: string
  readonly next: string
  readonly now: Date
}

/** Takes the code of a log-in and gives it the next one: of several that bring the same code one succeeds. One statement. */
export async function takeCode(
  tx: Transaction,
  realm: number,
  { login: { id, tab }, code, next, now }: CodeExchange,
): Promise<AuthenticationSession | undefined> {
  return rows(authenticationSessionRow)`
    update authentication_session set code = ${next}
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code} and expires_at > ${now}
    returning id, tab, code, expires_at as "expiresAt", body`.first(tx)
}

/** Keeps how far a log-in is, unless somebody has taken its code meanwhile: whether nobody has. One statement. */
export async function updateAuthenticationSession(
  tx: Transaction,
  realm: number,
  {
    login: { id, tab },
    session: { id: next, code, expiresAt, body },
  }: { readonly login: Tab; readonly session: AuthenticationSession },
): Promise<boolean> {
  const { rows } = await sql`
    update authentication_session
    set id = ${next}, expires_at = ${expiresAt}, body = ${JSON.stringify(body)}::jsonb
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code}
    returning id`.execute(tx)
  return rows.length === 1
}

/** Gives the log-ins of a browser another id. One statement. */
export async function moveAuthenticationSessions(
  tx: Transaction,
  realm: number,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await sql`
    update authentication_session set id = ${to} where realm = ${realm} and id = ${from}`.execute(tx)
}

/** Ends a log-in, unless somebody has taken its code meanwhile: whether nobody has. One statement. */
export async function deleteAuthenticationSession(
  tx: Transaction,
  realm: number,
  { id, tab, code }: Tab & { readonly code: string },
): Promise<boolean> {
  const { rows } = await sql`
    delete from authentication_session
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code} returning id`.execute(tx)
  return rows.length === 1
}

/** Forgets log-ins that are over, at most so many; gives how many. One statement. */
export function deleteExpiredAuthenticationSessions(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`old.expires_at <= ${now}::timestamptz`
  return deleteOver(tx, { table: 'authentication_session', key: ['id', 'tab'], when }, limit)
}
