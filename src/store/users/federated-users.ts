// Users that were imported from user federation providers, and the synchronizations of these providers.
import { sql } from 'kysely'
import { equalsAny, idRow, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const sameUserRow = row({
  id: text,
  username: text,
  email: optional(text),
  /** The id of the provider; null: the user is local. */
  federationLink: optional(text),
  /** The id in the directory. */
  uuid: optional(text),
})

/** A stored user who may be one of a directory. */
export type SameUser = RowOf<typeof sameUserRow>

/** Identifies users of a directory. */
export interface DirectoryIdentities {
  /** The id of the provider. */
  readonly store: string
  readonly uuids: readonly string[]
  /** In lower case. */
  readonly usernames: readonly string[]
  /** In lower case. */
  readonly emails: readonly string[]
}

/** Returns the users with one of the ids in the directory, of the usernames or of the reserved email addresses. One statement. */
export async function selectSameUsers(
  tx: Transaction,
  realm: number,
  { store, uuids, usernames, emails }: DirectoryIdentities,
): Promise<SameUser[]> {
  const columns = sql`u.id, u.username, u.email, u.body ->> 'federationLink' as "federationLink",
    u.body -> 'attributes' -> 'LDAP_ID' ->> 0 as uuid`
  return query(sameUserRow)`
    select ${columns} from user_account u where u.realm = ${realm} and u.body ->> 'federationLink' = ${store}
      and u.body -> 'attributes' -> 'LDAP_ID' ->> 0 ${equalsAny(uuids)}
    union
    select ${columns} from user_account u where u.realm = ${realm} and u.username ${equalsAny(usernames)}
    union
    select ${columns} from user_account u where u.realm = ${realm} and u.sole_email ${equalsAny(emails)}`.all(tx)
}

/** Returns the ids of at most `limit` users that were imported from a provider. One statement. */
export async function selectImportedUsers(
  tx: Transaction,
  realm: number,
  { store, limit, after = '' }: { readonly store: string; readonly limit: number; readonly after?: string },
): Promise<string[]> {
  const users = await query(idRow)`
    select u.id from user_account u
    where u.realm = ${realm} and u.body ->> 'federationLink' = ${store} and u.id > ${after}
    order by u.id limit ${limit}`.all(tx)
  return users.map(({ id }) => id)
}

/** Stores the ids and the names in the directory of users who were created or renamed there. One statement. */
export async function saveDirectoryIdentities(
  tx: Transaction,
  realm: number,
  identities: readonly { readonly id: string; readonly uuid: string; readonly dn: string }[],
): Promise<void> {
  await sql`
    update user_account u set body = u.body || jsonb_build_object('attributes', coalesce(u.body -> 'attributes', '{}')
      || jsonb_build_object('LDAP_ID', jsonb_build_array(i.uuid), 'LDAP_ENTRY_DN', jsonb_build_array(i.dn)))
    from jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as i (id text, uuid text, dn text)
    where u.realm = ${realm} and u.id = i.id`.execute(tx)
}

const syncRow = row({ fullAt: optional(timestamp), changedAt: optional(timestamp) })

/** The times at which the last synchronizations of a provider began. */
export type StoreSynchronizations = RowOf<typeof syncRow>

/** Returns the times of the last synchronizations of a provider; undefined before the first one. One statement. */
export async function findSynchronizations(
  tx: Transaction,
  realm: number,
  store: string,
): Promise<StoreSynchronizations | undefined> {
  return query(syncRow)`
    select full_at as "fullAt", changed_at as "changedAt" from user_store_sync
    where realm = ${realm} and component = ${store}`.first(tx)
}

/** Stores the time at which a synchronization of a provider began. One statement. */
export async function saveSynchronization(
  tx: Transaction,
  realm: number,
  { store, isFull, at }: { readonly store: string; readonly isFull: boolean; readonly at: Date },
): Promise<void> {
  const full = isFull ? at : null
  await sql`
    insert into user_store_sync as s (realm, component, full_at, changed_at)
    select ${realm}::integer, c.id, ${full}::timestamptz, ${isFull ? null : at}::timestamptz
    from component c where c.realm = ${realm} and c.id = ${store}
    on conflict (realm, component) do update set
      full_at = coalesce(excluded.full_at, s.full_at), changed_at = coalesce(excluded.changed_at, s.changed_at)`.execute(
    tx,
  )
}
