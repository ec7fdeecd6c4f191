// Reads and writes of realms: the transactions, locks and checks of each.
import { MASTER } from '../../kinds/built-in/index.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { findRealm, reserveRealmNumber, toRealmRow } from '../../store/realms.ts'
import type { AfterCommit, WriteContext } from '../context/context.ts'
import { failure, RuntimeRefusal } from '../context/errors.ts'
import { type Caller, type NewRealm, type RealmUserEvent, type Service, SYSTEM } from '../context/service.ts'
import { isAudited } from '../journal/audit-trail.ts'
import { hasEventEmails } from '../messages/event-emails.ts'
import { writeUserEvents } from '../messages/user-events.ts'
import { getMasterAdminAccess, LastAdministratorError } from '../objects/last-administrator.ts'
import { createRealm } from '../realms/create-realm.ts'
import { mayStartWorkflows, startWorkflowsOnLogins } from '../workflows/activation.ts'
import { createLockedWrites, finishWrite } from './locked-writes.ts'
import { commit, createContext, type ServiceParts } from './transactions.ts'

/** Creates the functions that read realms. */
export function createReads(parts: ServiceParts): Pick<Service, 'read' | 'readSnapshot'> {
  const { store, cache } = parts
  return {
    async read(caller, nameOrRealm, work) {
      const realm = await cache.getRealm(nameOrRealm)
      const options = { realm, permissions: caller.permissions, cached: 'configuration and users' } as const
      return store.read(async (tx) => work(await createContext(parts, { tx, caller }, options)))
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
  const write = createLockedWrites(parts)
  return {
    write: (caller, target, work) =>
      retryUnlessLockedOut(parts, caller, (confirmedCaller) => write(confirmedCaller, target, work)),
    createRealm: (caller, realm, work) => createRealmWith(parts, caller, { realm, work }),
  }
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
    // Master is locked later, when it is written to; a new realm needs no lock.
    const unknownRealm = toRealmRow({ number: 0, id: '', name: '' }, {})
    const [number, context] = await Promise.all([
      reserveRealmNumber(tx),
      createContext(parts, { tx, caller }, { realm: unknownRealm, afterCommit }),
    ])
    const created = await createRealm(context, realm.representation, { ...realm, number })
    const result = await finishWrite(created, work)
    await parts.writeDirectories(created)
    return result
  })
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
      const write = commit(parts, {}, async (tx, afterCommit) => {
        const common = await createContext(parts, { tx, caller }, { realm, afterCommit, cached: 'configuration' })
        const context = { ...common, userEvents: [] }
        const outcome = await catchRefusal(work(context))
        await startWorkflowsOnLogins(context, context.userEvents)
        return { outcome, events: await writeUserEvents(context, context.userEvents) }
      })
      const { outcome, events } = await write.catch(throwIfRealmIsDeleted)
      emit(events)
      if ('refusal' in outcome) throw outcome.refusal
      return outcome.value
    },
    async recordUserEvents(realm, events) {
      const write = async (tx: Transaction, afterCommit?: AfterCommit) => {
        const context = await createContext(
          parts,
          { tx, caller: SYSTEM },
          { realm, afterCommit, cached: 'configuration' },
        )
        await startWorkflowsOnLogins(context, events)
        return writeUserEvents(context, events)
      }
      // A single statement needs no transaction; emails and audit entries are sent with the event or not at all.
      const needsTransaction = hasEventEmails(realm) || mayStartWorkflows(realm, events) || isAudited(parts)
      const written = needsTransaction ? commit(parts, {}, write) : parts.store.read((tx) => write(tx))
      emit(await written.catch(throwIfRealmIsDeleted))
    },
    onUserEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** SQLSTATE foreign_key_violation. */
const FOREIGN_KEY_VIOLATION = '23503'

/** Throws not_found where the row of the realm does not exist any more: another server has deleted a realm that is still cached here. */
function throwIfRealmIsDeleted(error: unknown): never {
  const constraint = typeof error === 'object' && error !== null && 'constraint' in error && String(error.constraint)
  if (getErrorCode(error) === FOREIGN_KEY_VIOLATION && constraint && constraint.endsWith('_realm_fkey'))
    throw failure('not_found', 'Realm not found.', { cause: error })
  throw error
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
