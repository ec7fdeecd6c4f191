// Consents of users to clients.
import { sql } from 'kysely'
import type { Representation } from '../../kinds/json.ts'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE, equalsAny, json, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const consentRow = row({
  user: text,
  /** Id and client id of the client. */
  client: json<{ readonly id: string; readonly name: string }>(),
  /** Ids and names of client scopes. */
  scopes: json<readonly { readonly id: string; readonly name: string }[]>(),
  body: json<Representation>(),
})

/** A user's consent to a client. */
export type Consent = RowOf<typeof consentRow>

/** Returns the consents of users, by client id. One statement. */
export async function selectConsents(tx: Transaction, realm: number, users: readonly string[]): Promise<Consent[]> {
  return query(consentRow)`
    select uc.user_account as user, jsonb_build_object('id', c.id, 'name', c.client_id) as client, uc.body,
      (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name) order by s.name), '[]')
        from user_consent_client_scope us join client_scope s on s.realm = us.realm and s.id = us.client_scope
        where us.realm = uc.realm and us.user_account = uc.user_account and us.client = uc.client) as scopes
    from user_consent uc join client c on c.realm = uc.realm and c.id = uc.client
    where uc.realm = ${realm} and uc.user_account ${equalsAny(users)}
    order by c.client_id`.all(tx)
}

/** Deletes all consents of users. One statement. */
export async function deleteConsents(tx: Transaction, realm: number, users: readonly string[]): Promise<void> {
  await sql`delete from user_consent where realm = ${realm} and user_account ${equalsAny(users)}`.execute(tx)
}

/** Inserts consents of users, with ids of clients and client scopes. Two statements per chunk. */
export async function insertConsents(
  tx: Transaction,
  realm: number,
  consents: readonly { user: string; client: string; scopes: readonly string[]; body: Representation }[],
): Promise<void> {
  for (const chunk of chunks(consents, CHUNK_SIZE)) {
    const rows = JSON.stringify(chunk)
    await sql`
      insert into user_consent (realm, user_account, client, body)
      select ${realm}::integer, x.user, x.client, x.body
      from jsonb_to_recordset(${rows}::jsonb) as x("user" text, client text, body jsonb)`.execute(tx)
    await sql`
      insert into user_consent_client_scope (realm, user_account, client, client_scope)
      select ${realm}::integer, x.user, x.client, s.id
      from jsonb_to_recordset(${rows}::jsonb) as x("user" text, client text, scopes jsonb)
        cross join jsonb_array_elements_text(x.scopes) as s(id)`.execute(tx)
  }
}
