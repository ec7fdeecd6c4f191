// Finalizes RealmSources whose resource was deleted: deletes or releases their objects, then removes the finalizer.
import type { ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import { isLeaseLost, isRefusal } from '../../reconcile/following/failures.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import { applySources } from '../../reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { forgetSourceInRealm, getAppliedAndPending } from '../../service/sources/source-records.ts'
import { saveSourceStatus } from '../../service/sources/source-status.ts'
import type { ResourceEvent } from '../cluster/resource.ts'
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
    this.#queue = createOperatorQueue((name) => this.#reconcile(name), options.onError, {
      name: 'git-source-finalizers',
      measurements: service.measurements,
    })
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
    const { followed: sources, waitUntilStopped } = this.#context
    const followed = sources.get(name)
    if (!followed?.source.removal) return {}
    await waitUntilStopped(name)
    try {
      const event = await this.#finalize(followed.source)
      this.#options.inventory.recordGitSource(name, [])
      await this.#options.statusWriter.release(followed.source, event)
      return {}
    } catch (error) {
      return this.#handleError(followed, error)
    }
  }

  /**
   * Deletes or releases the objects of a source, and deletes its records. The resource does not wait for approvals or for what depends on
   * an object: these objects stay live. Returns an event about them.
   */
  async #finalize(source: GitSource): Promise<ResourceEvent | undefined> {
    const obstacle = source.removal === 'deleted' ? await this.#deleteObjects(source) : undefined
    // The approved plan deletes what the records contain.
    if (obstacle?.reason !== 'PendingApproval') await this.#forgetSource(source.name)
    return obstacle && { type: 'Warning', reason: obstacle.reason, message: `Objects stay live. ${obstacle.message}` }
  }

  /** Deletes the objects of a source in all realms that it may still declare. Returns what prevents that, other than a temporary failure. */
  async #deleteObjects(source: GitSource): Promise<ResourceFault | undefined> {
    const { name, namespace } = source
    const { lease, getPermissionInputs } = this.#options
    const { applied } = await getAppliedAndPending(this.#service, [name])
    const inputs = getPermissionInputs()
    const realms = applied
      .map(({ realm, declaredName }) => declaredName ?? realm)
      .filter((realm) => 'permissions' in getRealmPermissions(namespace, { name: realm, exists: true }, inputs))
    const content: SourceContent = {
      ...{ name, revision: '', documents: [], files: [], settings: readSourceSettings(source.resource) },
      sourcePermissions: { realms },
      removals: { rest: 'deleted' },
    }
    const caller = { actor: { kind: 'source', source: name }, lease } as const
    const outcome = await applySources(this.#service, caller, [content]).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      return { reason: 'InUse', message: renderSourceError(error) }
    })
    if ('reason' in outcome) return outcome
    for (const { plan, pendingApproval, suspended } of outcome.realms) {
      if (pendingApproval) {
        const message = `The plan ${pendingApproval.plan} is pending approval. Approve it with "regent approve ${pendingApproval.plan}".`
        return { reason: 'PendingApproval', message }
      }
      if (suspended) {
        const message = `The realm ${plan.realm} was rolled back to an earlier revision.`
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
    if (!isConflict(error)) this.#options.onError(error)
    followed.result = { failure: `The objects of the source are not deleted yet: ${renderSourceError(error)}` }
    statusController.update(followed.source.name)
    return { failed: true }
  }
}
