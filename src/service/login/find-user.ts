// Lookups of the users who log in, in the realm of the context. Each takes one statement.
import { findServiceAccount, findUser, findUserForLogin, type StoredUser } from '../../store/users/users.ts'
import type { Context } from '../context/context.ts'

/** Returns the user with a username or, if `byEmail`, an email address; in any case of letters. */
export function findUserByName(context: Context, name: string, byEmail: boolean): Promise<StoredUser | undefined> {
  return findUserForLogin(context.tx, context.realm.number, { name: name.toLowerCase(), byEmail })
}

/** Returns the user with an id. */
export function findUserById(context: Context, id: string): Promise<StoredUser | undefined> {
  return findUser(context.tx, context.realm.number, id)
}

/** Returns the service account of the client with an id. */
export function findServiceAccountOf(context: Context, client: string): Promise<StoredUser | undefined> {
  return findServiceAccount(context.tx, context.realm.number, client)
}
