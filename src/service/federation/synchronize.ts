// Synchronization of the users of a directory: all of them, or those that have changed.
import { LdapError } from '../../lib/ldap/ldap-connection.ts'
import { findSynchronizations, saveSynchronization } from '../../store/users/federated-users.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../context/service.ts'
import { UnresolvedReference } from '../context/vault-directory.ts'
import { syncTasks } from '../realms/components.ts'
import type { TaskHandlers } from '../tasks/scheduled-tasks.ts'
import { listUserStores, type UserStore } from '../users/user-store.ts'
import { type BrokenEntry, type DirectoryUser, toDirectoryUser } from './directory-user.ts'
import { importUsers } from './import-users.ts'
import { createMembershipReader, loadMemberships, type MembershipReader } from './memberships.ts'
import { withStoreConnection } from './store-connection.ts'
import { buildChangeFilter, buildUserSearch } from './user-filters.ts'

/** The counts of a synchronization. */
export interface SyncCounts {
  added: number
  updated: number
  removed: number
  failed: number
}

/** A synchronization to run. */
export interface Synchronization {
  readonly store: UserStore
  readonly mode: 'full' | 'changed'
}

/** Returns the caller of changes that follow from a directory. */
export function toFederationCaller({ name }: Pick<UserStore, 'name'>): Caller {
  return { actor: { kind: 'federation', provider: name } }
}

/**
 * Imports the users of a store in transactions of its batch size. What was imported before a failure of the directory stays imported.
 * Must not be called inside a transaction. @throws ServiceError `invalid` if the directory fails
 */
export async function synchronizeUsers(service: Service, { store, mode }: Synchronization): Promise<SyncCounts> {
  const counts: SyncCounts = { added: 0, updated: 0, removed: 0, failed: 0 }
  const startedAt = service.clock()
  const caller = toFederationCaller(store)
  const last = await service.read(caller, store.realm, ({ tx, realm }) =>
    findSynchronizations(tx, realm.number, store.id),
  )
  const since = Math.max(last?.fullAt?.getTime() ?? 0, last?.changedAt?.getTime() ?? 0)
  const filter = mode === 'full' ? undefined : buildChangeFilter(store, new Date(since))
  await explainFailure(store, () =>
    withStoreConnection(service, store, async (connection) => {
      const loaded = await loadMemberships(connection, store)
      const memberships = await service.read(caller, store.realm, (context) =>
        createMembershipReader(context, store, loaded),
      )
      let batch: DirectoryUser[] = []
      const flush = async () => {
        await importBatch(service, { store, users: batch, memberships, counts })
        batch = []
      }
      for await (const page of connection.search(buildUserSearch(store, filter))) {
        for (const entry of page) {
          const user = toDirectoryUser(store, entry)
          if ('problem' in user) fail(service, counts, { store, entry: user })
          else if (batch.push(user) === store.batchSize) await flush()
        }
      }
      await flush()
    }),
  )
  await service.writeRuntime(caller, store.realm, ({ tx, realm }) =>
    saveSynchronization(tx, realm.number, { store: store.id, isFull: mode === 'full', at: startedAt }),
  )
  return counts
}

/** The handlers of the tasks that synchronize user stores. */
export const userStoreTasks: TaskHandlers = Object.fromEntries(
  syncTasks.map(({ type, mode }) => [
    type,
    async ({ service, realm, subject }) => {
      const stores = await service.read(SYSTEM, realm, listUserStores)
      const store = stores.find(({ id, isEnabled, synchronizes }) => id === subject && isEnabled && synchronizes)
      if (store) await synchronizeUsers(service, { store, mode })
    },
  ]),
)

/** Counts an entry that is not imported, and names it in the log. */
function fail(
  { warn }: Service,
  counts: SyncCounts,
  { store, entry }: { readonly store: UserStore; readonly entry: BrokenEntry },
): void {
  counts.failed++
  warn(`The user federation provider "${store.name}" does not import ${entry.dn}: ${entry.problem}`)
}

/** Users of a store to import in one transaction. */
interface ImportBatch {
  readonly store: UserStore
  readonly users: readonly DirectoryUser[]
  readonly memberships: MembershipReader
  readonly counts: SyncCounts
}

/** Imports users in one transaction. If a user cannot be written, imports each half by itself, until the user is alone. */
async function importBatch(service: Service, batch: ImportBatch): Promise<void> {
  const { store, users, memberships, counts } = batch
  if (!users.length) return
  try {
    const target = { realm: store.realm, isLarge: true } as const
    const { created, updated, failed } = await service.write(toFederationCaller(store), target, (context) =>
      importUsers(context, store, { users, memberships, isSynchronization: true }),
    )
    counts.added += created.length
    counts.updated += updated.length
    for (const entry of failed) fail(service, counts, { store, entry })
  } catch (error) {
    if (!(error instanceof ServiceError) || !['invalid', 'conflict'].includes(error.code)) throw error
    if (users.length === 1) return fail(service, counts, { store, entry: { dn: users[0]!.dn, problem: error.message } })
    const half = Math.ceil(users.length / 2)
    await importBatch(service, { ...batch, users: users.slice(0, half) })
    await importBatch(service, { ...batch, users: users.slice(half) })
  }
}

/** Runs work with a directory. @throws ServiceError that names the store if the directory fails */
export async function explainFailure<T>({ name }: Pick<UserStore, 'name'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LdapError) && !(error instanceof UnresolvedReference)) throw error
    throw failure('invalid', `The user federation provider "${name}" failed: ${error.message}`, { cause: error })
  }
}
