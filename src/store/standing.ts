// What a token stands on: the client that got it, the credential of its user; and who stands above every realm.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** What a token names, as it is now. */
export interface Standing {
  readonly enabled: boolean
  readonly fullScope: boolean
  /** Tokens of the client, or of the user, from before are void: seconds since 1970. */
  readonly notBefore: number
  readonly userEnabled: boolean
  /** Whether the user has a session with the id that the token names. */
  readonly session: boolean
  readonly revoked: boolean
}

/** What a token names. */
export interface TokenNames {
  /** The client's name, not its id. */
  readonly client: string
  readonly user: string
  readonly session: string | undefined
  /** The key under which its revocation would be kept: see single-use.ts. */
  readonly revoked: string
}

/** What the token stands on; undefined when its client or its user is gone. One statement. */
export async function findStanding(
  tx: Transaction,
  realm: number,
  { client, user, session, revoked }: TokenNames,
): Promise<Standing | undefined> {
  const { rows } = await sql<Standing>`
    select coalesce((c.body ->> 'enabled')::boolean, false) as enabled,
      coalesce((c.body ->> 'fullScopeAllowed')::boolean, false) as "fullScope",
      greatest((c.body ->> 'notBefore')::integer, (u.body ->> 'notBefore')::integer, 0) as "notBefore",
      coalesce((u.body ->> 'enabled')::boolean, false) as "userEnabled",
      exists (select from user_session s
        where s.realm = c.realm and s.id = ${session ?? null} and s.user_account = u.id) as session,
      exists (select from single_use k where k.realm = c.realm and k.key = ${revoked}) as revoked
    from client c join user_account u on u.realm = c.realm and u.id = ${user}
    where c.realm = ${realm} and c.client_id = ${client}`.execute(tx)
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
