// Reads and writes of realms: the transactions, locks and checks of each.
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { findLockedRealm, findRealm, lockForNewUsers, lockRealms, toRealmRow } from '../../store/realms.ts'
import type { AfterCommit, WriteContext } from '../context/context.ts'
import { failure, RuntimeRefusal } from '../context/errors.ts'
import {
  type Caller,
  type NewRealm,
  type RealmUserEvent,
  type Service,
  SYSTEM,
  type WriteTarget,
} from '../context/service.ts'
import { flushJournal, toWriteContext } from '../journal/journal.ts'
import { hasEventEmails } from '../messages/event-emails.ts'
import { writeUserEvents } from '../messages/user-events.ts'
import {
  getMasterAdminAccess,
  LastAdministratorError,
  requireAdministratorLeft,
} from '../objects/last-administrator.ts'
import { createRealm } from '../realms/create-realm.ts'
import { commit, createContext, type ServiceParts } from './transactions.ts'

/** Creates the functions that read realms. */
export function createReads(parts: ServiceParts): Pick<Service, 'read' | 'readSnapshot'> {
  const { store, cache } = parts
  return {
    async read(caller, nameOrRealm, work) {
      const realm = await cache.getRealm(nameOrRealm)
      return store.read(async (tx) =>
        work(await createContext(parts, { tx, caller }, { realm, permissions: caller.permissions })),
      )
    },
    readSnapshot: (caller, name, work) =>
      store.transaction(
        async (tx) => {
          const realm = await findRealm(tx, name)
          return work(realm && (await createContext(parts, { tx, caller }, { realm })))
        },
        { snapshot: true, deadline: caller.deadline },
      ),
  }
}

/** Creates the functions that write configuration and users. */
export function createWrites(parts: ServiceParts): Pick<Service, 'write' | 'createRealm'> {
  return {
    write: (caller, target, work) =>
      retryUnlessLockedOut(parts, caller, (confirmedCaller) => writeLocked(parts, confirmedCaller, { target, work })),
    createRealm: (caller, realm, work) => createRealmWith(parts, caller, { realm, work }),
  }
}

function writeLocked<T>(
  parts: ServiceParts,
  caller: Caller,
  { target, work }: { readonly target: WriteTarget; readonly work: (context: WriteContext) => Promise<T> },
): Promise<T> {
  const { realm: name, withMaster, newUserNames } = typeof target === 'string' ? { realm: target } : target
  return commit(parts, caller, async (tx, afterCommit) => {
    // New users of master may be its only administrators, which is checked under the exclusive lock.
    const locked =
      newUserNames && name !== MASTER
        ? await lockForNewUsers(tx, name, newUserNames)
        : await lockRealms(tx, withMaster ? [name, MASTER] : [name])
    const lockedRealm = await findLockedRealm(tx, { name, locked }, caller.permissionVersions)
    if (!lockedRealm) throw failure('not_found', 'Realm not found.')
    const { realm, areCurrent } = lockedRealm
    const permissions = areCurrent ? caller.permissions : undefined
    const context = toWriteContext(await createContext(parts, { tx, caller }, { realm, afterCommit, permissions }))
    return finishWrite(newUserNames ? { ...context, createsUsersOnly: true } : context, work)
  })
}

/** Runs a write. Where it is refused since no administrator would be left, runs it again if none was left before it either. */
async function retryUnlessLockedOut<T>(
  parts: ServiceParts,
  caller: Caller,
  write: (caller: Caller) => Promise<T>,
): Promise<T> {
  try {
    return await write(caller)
  } catch (error) {
    if (!(error instanceof LastAdministratorError)) throw error
    const accessBefore = await createReads(parts).read(SYSTEM, MASTER, getMasterAdminAccess)
    if (accessBefore > error.access) throw error
    return write({ ...caller, allowLockOut: true })
  }
}

function createRealmWith<T>(
  parts: ServiceParts,
  caller: Caller,
  { realm, work }: { readonly realm: NewRealm; readonly work: (context: WriteContext) => Promise<T> },
): Promise<T> {
  return commit(parts, caller, async (tx, afterCommit) => {
    // Lock master only if we write to it; a new realm needs no lock. Regent itself creates master, the first realm of a store.
    const master = (await findRealm(tx, MASTER)) ?? toRealmRow({ number: 0, id: '', name: '' }, {})
    const context = await createContext(parts, { tx, caller }, { realm: master, afterCommit })
    return finishWrite(await createRealm(context, realm.representation, realm), work)
  })
}

/** Runs the work of a write, checks that an administrator is left, and writes the journal. */
async function finishWrite<T>(context: WriteContext, work: (context: WriteContext) => Promise<T>): Promise<T> {
  const result = await work(context)
  await requireAdministratorLeft(context)
  await flushJournal(context)
  return result
}

/** Creates the functions that write runtime data and user events. */
export function createRuntimeWrites(
  parts: ServiceParts,
): Pick<Service, 'writeRuntime' | 'recordUserEvents' | 'onUserEvent'> {
  const listeners = new Set<(event: RealmUserEvent) => void>()
  const emit = (events: readonly RealmUserEvent[]) => {
    for (const listener of listeners) events.forEach(listener)
  }
  return {
    async writeRuntime(caller, nameOrRealm, work) {
      const realm = await parts.cache.getRealm(nameOrRealm)
      const { outcome, events } = await commit(parts, {}, async (tx, afterCommit) => {
        const context = { ...(await createContext(parts, { tx, caller }, { realm, afterCommit })), userEvents: [] }
        const outcome = await catchRefusal(work(context))
        return { outcome, events: await writeUserEvents(context, context.userEvents) }
      })
      emit(events)
      if ('refusal' in outcome) throw outcome.refusal
      return outcome.value
    },
    async recordUserEvents(realm, events) {
      const write = async (tx: Transaction, afterCommit?: AfterCommit) =>
        writeUserEvents(await createContext(parts, { tx, caller: SYSTEM }, { realm, afterCommit }), events)
      // A single statement needs no transaction; emails are sent with the event or not at all.
      const written = hasEventEmails(realm) ? commit(parts, {}, write) : parts.store.read((tx) => write(tx))
      emit(await written)
    },
    onUserEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

async function catchRefusal<T>(
  work: Promise<T>,
): Promise<{ readonly value: T } | { readonly refusal: RuntimeRefusal }> {
  try {
    return { value: await work }
  } catch (error) {
    if (error instanceof RuntimeRefusal) return { refusal: error }
    throw error
  }
}
