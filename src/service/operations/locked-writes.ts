// Writes of configuration and users, under the lock of their realm.
import { MASTER } from '../../kinds/built-in/index.ts'
import { Rollback, type Transaction } from '../../store/database/transaction.ts'
import {
  areVersionsCurrent,
  findRealmsByNumber,
  kindsInRealmRow,
  lockForNewUsers,
  lockRealms,
  type PermissionVersions,
  type RealmRow,
} from '../../store/realms.ts'
import { type AfterCommit, createWriteReport, type LastChanges, type WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { hasChanged } from '../context/realm-values.ts'
import type { Caller, Service, WriteTarget } from '../context/service.ts'
import { flushJournal, toWriteContext } from '../journal/journal.ts'
import { requireAdministratorLeft } from '../objects/last-administrator.ts'
import { startWorkflowsOnChanges } from '../workflows/activation.ts'
import { GroupCommit, type GroupTransaction, type TransactionScope } from './group-commit.ts'
import { LockedRealms } from './locked-realms.ts'
import { commit, createContext, type ServiceParts } from './transactions.ts'

/** A write to a realm. */
interface RealmWrite {
  readonly caller: Caller
  readonly target: Exclude<WriteTarget, string>
  readonly work: (context: WriteContext) => Promise<void>
}

/** A transaction that has locked a realm. */
interface LockedTransaction {
  readonly realms: LockedRealms
  readonly tx: Transaction
  readonly afterCommit: AfterCommit
  /** The realm as the next write finds it, except for its row if that is outdated. */
  realm: RealmRow
  hasOutdatedRow: boolean
  readonly lastChanges: LastChanges
  lastChangeAt: Date | null
  /** Writes with changes of directories. */
  readonly directoryWrites: WriteContext[]
  /** Versions that are current. Those of this realm are checked again for each write. */
  readonly currentVersions: Set<PermissionVersions>
}

/** The most transactions at a time in which users of a realm are created. */
const MOST_CREATING = 2

/** Creates the function that writes to realms: in groups, except writes that are large, or that have a lease or a deadline. */
export function createLockedWrites(parts: ServiceParts): Service['write'] {
  const realms = new LockedRealms(parts.cache)
  const transaction: GroupTransaction<RealmWrite, LockedTransaction> = {
    commit: (work) => commit(parts, {}, work),
    begin: (scope, writes) => begin(realms, scope, writes),
    run: (locked, write) => runWrite(parts, locked, write),
    finish: (locked, writes) => finishTransaction(parts, locked, writes),
    canGrow: true,
  }
  const exclusive = new GroupCommit(1, transaction)
  // Creations of users share the lock, but each group locks the names of its users when it begins.
  const creating = new GroupCommit(MOST_CREATING, { ...transaction, canGrow: false })
  return async <T>(caller: Caller, nameOrTarget: WriteTarget, work: (context: WriteContext) => Promise<T>) => {
    const target = typeof nameOrTarget === 'string' ? { realm: nameOrTarget } : nameOrTarget
    let result: { readonly value: T } | undefined
    const writeReport = createWriteReport()
    const write: RealmWrite = {
      caller: caller.writeReport ? { ...caller, writeReport } : caller,
      target,
      work: async (context) => {
        for (const list of Object.values(writeReport)) list.length = 0
        try {
          result = { value: await work(context) }
        } catch (error) {
          // The transaction of a single write returns this value. In a group, the write is run again.
          if (error instanceof Rollback) result = { value: error.value }
          throw error
        }
      },
    }
    if (target.withMaster || target.isLarge || caller.lease || caller.deadline)
      await commit(parts, caller, async (tx, afterCommit) => {
        const locked = await begin(realms, { tx, afterCommit }, [write])
        await runWrite(parts, locked, write)
        await finishTransaction(parts, locked, 1)
      })
    else await (createsUsersOnly(target) ? creating : exclusive).write(target.realm, write)
    caller.writeReport?.overwrittenDeclarations.push(...writeReport.overwrittenDeclarations)
    caller.writeReport?.unenforcedValues.push(...writeReport.unenforcedValues)
    return result!.value
  }
}

/** New users of master may be its only administrators, which is checked under the exclusive lock. */
const createsUsersOnly = ({ realm, newUserNames }: RealmWrite['target']): boolean =>
  newUserNames !== undefined && realm !== MASTER

/** Locks the realm of the writes. Throws not_found. */
async function begin(
  realms: LockedRealms,
  { tx, afterCommit }: TransactionScope,
  writes: readonly RealmWrite[],
): Promise<LockedTransaction> {
  const { caller, target } = writes[0]!
  const { realm: name, withMaster } = target
  const newUserNames = writes.flatMap((write) => write.target.newUserNames ?? [])
  const lock = (tx: Transaction) =>
    createsUsersOnly(target)
      ? lockForNewUsers(tx, name, newUserNames)
      : lockRealms(tx, withMaster ? [name, MASTER] : [name])
  const versions = caller.permissionVersions
  const locked = await realms.lock(tx, { name, lock, versions })
  if (!locked) throw failure('not_found', 'Realm not found.')
  const { realm, lastChanges, lastChangeAt, areCurrent } = locked
  return {
    realms,
    tx,
    afterCommit,
    realm,
    hasOutdatedRow: false,
    lastChanges,
    lastChangeAt,
    directoryWrites: [],
    currentVersions: new Set(versions && areCurrent ? [versions] : []),
  }
}

/** Runs a write, checks that an administrator is left, and writes the journal. */
async function runWrite(parts: ServiceParts, locked: LockedTransaction, write: RealmWrite): Promise<void> {
  const { tx, afterCommit, lastChanges } = locked
  const { caller, target, work } = write
  if (locked.hasOutdatedRow) await updateRow(locked)
  const { realm, lastChangeAt } = locked
  const permissions = (await hasCurrentPermissions(locked, caller)) ? caller.permissions : undefined
  // The next request gets current versions, so that its writes need not read the permissions again.
  if (!permissions && caller.token) parts.cache.forget({ realm: caller.token.realm.number, name: caller.token.id })
  const common = await createContext(parts, { tx, caller }, { realm, afterCommit, permissions })
  const context = toWriteContext(common, { lastChanges, lastChangeAt })
  await finishWrite(createsUsersOnly(target) ? { ...context, createsUsersOnly: true } : context, work)
  if (context.directoryChanges.length) locked.directoryWrites.push(context)
  if (context.flushedEntries) locked.lastChangeAt = context.changedAt
  locked.realm = { ...realm, revision: realm.revision + context.flushedEntries }
  locked.hasOutdatedRow = [...kindsInRealmRow].some((kind) => hasChanged(context, kind))
  if (locked.hasOutdatedRow) locked.realms.forget(realm)
}

/**
 * Writes changes to directories, which cannot be rolled back, before the commit. Throws if the transaction has other writes: if one of them
 * failed, the directories would have changes that are not committed. Then each write gets a transaction of its own.
 */
async function finishTransaction(parts: ServiceParts, { directoryWrites }: LockedTransaction, writes: number) {
  if (!directoryWrites.length) return
  if (writes > 1) throw new Error('Changes of directories need a transaction of their own.')
  for (const context of directoryWrites) await parts.writeDirectories(context)
}

async function hasCurrentPermissions(
  { tx, realm, currentVersions }: LockedTransaction,
  { permissionVersions: versions }: Caller,
): Promise<boolean> {
  if (!versions) return false
  const wasCurrent = currentVersions.delete(versions)
  const areCurrent = wasCurrent || (await areVersionsCurrent(tx, versions))
  if (areCurrent && versions.realm !== realm.number) currentVersions.add(versions)
  return areCurrent
}

/** Reads the row of the realm again, which an earlier write of the transaction has changed. One statement. */
async function updateRow(locked: LockedTransaction): Promise<void> {
  const { number, revision } = locked.realm
  const [row] = await findRealmsByNumber(locked.tx, [number])
  if (!row) throw failure('not_found', 'Realm not found.')
  locked.realm = { ...row, revision }
  locked.hasOutdatedRow = false
}

/** Runs the work of a write, checks that an administrator is left, starts workflows, and writes the journal. */
export async function finishWrite<T>(context: WriteContext, work: (context: WriteContext) => Promise<T>): Promise<T> {
  const result = await work(context)
  await requireAdministratorLeft(context)
  await startWorkflowsOnChanges(context)
  await flushJournal(context)
  return result
}
