// Logins of users of directories. The functions must not be called inside a transaction.
import { type Representation, readObject, readText, readTexts } from '../../kinds/json.ts'
import { type LdapConnection, LdapError } from '../../lib/ldap/ldap-connection.ts'
import { escapeFilterValue } from '../../lib/ldap/ldap-syntax.ts'
import { findUserForLogin, type StoredUser } from '../../store/users/users.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import type { RealmRow } from '../context/store-types.ts'
import { UnresolvedReference } from '../context/vault-directory.ts'
import { listObjects } from '../objects/live-objects.ts'
import { LDAP_ENTRY_DN, LDAP_ID } from '../users/federated-users.ts'
import { listUserStores, type UserStore } from '../users/user-store.ts'
import { users as userWriters } from '../users/users.ts'
import { canReplacePasswords, type DirectoryUser, toDirectoryUser } from './directory-user.ts'
import { importUsers } from './import-users.ts'
import { createMembershipReader, listNamesOfMemberships, loadMemberships } from './memberships.ts'
import { checkPassword, type PasswordOutcome, withStoreConnection } from './store-connection.ts'
import { toFederationCaller } from './synchronize.ts'
import { buildLoginFilter, buildUserSearch, buildUuidFilter, findLdapAttribute } from './user-filters.ts'

/** The directory of a user. */
export interface LoginDirectory {
  /** Whether passwords that are stored in the realm count instead. */
  readonly hasLocalPasswords: boolean
  /** Returns whether the directory accepts the password. `refused` if it does not respond, which is logged. */
  verify(password: string): Promise<PasswordOutcome>
}

/** Returns the directory of a user; undefined for users of the realm itself. */
export async function findInDirectory(
  service: Service,
  realm: RealmRow,
  user: StoredUser | undefined,
): Promise<LoginDirectory | undefined> {
  const link = readText(user?.body.federationLink)
  if (!user || link === undefined) return undefined
  const store = await findStore(service, realm, link)
  if (!store?.isEnabled) return { hasLocalPasswords: false, verify: async () => 'refused' }
  const [dn = ''] = readTexts(readObject(user.body.attributes)[LDAP_ENTRY_DN])
  return {
    hasLocalPasswords: store.editMode === 'UNSYNCED',
    async verify(password) {
      // Directories may accept any password for an empty name. RFC 4513, section 5.1.1.
      if (dn === '') return 'refused'
      const outcome = await warnOfFailure(service, store, () => checkPassword(service, store, { dn, password }))
      // Keycloak: a user who cannot change the password here cannot log in with one that has expired.
      return outcome === 'accepted' || (outcome === 'expired' && canReplacePasswords(store)) ? outcome : 'refused'
    },
  }
}

/**
 * Imports the user with a name from the first directory that has one. An imported user is updated, or deleted if the entry no longer
 * exists. If a directory does not respond, which is logged, its users remain as they are.
 */
export async function importUserForLogin(
  service: Service,
  realm: RealmRow,
  { name, byEmail }: { readonly name: string; readonly byEmail: boolean },
): Promise<void> {
  const user = await service.read(SYSTEM, realm, ({ tx, realm }) =>
    findUserForLogin(tx, realm.number, { name, byEmail }),
  )
  const link = readText(user?.body.federationLink)
  if (user && link === undefined) return
  const stores = await service.read(SYSTEM, realm, listUserStores)
  for (const store of stores) {
    if (!store.isEnabled || (link !== undefined && store.id !== link)) continue
    const [uuid] = readTexts(readObject(user?.body.attributes)[LDAP_ID])
    const filter = user && uuid !== undefined ? buildUuidFilter(store, uuid) : buildLoginFilter(store, name, byEmail)
    const imported = await warnOfFailure(service, store, () => importEntry(service, { store, filter, user }))
    if (imported) return
  }
}

/**
 * Throws conflict if a directory has a user with the username or email address of a new user. `checkAccess` is called before a directory is
 * searched.
 */
