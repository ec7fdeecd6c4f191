// Who logs in: users by name, address or id, and whether a password is theirs.
import { findServiceAccount, findUser, findUserForLogin, type StoredUser } from '../store/users.ts'
import type { Context } from './context.ts'
import { verifyNothing, verifyPassword } from './passwords.ts'

export type { StoredUser } from '../store/users.ts'

/** A user, and the id of the credential that they logged in with. */
export type LoggedIn = StoredUser & { readonly credential: string }

/** The user whose password this is; undefined when there is none. Takes its time also for a user that does not exist. */
export async function authenticate(
  context: Context,
  username: string,
  password: string,
  byEmail: boolean,
): Promise<LoggedIn | undefined> {
  const user = await findUserForLogin(context.tx, context.realm.number, username.toLowerCase(), byEmail)
  const kept = user?.passwords[0]
  const right = kept
    ? await verifyPassword(password, context.vault.open(String(kept.body.secretData)), String(kept.body.credentialData))
    : await verifyNothing(password)
  return right ? { ...user!, credential: kept!.id } : undefined
}

/** The user of that name or, where the realm lets people log in by it, mail address. One statement. */
export function findUserByName(context: Context, name: string, byEmail: boolean): Promise<StoredUser | undefined> {
  return findUserForLogin(context.tx, context.realm.number, name.toLowerCase(), byEmail)
}

/** The user with that id. */
export function findById(context: Context, id: string): Promise<StoredUser | undefined> {
  return findUser(context.tx, context.realm.number, id)
}

/** The account of a client with that id. */
export function findAccountOf(context: Context, client: string): Promise<StoredUser | undefined> {
  return findServiceAccount(context.tx, context.realm.number, client)
}
