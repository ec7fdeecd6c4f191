// Log-ins that people are about to do, by browser and tab. `code` is what the next form must bring.
import { sql } from 'kysely'
import type { Representation } from '../kinds/kind.ts'
import type { Transaction } from './database.ts'
import { deleteOver } from './delete-over.ts'

/** Which log-in: of a browser, in one of its tabs. */
export interface Tab {
  readonly id: string
  readonly tab: string
}

/** A log-in as it is kept. */
export interface AuthenticationSession extends Tab {
  readonly code: string
  readonly expiresAt: Date
  readonly body: Representation
}

/** Keeps a new log-in. One statement. */
export async function insertAuthenticationSession(
  tx: Transaction,
  realm: number,
  { id, tab, code, expiresAt, body }: AuthenticationSession,
): Promise<void> {
  await sql`
    insert into authentication_session (realm, id, tab, code, expires_at, body)
    values (${realm}, ${id}, ${tab}, ${code}, ${expiresAt}, ${JSON.stringify(body)}::jsonb)`.execute(tx)
}

/** A log-in that is not over. One statement. */
export async function findAuthenticationSession(
  tx: Transaction,
  realm: number,
  { id, tab }: Tab,
  now: Date,
): Promise<AuthenticationSession | undefined> {
  const { rows } = await sql<AuthenticationSession>`
    select id, tab, code, expires_at as "expiresAt", body from authentication_session
    where realm = ${realm} and id = ${id} and tab = ${tab} and expires_at > ${now}`.execute(tx)
  return rows[0]
}

/** Takes the code of a log-in and gives it the next one: of several that bring the same code one succeeds. One statement. */
export async function takeCode(
  tx: Transaction,
  realm: number,
  { id, tab }: Tab,
  code: string,
  next: string,
  now: Date,
): Promise<AuthenticationSession | undefined> {
  const { rows } = await sql<AuthenticationSession>`
    update authentication_session set code = ${next}
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code} and expires_at > ${now}
    returning id, tab, code, expires_at as "expiresAt", body`.execute(tx)
  return rows[0]
}

/** Keeps how far a log-in is, unless somebody has taken its code meanwhile: whether nobody has. One statement. */
export async function updateAuthenticationSession(
  tx: Transaction,
  realm: number,
  { id, tab, code, expiresAt, body }: AuthenticationSession,
): Promise<boolean> {
  const { rows } = await sql`
    update authentication_session set expires_at = ${expiresAt}, body = ${JSON.stringify(body)}::jsonb
    where realm = ${realm} and id = ${id} and tab = ${tab} and code = ${code}
    returning id`.execute(tx)
  return rows.length === 1
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
