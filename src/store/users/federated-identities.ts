// Federated identities: accounts of users at identity providers.
import { sql } from 'kysely'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE, equalsAny, optional, query, type RowOf, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const federatedIdentityRow = row({
  user: text,
  provider: text,
  userId: optional(text),
  userName: optional(text),
})

/** An account of a user at an identity provider, given by alias. */
export type FederatedIdentity = RowOf<typeof federatedIdentityRow>

/** Returns the federated identities of users, by alias of the provider. One statement. */
export async function selectFederatedIdentities(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<FederatedIdentity[]> {
  return query(federatedIdentityRow)`
    select f.user_account as user, p.alias as provider, f.user_id as "userId", f.user_name as "userName"
    from federated_identity f join identity_provider p on p.realm = f.realm and p.id = f.identity_provider
    where f.realm = ${realm} and f.user_account ${equalsAny(users)}
    order by p.alias`.all(tx)
}

/** Deletes all federated identities of users. One statement. */
export async function deleteFederatedIdentities(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<void> {
  await sql`delete from federated_identity where realm = ${realm} and user_account ${equalsAny(users)}`.execute(tx)
}

/** Inserts federated identities; `provider` is the id of the provider here. One statement per chunk. */
export async function insertFederatedIdentities(
  tx: Transaction,
  realm: number,
  identities: readonly FederatedIdentity[],
): Promise<void> {
  for (const chunk of chunks(identities, CHUNK_SIZE)) {
    await sql`
      insert into federated_identity (realm, user_account, identity_provider, user_id, user_name)
      select ${realm}::integer, x.user, x.provider, x."userId", x."userName"
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb)
        as x("user" text, provider text, "userId" text, "userName" text)`.execute(tx)
  }
}