export async function refuseNamesOfDirectories(
  service: Service,
  name: string,
  { names, checkAccess }: { readonly names: Representation; readonly checkAccess: () => Promise<unknown> },
): Promise<void> {
  const [realm] = await service.cache.findRealms([name])
  if (!realm?.hasUserStores) return
  await checkAccess()
  for (const field of ['username', 'email'] as const) {
    const name = readText(names[field])
    if (name && (await isInDirectory(service, realm, { field, name })))
      throw failure('conflict', `User exists with same ${field}`)
  }
}

/** Whether an enabled directory has an entry with a username or email address. */
async function isInDirectory(
  service: Service,
  realm: RealmRow,
  { field, name }: { readonly field: 'username' | 'email'; readonly name: string },
): Promise<boolean> {
  for (const store of await service.read(SYSTEM, realm, listUserStores)) {
    const attribute = findLdapAttribute(store, field)
    if (!store.isEnabled || attribute === undefined) continue
    const filter = `(${attribute}=${escapeFilterValue(name)})`
    const match = await warnOfFailure(service, store, () =>
      withStoreConnection(service, store, (connection) => findDirectoryUser(connection, store, filter)),
    )
    if (match) return true
  }
  return false
}

/** Imports the only entry that matches a filter. Returns whether there is one. */
async function importEntry(
  service: Service,
  {
    store,
    filter,
    user,
  }: { readonly store: UserStore; readonly filter: string; readonly user: StoredUser | undefined },
): Promise<boolean> {
  const caller = toFederationCaller(store)
  const match = await withStoreConnection(service, store, async (connection) => {
    const directoryUser = await findDirectoryUser(connection, store, filter)
    if (!directoryUser) return undefined
    const names = user ? await listMemberships(service, store, user.id) : []
    return { user: directoryUser, loaded: await loadMemberships(connection, store, { user: directoryUser, names }) }
  })
  if (!match) {
    if (user && store.removesInvalidUsers)
      await service.write(caller, store.realm, async (context) =>
        userWriters.delete(context, await listObjects(context, 'user', { ids: [user.id] })),
      )
    return false
  }
  const { failed } = await service.write(caller, store.realm, async (context) =>
    importUsers(context, store, {
      users: [match.user],
      memberships: await createMembershipReader(context, store, match.loaded),
    }),
  )
  for (const { dn, problem } of failed)
    service.warn(`The user federation provider "${store.name}" does not import ${dn}: ${problem}`)
  return true
}

/** Returns the user of the only entry that matches a filter; undefined if there is none, or several. */
async function findDirectoryUser(
  connection: LdapConnection,
  store: UserStore,
  filter: string,
): Promise<DirectoryUser | undefined> {
  const users: DirectoryUser[] = []
  for await (const page of connection.search(buildUserSearch(store, filter, 2))) {
    for (const entry of page) {
      const user = toDirectoryUser(store, entry)
      if (!('problem' in user)) users.push(user)
    }
  }
  return users.length === 1 ? users[0] : undefined
}

function listMemberships(service: Service, store: UserStore, id: string): Promise<string[]> {
  return service.read(toFederationCaller(store), store.realm, async (context) =>
    (await listObjects(context, 'user', { ids: [id] })).flatMap(listNamesOfMemberships),
  )
}

function findStore(service: Service, realm: RealmRow, id: string): Promise<UserStore | undefined> {
  return service.read(SYSTEM, realm, async (context) =>
    (await listUserStores(context)).find((store) => store.id === id),
  )
}

/** Runs work with a directory. Returns undefined if it fails, which is logged: a log-in must not fail for other users. */
async function warnOfFailure<T>(
  { warn }: Service,
  { name }: UserStore,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LdapError || error instanceof UnresolvedReference || error instanceof ServiceError))
      throw error
    warn(`The user federation provider "${name}" failed: ${error.message}`)
    return undefined
  }
}
