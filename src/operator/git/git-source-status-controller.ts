// Writes the status of RealmSources, and counts the objects that each manages after it was applied.
import type { WorkQueue } from '../../lib/timing/work-queue.ts'
import { isLeaseLost } from '../../reconcile/following/failures.ts'
import type { ReportedSourceStatus } from '../../reconcile/following/followed-source.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { confirmLease } from '../../service/operations/leases.ts'
import { getAppliedAndPending, listRealmSources } from '../../service/sources/source-records.ts'
import { createWriteQueue } from '../operator-queue.ts'
import type { DriftIndex } from '../realms/drift-index.ts'
import type { NamespaceInventory } from '../realms/namespace-inventory.ts'
import { findReconcileRequest } from '../status/conditions.ts'
import type { StatusWriter } from '../status/status-writer.ts'
import { type FollowedGitSource, getPermissionsFingerprint } from './followed-git-source.ts'
import type { PermissionInputs } from './git-source-permissions.ts'
import { type GitSourceResult, isReported, toGitSourceStatus } from './git-source-status.ts'

/** Options of a controller of statuses. */
export interface GitSourceStatusOptions {
  readonly lease: Lease
  readonly inventory: NamespaceInventory
  readonly driftIndex: DriftIndex
  readonly statusWriter: StatusWriter
  readonly getPermissionInputs: () => PermissionInputs
  /** Called after a source has changed the realm. */
  readonly onRealmChange: (realm: string) => void
  readonly onError: (error: unknown) => void
}

/** A controller of the status of RealmSources. */
export class GitSourceStatusController {
  readonly #service: Service
  readonly #options: GitSourceStatusOptions
  /** The followed sources by name. */
  readonly #followed: ReadonlyMap<string, FollowedGitSource>
  readonly #queue: WorkQueue<string>

  constructor(service: Service, options: GitSourceStatusOptions, followed: ReadonlyMap<string, FollowedGitSource>) {
    this.#service = service
    this.#options = options
    this.#followed = followed
    this.#queue = createWriteQueue((name) => this.#reconcile(name), options.onError, {
      name: 'git-source-statuses',
      measurements: service.measurements,
    })
  }

  /** Sets the result of a reconciliation, which handles the last request too, and writes the status. */
  setResult(followed: FollowedGitSource, result: GitSourceResult): void {
    followed.result = result
    followed.handledRequest = findReconcileRequest(followed.source)
    this.update(followed.source.name)
  }

  /** Writes the status of a source as soon as possible. */
  update(name: string): void {
    this.#queue.add(name)
  }

  /** Starts no further write, and resolves when the writes in progress have ended. */
  close(): Promise<void> {
    return this.#queue.close()
  }

  async #reconcile(name: string): Promise<void> {
    const followed = this.#followed.get(name)
    if (!followed?.result) return
    const { source, result } = followed
    const { driftIndex, statusWriter } = this.#options
    // A status is written even if the store does not respond: it reports the failure.
    const [count] = await Promise.allSettled([this.#countObjects(followed)])
    if (await this.#hasLostLease()) return
    const realmDrifts = followed.realms.flatMap((realm) => driftIndex.listDrift(realm))
    await statusWriter.write(source, (prior) =>
      toGitSourceStatus({ ...followed, result }, prior, { drifts: realmDrifts, now: this.#service.clock() }),
    )
    if (count.status === 'rejected') throw count.reason
  }

  /** Whether another process has the lease by now, and reports the status. */
  #hasLostLease(): Promise<boolean> {
    return confirmLease(this.#service, this.#options.lease).then(() => false, isLeaseLost)
  }

  /** Counts the objects of a source after it was applied, and announces the realms that it has changed. */
  async #countObjects(followed: FollowedGitSource): Promise<void> {
    const { result, source } = followed
    if (followed.objectCount !== undefined || !isReported(result) || !result.outcome) return
    const { inventory, getPermissionInputs, onRealmChange } = this.#options
    followed.applied = (await getAppliedAndPending(this.#service, [source.name])).applied
    inventory.recordGitSource(source.name, followed.applied)
    // The namespace owns the realms that the source has created, which is no change of its permissions.
    if (followed.permissionsFingerprint !== undefined)
      followed.permissionsFingerprint = getPermissionsFingerprint(followed, getPermissionInputs())
    const realmSources = await Promise.all(
      followed.applied.map(({ realm }) => this.#service.read(SYSTEM, realm, listRealmSources)),
    )
    followed.objectCount = realmSources
      .flat()
      .reduce((sum, { source: name, objects }) => sum + (name === source.name ? objects : 0), 0)
    for (const realm of listChangedRealms(result)) onRealmChange(realm)
  }
}

/** Lists the realms that a run has changed. */
export function listChangedRealms({ outcome }: ReportedSourceStatus): string[] {
  const changed = (outcome?.realms ?? []).filter(
    ({ plan, pendingApproval, suspended }) =>
      !pendingApproval && !suspended && (plan.creates || plan.actions.length > 0),
  )
  return changed.map(({ plan }) => plan.realm)
}
