// Finalizes RealmSources whose resource was deleted: deletes or releases their objects, then removes the finalizer.
import type { ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import { isLeaseLost, isRefusal } from '../../reconcile/following/failures.ts'
import { applySources } from '../../reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { forgetSourceInRealm, getAppliedAndPending } from '../../service/sources/source-records.ts'
import { saveSourceStatus } from '../../service/sources/source-status.ts'
import { isConflict } from '../cluster/resource-writer.ts'
import { readSourceSettings } from '../desired/declaring-resource.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { createOperatorQueue } from '../operator-queue.ts'
import type { NamespaceInventory } from '../realms/namespace-inventory.ts'
import type { StatusWriter } from '../status/status-writer.ts'
import type { FollowedGitSource } from './followed-git-source.ts'
import type { GitSource } from './git-source.ts'
import { getRealmPermissions, type PermissionInputs } from './git-source-permissions.ts'
import type { GitSourceStatusController } from './git-source-status-controller.ts'
import { renderSourceError } from './namespace-controllers.ts'

/** Options of a finalizer. */
export interface GitSourceFinalizerOptions {
  readonly lease: Lease
  readonly inventory: NamespaceInventory
  readonly statusWriter: StatusWriter
  readonly getPermissionInputs: () => PermissionInputs
  readonly onError: (error: unknown) => void
}

/** The followed sources, and where their status is reported. */
interface FinalizerContext {
  readonly followed: ReadonlyMap<string, FollowedGitSource>
  readonly statusController: GitSourceStatusController
  /** Resolves when nothing of an earlier version of the source runs any longer. */
  readonly waitUntilStopped: (name: string) => Promise<void>
}

/** Milliseconds until a blocked deletion is tried again. */
const RETRY_INTERVAL = 600_000

/** A finalizer of RealmSources. */
export class GitSourceFinalizer {
  readonly #service: Service
  readonly #options: GitSourceFinalizerOptions
  readonly #context: FinalizerContext
  readonly #queue: WorkQueue<string>

  constructor(service: Service, options: GitSourceFinalizerOptions, context: FinalizerContext) {
    this.#service = service
    this.#options = options
    this.#context = context
    this.#queue = createOperatorQueue((name) => this.#reconcile(name), options.onError)
  }

  /** Finalizes a source as soon as possible, if its resource was deleted. */
  add(name: string): void {
    if (this.#context.followed.get(name)?.source.removal) this.#queue.add(name)
  }

  /** Starts no further run, and resolves when the runs in progress have ended. */
  close(): Promise<void> {
    return this.#queue.close()
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const { followed: sources, statusController, waitUntilStopped } = this.#context
    const followed = sources.get(name)
    if (!followed?.source.removal) return {}
    await waitUntilStopped(name)
    try {
      const fault = await this.#finalize(followed.source)
      if (fault) {
        statusController.setResult(followed, { fault })
        return { requeueAfter: RETRY_INTERVAL }
      }
      this.#options.inventory.recordGitSource(name, [])
      await this.#options.statusWriter.release(followed.source)
      return {}
    } catch (error) {
      return this.#handleError(followed, error)
    }
  }

  /**
   * Deletes or releases the objects of a source, and deletes its records. Returns what blocks that. The resource does not wait for the
   * approval of the deletion of a realm with users, which stays live.
   */
  async #finalize(source: GitSource): Promise<ResourceFault | undefined> {
    const fault = source.removal === 'deleted' ? await this.#deleteObjects(source) : undefined
    if (fault === 'realmPending') return undefined
    if (!fault) await this.#forgetSource(source.name)
    return fault
  }

  /** Deletes the objects of a source in all realms that it may still declare. Returns what blocks that. */
  async #deleteObjects(source: GitSource): Promise<ResourceFault | 'realmPending' | undefined> {
    const { name, namespace, resource } = source
    if (resource.spec?.suspend === true) {
      const message = 'The source is suspended. Set spec.suspend to false to delete its objects.'
      return { reason: 'Suspended', message, isIntended: true }
    }
    const { lease, getPermissionInputs } = this.#options
    const { applied } = await getAppliedAndPending(this.#service, [name])
    const inputs = getPermissionInputs()
    const realms = applied
      .map(({ realm, declaredName }) => declaredName ?? realm)
      .filter((realm) => 'permissions' in getRealmPermissions(namespace, { name: realm, exists: true }, inputs))
    const outcome = await applySources(this.#service, { actor: { kind: 'source', source: name }, lease }, [
      {
        ...{ name, revision: '', documents: [], files: [], settings: readSourceSettings(source.resource) },
        sourcePermissions: { realms },
        removals: { rest: 'deleted' },
      },
    ])
    for (const { plan, pendingApproval, suspended } of outcome.realms) {
      if (pendingApproval?.guards.some(({ guard }) => guard === 'deletesRealm')) return 'realmPending'
      if (pendingApproval) {
        const message = `The plan ${pendingApproval.plan} is pending approval. Approve it with "regent approve ${pendingApproval.plan}".`
        return { reason: 'PendingApproval', message }
      }
      if (suspended) {
        const message = `The realm ${plan.realm} was rolled back. Resume with "regent source resume ${name}".`
        return { reason: 'RolledBack', message }
      }
    }
    return undefined
  }

  /** Deletes the records of a source. Objects that it still manages become unmanaged. */
  async #forgetSource(name: string): Promise<void> {
    const { lease } = this.#options
    const { applied } = await getAppliedAndPending(this.#service, [name])
    for (const { realm } of applied)
      await this.#service.write({ ...SYSTEM, lease }, realm, (context) => forgetSourceInRealm(context, name))
    await saveSourceStatus(this.#service, lease, { source: name, status: {} })
  }

  #handleError(followed: FollowedGitSource, error: unknown): ReconcileResult {
    // Another process has the lease, and reports the status.
    if (isLeaseLost(error)) return {}
    const { statusController } = this.#context
    if (isRefusal(error)) {
      statusController.setResult(followed, { fault: { reason: 'InUse', message: renderSourceError(error) } })
      return { failed: true }
    }
    if (!isConflict(error)) this.#options.onError(error)
    followed.result = { failure: `The objects of the source are not deleted yet: ${renderSourceError(error)}` }
    statusController.update(followed.source.name)
    return { failed: true }
  }
}
