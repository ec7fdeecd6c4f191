// Writes the statuses of resources: those of a realm after its reconciliation, and those of unresolved resources.
import type { Measurements } from '../../lib/measurements.ts'
import type { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { ClusterRealm, UnresolvedResource } from '../desired/desired-realms.ts'
import { createWriteQueue } from '../operator-queue.ts'
import type { RealmRunResult } from '../status/realm-run-result.ts'
import { mergeReconciliations, type RealmReconciliation } from '../status/realm-status.ts'
import type { ReconciledRealm, StatusWriter } from '../status/status-writer.ts'
import type { DriftIndex } from './drift-index.ts'

/** Options of a realm status controller. */
export interface RealmStatusOptions {
  readonly statusWriter: StatusWriter
  readonly driftIndex: DriftIndex
  /** Reports a failure, which is retried. */
  readonly onError: (error: unknown) => void
}

/** Records reconciliations of realms, and writes their statuses. */
export class RealmStatusController {
  readonly #options: RealmStatusOptions
  /** The last reconciliation of each realm. */
  readonly #reconciled = new Map<string, ReconciledRealm>()
  /** Reconciliations whose statuses were written. */
  readonly #reported = new WeakSet<ReconciledRealm>()
  readonly #queue: WorkQueue<string>
  /** Writes the statuses of unresolved resources. Its only key is the empty text. */
  readonly #unresolvedQueue: WorkQueue<string>
  #unresolved: readonly UnresolvedResource[] = []

  constructor(options: RealmStatusOptions, measurements: Measurements) {
    this.#options = options
    this.#queue = createWriteQueue((name) => this.#writeStatuses(name), options.onError, {
      name: 'realm-statuses',
      measurements,
    })
    this.#unresolvedQueue = createWriteQueue(
      () => options.statusWriter.writeUnresolved(this.#unresolved),
      options.onError,
      { name: 'unresolved-statuses', measurements },
    )
  }

  /** Returns the last reconciliation of a realm. */
  findLast(name: string): ReconciledRealm | undefined {
    return this.#reconciled.get(name)
  }

  /** Records a reconciliation, and queues the statuses of the realm. */
  record(realm: ClusterRealm, reconciliation: RealmReconciliation): void {
    const last = this.#reconciled.get(realm.name)
    // Keeps the counts of a run that no status has reported yet.
    const isReported = !last || this.#reported.has(last)
    const merged = isReported ? reconciliation : mergeReconciliations(last.reconciliation, reconciliation)
    this.#reconciled.set(realm.name, { realm, reconciliation: merged })
    this.enqueue(realm.name)
  }

  /** Replaces the result of a reconciliation, unless a later one was recorded. Queues the statuses of the realm. */
  replaceResult(reconciled: ReconciledRealm, result: RealmRunResult): void {
    const { realm, reconciliation } = reconciled
    if (this.#reconciled.get(realm.name) === reconciled)
      this.#reconciled.set(realm.name, { realm, reconciliation: { at: reconciliation.at, result } })
    this.enqueue(realm.name)
  }

  /** Queues the statuses of a realm. */
  enqueue(name: string): void {
    this.#queue.add(name)
  }

  /** Queues the statuses of a realm if one of its resources has changed since its status was written. */
  enqueueIfChanged({ name, resources }: ClusterRealm): void {
    const isWritten = resources.every(({ resource }) => this.#options.statusWriter.isCompared(resource))
    if (!isWritten) this.enqueue(name)
  }

  /** Replaces the unresolved resources, and queues their statuses. */
  updateUnresolved(unresolved: readonly UnresolvedResource[]): void {
    this.#unresolved = unresolved
    this.#unresolvedQueue.add('')
  }

  /** Starts nothing more, and resolves when the writes in progress have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#queue.close(), this.#unresolvedQueue.close()])
  }

  async #writeStatuses(name: string): Promise<void> {
    const last = this.#reconciled.get(name)
    if (!last) return
    await this.#options.statusWriter.writeRealm(last, this.#options.driftIndex.listDrift(name))
    this.#reported.add(last)
  }
}
