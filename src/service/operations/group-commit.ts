// Group commit: writes to a realm that wait for its lock at the same time share one transaction, so that they share its lock and its commit.
import { getScope, type RequestScope, runInScope } from '../../lib/request-scope.ts'
import { awaitStatements, Rollback, requireNoTransaction, type Transaction } from '../../store/database/transaction.ts'
import type { AfterCommit } from '../context/context.ts'

/** A transaction, and what is done after its commit. */
export interface TransactionScope {
  readonly tx: Transaction
  readonly afterCommit: AfterCommit
}

/** The functions of a transaction that runs the writes of a group. `T` is what the writes share, such as the locked realm. */
export interface GroupTransaction<W, T> {
  /** Runs work in a transaction, and commits it. */
  readonly commit: <R>(work: (tx: Transaction, afterCommit: AfterCommit) => Promise<R>) => Promise<R>
  /** Takes the locks that the writes need. */
  readonly begin: (scope: TransactionScope, writes: readonly W[]) => Promise<T>
  /** Runs a write. */
  readonly run: (shared: T, write: W) => Promise<void>
  /** Ends the transaction of so many writes, before its commit. */
  readonly finish: (shared: T, writes: number) => Promise<void>
  /** Whether writes that arrive meanwhile join the group. */
  readonly canGrow: boolean
}

/** The most writes of a group. */
const LARGEST_GROUP = 32

interface WaitingWrite<W> {
  readonly write: W
  /** The scope of the request that waits. */
  readonly scope: RequestScope
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The writes that wait for the same lock. */
interface WriteQueue<W> {
  readonly waiting: WaitingWrite<W>[]
  /** Number of the groups that run. */
  groups: number
}

/**
 * Commits writes in groups. If a write of a group fails, nothing of the group is committed, and each of its writes is run again in a
 * transaction of its own.
 */
export class GroupCommit<W, T> {
  readonly #queues = new Map<string, WriteQueue<W>>()
  readonly #mostGroups: number
  readonly #transaction: GroupTransaction<W, T>

  /** @param mostGroups the most groups of a queue at a time */
  constructor(mostGroups: number, transaction: GroupTransaction<W, T>) {
    this.#mostGroups = mostGroups
    this.#transaction = transaction
  }

  /** Runs a write together with those that wait in the queue of this name. */
  write(name: string, write: W): Promise<void> {
    requireNoTransaction()
    const queue = this.#queues.get(name) ?? { waiting: [], groups: 0 }
    this.#queues.set(name, queue)
    return new Promise((resolve, reject) => {
      queue.waiting.push({ write, scope: getScope(), resolve, reject })
      if (queue.groups < this.#mostGroups) void this.#commitGroups(name, queue)
    })
  }

  async #commitGroups(name: string, queue: WriteQueue<W>): Promise<void> {
    queue.groups++
    while (queue.waiting.length) {
      const group = queue.waiting.splice(0, LARGEST_GROUP)
      await runInScope(group[0]!.scope, () => this.#commitGroup(group, queue.waiting))
    }
    queue.groups--
    if (!queue.groups) this.#queues.delete(name)
  }

  /** Commits writes, and those that join them. Does not throw: the writes get the errors. */
  async #commitGroup(group: WaitingWrite<W>[], waiting: WaitingWrite<W>[]): Promise<void> {
    let isSplit = false
    try {
      await this.#transaction.commit((tx, afterCommit) =>
        this.#runGroup({ tx, afterCommit }, group, waiting).catch(async (error: unknown) => {
          isSplit = group.length > 1
          if (!isSplit) throw error
          await awaitStatements(tx).catch(() => {})
          throw new Rollback(undefined)
        }),
      )
      // Which of the writes has failed shows when each runs alone.
      if (isSplit) for (const member of group) await this.#commitGroup([member], [])
      else for (const { resolve } of group) resolve()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  async #runGroup(scope: TransactionScope, group: WaitingWrite<W>[], waiting: WaitingWrite<W>[]): Promise<void> {
    const { begin, run, finish, canGrow } = this.#transaction
    const writes = group.map(({ write }) => write)
    const shared = await begin(scope, writes)
    for (let at = 0; at < group.length; at++) {
      const { write, scope } = group[at]!
      // The first one is that of the transaction.
      await (at ? runInScope(scope, () => run(shared, write)) : run(shared, write))
      if (canGrow && group.length < LARGEST_GROUP) group.push(...waiting.splice(0, 1))
    }
    await finish(shared, group.length)
    // A failed write of several must be known before the commit is sent.
    if (group.length > 1) await awaitStatements(scope.tx)
  }
}
