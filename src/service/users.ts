// People and service accounts, as far as log-in needs them.
import { randomUUID } from 'node:crypto'
import type { Key, Representation } from '../kinds/kind.ts'
import { insertDefaultRole, insertUserRoles } from '../store/role-mappings.ts'
import {
  deleteCredentials,
  findUser,
  findUserForLogin,
  insertCredentials,
  insertUsers,
  type StoredUser,
  type UserRow,
} from '../store/users.ts'
import { type Context, journal, type WriteContext } from './context.ts'
import { hashPassword, verifyNothing, verifyPassword } from './passwords.ts'
import { idsOf } from './references.ts'

export type { StoredUser } from '../store/users.ts'

/** A user to make. */
export interface NewUser {
  readonly username: string
  /** The hash that `hashPassword` made, before the transaction. */
  readonly password?: Representation
  /** Id of the client whose service account this is. */
  readonly serviceAccountClient?: string
  readonly representation?: Representation
}

/** Makes users. Statements: three, whatever their number. */
export async function createUsers(context: WriteContext, users: readonly NewUser[]): Promise<UserRow[]> {
  if (!users.length) return []
  const { tx, realm, now } = context
  const rows = users.map((user): UserRow => {
    const { email = null, ...body } = user.representation ?? {}
    return {
      id: randomUUID(),
      username: fold(user.username),
      email: email === null ? null : fold(String(email)),
      service_account_client: user.serviceAccountClient ?? null,
      body: { enabled: true, emailVerified: false, createdTimestamp: now.getTime(), ...body },
    }
  })
  await insertUsers(tx, realm.number, 1, rows)
  await insertDefaultRole(
    tx,
    realm.number,
    rows.map(({ id }) => id),
  )
  const hashed = users.flatMap(({ password }, at) => (password ? [{ user: rows[at]!.id, password }] : []))
  if (hashed.length) await insertPasswords(context, hashed)
  for (const { id, username } of rows) journal(context, 'create', 'user', { id, key: [username] }, {})
  return rows
}

/** Gives a user roles. Throws invalid where a role does not exist. */
export async function grantRoles(
  context: WriteContext,
  user: { id: string; username: string },
  roles: readonly Key[],
): Promise<void> {
  const ids = await idsOf(context, 'role', roles)
  await insertUserRoles(
    context.tx,
    context.realm.number,
    [...ids.values()].map((role) => ({ user: user.id, role })),
  )
  journal(context, 'update', 'user', { id: user.id, key: [user.username] }, { roles: null })
}

/** Gives a user a new password. */
export async function setPassword(context: WriteContext, user: StoredUser, password: Representation): Promise<void> {
  const { tx, realm } = context
  await deleteCredentials(tx, realm.number, [user.id], 'password')
  await insertPasswords(context, [{ user: user.id, password }])
  journal(context, 'update', 'user', { id: user.id, key: [user.username] }, { credentials: null })
}

/** A user, and the id of the credential that they logged in with. */
export type LoggedIn = StoredUser & { readonly credential: string }

/** The user whose password this is; undefined when there is none. Takes its time also for a user that does not exist. */
export async function authenticate(
  context: Context,
  username: string,
  password: string,
  byEmail: boolean,
): Promise<LoggedIn | undefined> {
  const user = await findUserForLogin(context.tx, context.realm.number, fold(username), byEmail)
  const hash = user?.credentials.find(({ type }) => type === 'password')
  const right = hash ? await verifyPassword(password, hash.body) : await verifyNothing(password)
  return right ? { ...user!, credential: hash!.id } : undefined
}

/** The user with that name. */
export function findByName(context: Context, username: string): Promise<StoredUser | undefined> {
  return findUserForLogin(context.tx, context.realm.number, fold(username), false)
}

/** The user with that id. */
export function findById(context: Context, id: string): Promise<StoredUser | undefined> {
  return findUser(context.tx, context.realm.number, id)
}

/** Keycloak: user names and e-mail addresses are kept in lower case. */
function fold(name: string): string {
  return name.toLowerCase()
}

async function insertPasswords(
  context: Context,
  hashed: readonly { user: string; password: Representation }[],
): Promise<void> {
  await insertCredentials(
    context.tx,
    context.realm.number,
    context.now,
    hashed.map(({ user, password }) => ({
      id: randomUUID(),
      user_account: user,
      type: 'password',
      place: 10,
      body: password,
    })),
  )
}

export { hashPassword }
