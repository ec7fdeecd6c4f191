// The transactions of the service, and the contexts in them.

import { reportProgress } from '../../lib/timing/progress.ts'
import type { Store } from '../../store/database/database.ts'
import { limitIdleTime } from '../../store/database/leases.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import type { RealmRow } from '../../store/realms.ts'
import { findAdminPolicies } from '../authorization/caller-grants.ts'
import { type AdminPermissions, ALL_PERMISSIONS, NO_PERMISSIONS } from '../context/admin-permissions.ts'
import type { AccessChange, AfterCommit, CallingUser, Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { RealmCache } from '../context/realm-cache.ts'
import type { Caller, Service } from '../context/service.ts'
import { checkToken } from '../login/token-status.ts'
import { getUserPermissions } from '../permissions/require-permissions.ts'
import { requireLease } from './leases.ts'

/** Journal entries of a transaction after which statistics may be outdated. The database itself updates them after a minute, or never. */
const LARGE_TRANSACTION = 100

/** A part of the service that every context has. */
type SharedPart = 'vault' | 'clock' | 'passwordBlacklists' | 'searchableClientAttributes' | 'auditSinks'

/** A store, and the parts of the service that every context has. */
export interface ServiceParts extends Pick<Service, SharedPart> {
  readonly store: Store
  readonly cache: RealmCache
  /** Delivers the messages that a transaction has left in the outbox. Called after the commit. */
  readonly wakeOutbox: () => void
  /** Delivers the audit trail of a transaction. Called after the commit. */
  readonly wakeAudit: () => void
  /** Writes the changes of users of directories that a transaction has recorded. Called before the commit. */
  readonly writeDirectories: (context: WriteContext) => Promise<void>
  /** Executes the steps of workflows that a transaction has made due. Called after the commit. */
  readonly wakeWorkflows: () => void
}

/** The parts of a context that are not derived from the caller. */
interface ContextOptions {
  readonly realm: RealmRow
  /** Absent: nothing is done after the commit. */
  readonly afterCommit?: AfterCommit | undefined
  /** Absent: they are read from the store. */
  readonly permissions?: AdminPermissions | undefined
  readonly cached?: Context['cached']
}

/** Creates a context of the caller in a transaction. */
export async function createContext(
  {
    clock,
    vault,
    passwordBlacklists,
    searchableClientAttributes,
    auditSinks,
    cache,
  }: Pick<ServiceParts, SharedPart | 'cache'>,
  { tx, caller }: { readonly tx: Transaction; readonly caller: Caller },
  { realm, afterCommit = createAfterCommit(), permissions, cached }: ContextOptions,
): Promise<Context> {
  return {
    tx,
    realm,
    actor: caller.actor,
    now: clock(),
    vault,
    passwordBlacklists,
    searchableClientAttributes,
    cache,
    auditSinks,
    cached,
    permissions: permissions ?? (await readCallerPermissions(tx, caller)),
    findAdminPolicies,
    callingUser: toCallingUser(caller),
    allowLockOut: caller.allowLockOut,
    allowDrift: caller.allowDrift,
    writeReport: caller.writeReport,
    afterCommit,
  }
}

function toCallingUser({ user, claims }: Caller): CallingUser | undefined {
  return user && claims && { id: user.id, realm: user.realm, claims }
}

/**
 * Runs work in a transaction, within the lease and the deadline of the caller. The lease is checked last, so that it is still valid
 * at the commit. After the commit, updates the cache, wakes the outbox, the audit trail and the workflows, and updates the statistics of the query planner, without
 * waiting for either.
 */
export async function commit<T>(
  {
    store,
    cache,
    wakeOutbox,
    wakeAudit,
    wakeWorkflows,
  }: Pick<ServiceParts, 'store' | 'cache' | 'wakeOutbox' | 'wakeAudit' | 'wakeWorkflows'>,
  { lease, deadline }: Pick<Caller, 'lease' | 'deadline'>,
  work: (tx: Transaction, afterCommit: AfterCommit) => Promise<T>,
): Promise<T> {
  const afterCommit = createAfterCommit()
  let accessChanges: readonly AccessChange[] = []
  const transaction = store.transaction(
    async (tx) => {
      if (lease) await limitIdleTime(tx, lease.seconds)
      const value = await work(tx, afterCommit)
      if (lease) await requireLease(tx, lease)
      accessChanges = afterCommit.accessChanges
      await reportProgress({ phase: 'commit' })
      return value
    },
    { deadline },
  )
  const result = await transaction.finally(() => {
    // Also if the commit failed: without a response, it may have succeeded.
    for (const change of accessChanges) cache.forget(change)
  })
  if (afterCommit.hasMessages) wakeOutbox()
  if (afterCommit.hasAuditEntries) wakeAudit()
  if (afterCommit.hasDueSteps) wakeWorkflows()
  if (afterCommit.journalEntries >= LARGE_TRANSACTION) store.updateStatistics()
  return result
}

const createAfterCommit = (): AfterCommit => ({
  hasMessages: false,
  hasAuditEntries: false,
  hasDueSteps: false,
  journalEntries: 0,
  accessChanges: [],
})

/** Returns the current permissions of the caller, limited to those of their token. Throws unauthorized. One statement, or none. */
export async function readCallerPermissions(
  tx: Transaction,
  { isUnprivileged, user, token }: Caller,
): Promise<AdminPermissions> {
  if (isUnprivileged) return NO_PERMISSIONS
  if (token) {
    const status = await checkToken(tx, { ...token, withPermissions: true })
    if (!status.isValid || !status.permissions) throw failure('unauthorized', 'HTTP 401 Unauthorized')
    return status.permissions
  }
  return user ? getUserPermissions(tx, user) : ALL_PERMISSIONS
}
