// Lookups of the users who log in, in the realm of the context. Each takes one statement at most.
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
import { findServiceAccount, findUser, findUserForLogin, type StoredUser } from '../../store/users/users.ts'
import type { Context } from '../context/context.ts'
import { cacheInContext } from '../context/realm-values.ts'

/** Returns the user with a username or, if `byEmail`, an email address; in any case of letters. */
export function findUserByName(context: Context, name: string, byEmail: boolean): Promise<StoredUser | undefined> {
  return findUserForLogin(context.tx, context.realm.number, { name: name.toLowerCase(), byEmail })
}

/** Returns the user with an id. */
export function findUserById(context: Context, id: string): Promise<StoredUser | undefined> {
  return findUser(context.tx, context.realm.number, id)
}

/** Returns the user with an id, as the user was up to a second ago. One statement, or none. */
export function findRecentUser(context: Context, id: string): Promise<StoredUser | undefined> {
  const key = { realm: context.realm.number, user: id, value: 'account' }
  return context.cache.getUserValue(key, () => findUserById(context, id))
}

/** The ids of service accounts by client. A client gets or loses its account by a change of the configuration. */
const getServiceAccountIds = cacheInContext(async () => new Map<string, string>())

/** The most clients of a realm whose service accounts are cached. */
const MOST_ACCOUNTS = 1_000

/** Returns the service account of the client with an id, as it was up to a second ago. One statement, or none. */
export async function findServiceAccountOf(context: Context, client: string): Promise<StoredUser | undefined> {
  const ids = await getServiceAccountIds(context)
  const id = ids.get(client)
  const recent = id === undefined ? undefined : await findRecentUser(context, id)
  if (recent) return recent
  // A document may have created the account again after its deletion.
  const account = await findServiceAccount(context.tx, context.realm.number, client)
  if (account) ids.set(client, account.id)
  evictOldest(ids, MOST_ACCOUNTS)
  return account
}
