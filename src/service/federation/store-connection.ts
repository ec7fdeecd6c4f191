// Connections to the directories of user stores. They must not be opened inside a transaction.
import { type LdapConnection, LdapError, openLdapConnection } from '../../lib/ldap/ldap-connection.ts'
import type { WriteContext } from '../context/context.ts'
import type { Service } from '../context/service.ts'
import { resolveSecret } from '../context/vault-directory.ts'
import type { UserStore } from '../users/user-store.ts'

/** The parts of the service that connections to directories need. */
export type LdapService = Pick<Service, 'outbound' | 'vaultDirectory'>

/** A change that undoes another one. */
export interface Undo {
  readonly store: UserStore
  readonly run: (connection: LdapConnection) => Promise<void>
}

/** A connection to the directory of a store, for the changes of a transaction. */
export interface DirectorySession {
  readonly context: WriteContext
  readonly store: UserStore
  readonly connection: LdapConnection
  /** Records how to undo a change. */
  readonly undoBy: (run: Undo['run']) => void
}

/** Runs work with a connection that is authenticated as the user store. @throws LdapError, UnresolvedReference */
export async function withStoreConnection<T>(
  service: LdapService,
  store: UserStore,
  work: (connection: LdapConnection) => Promise<T>,
): Promise<T> {
  const connection = await openLdapConnection(service.outbound, store.server)
  try {
    await bindAsStore(service, store, connection)
    return await work(connection)
  } finally {
    await connection.close()
  }
}

async function bindAsStore({ vaultDirectory }: LdapService, store: UserStore, connection: LdapConnection) {
  const { credential, realm } = store
  if (!credential) return
  const password = await resolveSecret(vaultDirectory, realm, credential.password)
  await connection.bind({ dn: credential.dn, password })
}

/** The response of a directory to a password. `expired`: it is right, but must be changed. */
export type PasswordOutcome = 'accepted' | 'expired' | 'refused'

/** Returns whether the directory accepts the password of an entry. @throws LdapError if it does not respond */
export async function checkPassword(
  { outbound }: LdapService,
  store: UserStore,
  credential: { readonly dn: string; readonly password: string },
): Promise<PasswordOutcome> {
  if (credential.password === '') return 'refused'
  const connection = await openLdapConnection(outbound, store.server)
  try {
    await connection.bind(credential)
    return 'accepted'
  } catch (error) {
    if (error instanceof LdapError && error.problem === 'invalid credentials') return 'refused'
    if (error instanceof LdapError && error.problem === 'expired password') return 'expired'
    throw error
  } finally {
    await connection.close()
  }
}
