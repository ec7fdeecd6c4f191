// What a token stands on: the client that got it, the credential of its user; and who stands above every realm.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** A client that tokens name. */
export interface TokenClient {
  readonly enabled: boolean
  readonly fullScope: boolean
  /** Tokens from before are void: seconds since 1970. */
  readonly notBefore: number
}

/** The client of that name. One statement. */
export async function findTokenClient(
  tx: Transaction,
  realm: number,
  clientId: string,
): Promise<TokenClient | undefined> {
  const { rows } = await sql<TokenClient>`
    select coalesce((body ->> 'enabled')::boolean, false) as enabled,
      coalesce((body ->> 'fullScopeAllowed')::boolean, false) as "fullScope",
      coalesce((body ->> 'notBefore')::integer, 0) as "notBefore"
    from client where realm = ${realm} and client_id = ${clientId}`.execute(tx)
  return rows[0]
}

/** Whether the user still has that credential. One statement. */
export async function hasCredential(tx: Transaction, realm: number, user: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from credential where realm = ${realm} and user_account = ${user} and id = ${id}) as found`.execute(
    tx,
  )
  return rows[0]!.found
}

/** Whether an enabled user holds the realm role directly. One statement. */
export async function isHeld(tx: Transaction, realm: number, role: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from role t
      join user_role h on h.realm = ${realm} and h.role = t.id
      join user_account u on u.realm = ${realm} and u.id = h.user_account and (u.body ->> 'enabled')::boolean
      where t.realm = ${realm} and t.client is null and t.name = ${role}) as found`.execute(tx)
  return rows[0]!.found
}
