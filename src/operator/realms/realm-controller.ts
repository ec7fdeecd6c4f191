// Reconciles the realms that resources declare: applies each, and writes the secrets of its clients and the status of its resources.
import { isDeepStrictEqual } from 'node:util'
import { readText } from '../../kinds/json.ts'
import { getErrorMessage } from '../../lib/error-message.ts'
import type { ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import { parseDuration } from '../../realm-file/resources/duration.ts'
import { isLeaseLost } from '../../reconcile/following/failures.ts'
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { confirmLease } from '../../service/operations/leases.ts'
import type { ClusterCache } from '../cluster/cluster-cache.ts'
import type { SecretWriter } from '../cluster/secret-writer.ts'
import { findSkipReason } from '../desired/dependencies.ts'
import { type ClusterRealm, type DesiredRealms, getUnresolvedFiles } from '../desired/desired-realms.ts'
import { getFingerprint } from '../desired/fingerprint.ts'
import { createOperatorQueue, createWriteQueue } from '../operator-queue.ts'
import { ResourceSecretWriter } from '../secrets/resource-secret-writer.ts'
import { findOutage, type Outage } from '../status/outage.ts'
import type { RealmRunResult } from '../status/realm-run-result.ts'
import { FaultMemory } from './fault-memory.ts'
import type { NamespaceInventory } from './namespace-inventory.ts'
import type { PostponedDeletions } from './postponed-deletions.ts'
import { type DryRunOptions, limitSourcePermissions, type RealmRunOptions } from './realm-run.ts'
import { RealmStatusController, type RealmStatusOptions } from './realm-status-controller.ts'
import { type ReconcileOutcome, reconcileRealm } from './reconcile-realm.ts'
import { ReconciliationLog } from './reconciliation-log.ts'

/** Seconds between two reconciliations of an unchanged realm, unless it sets `interval`. */
const DEFAULT_INTERVAL = 600

/** Options of a realm controller. */
export interface RealmControllerOptions
  extends RealmStatusOptions,
    Pick<DryRunOptions, 'findSourcePermissions' | 'isAdoptable'> {
  readonly lease: Lease
  readonly cache: ClusterCache
  readonly secretWriter: SecretWriter
  /** The URL under which clients reach the server; undefined if no setting names it. */
  readonly publicUrl: string | undefined
  readonly inventory: NamespaceInventory
  readonly postponedDeletions: PostponedDeletions
  /** Called after a run has changed something in a realm. */
  readonly onRealmChange: (realm: string) => void
  /** Prints a message for the administrator. */
  readonly log: (line: string) => void
}

/** Reconciles realms while this process holds the lease. */
export class RealmController {
  readonly #service: Service
  readonly #options: RealmControllerOptions
  readonly #secrets: ResourceSecretWriter
  /** The fingerprint of each realm when its last reconciliation was queued. */
  readonly #fingerprints = new Map<string, string>()
  /** Realms that are queued since their resources have changed, and for no other reason. */
  readonly #changed = new Set<string>()
  /** The faults that runs of each realm found. */
  readonly #faultMemories = new Map<string, FaultMemory>()
  readonly #queue: WorkQueue<string>
  /** Realms whose client secrets are written again without an apply, which would also correct drift. */
  readonly #secretQueue: WorkQueue<string>
  readonly #statusController: RealmStatusController
  readonly #log: ReconciliationLog
  #desired: DesiredRealms = { realms: new Map(), unresolved: [] }
  /** Files of unresolved resources by namespace. */
  #unresolvedFiles: ReadonlyMap<string, readonly string[]> = new Map()

  constructor(service: Service, options: RealmControllerOptions) {
    const { cache, secretWriter, publicUrl, log, onError } = options
    const { measurements } = service
    this.#service = service
    this.#log = new ReconciliationLog(log)
    this.#options = options
    this.#queue = createOperatorQueue((name) => this.#reconcile(name), onError, { name: 'realms', measurements })
    this.#secretQueue = createWriteQueue((name) => this.#rewriteSecrets(name), onError, {
      name: 'client-secrets',
      measurements,
    })
    this.#statusController = new RealmStatusController(options, measurements)
    const onChange = (realm: string) => this.#secretQueue.add(realm)
    this.#secrets = new ResourceSecretWriter(service, { cache, secretWriter, publicUrl, onChange })
  }

  /** The realms that resources declare now. */
  get realms(): ReadonlyMap<string, ClusterRealm> {
    return this.#desired.realms
  }

  /** Replaces the desired state: queues the realms that have changed, and the statuses of changed resources. */
  update(desired: DesiredRealms): void {
    this.#desired = desired
    this.#unresolvedFiles = getUnresolvedFiles(desired)
    const names = new Set([...desired.realms.keys(), ...this.#options.inventory.listRealms()])
    for (const name of names) this.#enqueueIfChanged(name)
    this.#statusController.updateUnresolved(desired.unresolved)
  }

  /** Queues a realm whose live state has changed, if resources declare it. */
  reconcile(name: string): void {
    if (this.#desired.realms.has(name)) this.#queue.add(name)
  }

  /** Queues a realm whose drift has changed: for a reconciliation if drift must be corrected, else for its statuses. */
  handleDriftChange(name: string, needsCorrection: boolean): void {
    if (needsCorrection) this.#queue.add(name)
    else this.#statusController.enqueue(name)
  }

  /** Starts nothing more, and resolves when the work in progress has ended. */
  async close(): Promise<void> {
    this.#secrets.close()
    await Promise.all([this.#queue.close(), this.#secretQueue.close(), this.#statusController.close()])
  }

  /** Returns the desired realm; an empty one if no resource declares it any more. */
  #getRealm(name: string): ClusterRealm {
    const undeclared = { name, owner: undefined, resources: [], sourcePermissions: new Map(), settings: {} }
    return this.#desired.realms.get(name) ?? undeclared
  }

  /** Queues a realm for a reconciliation if an input of it has changed, else for secrets and statuses that have changed. */
  #enqueueIfChanged(name: string): void {
    const realm = this.#getRealm(name)
    const skipReason = findSkipReason(realm, this.#desired.realms)
    const fingerprint = getFingerprint(realm, { unresolved: this.#unresolvedFiles, skipReason })
    if (this.#fingerprints.get(name) !== fingerprint) {
      this.#fingerprints.set(name, fingerprint)
      this.#changed.add(name)
      this.#queue.add(name)
      return
    }
    if (this.#secrets.isOutdated(realm)) this.#secretQueue.add(name)
    this.#statusController.enqueueIfChanged(realm)
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const realm = this.#getRealm(name)
    const retriesFaulty = !this.#changed.delete(name)
    try {
      const withoutFinalizer = await this.#options.statusWriter.addFinalizers(realm)
      const applied = await this.#apply(realm, { withoutFinalizer, retriesFaulty })
      const outcome = await this.#withSecrets(realm, applied)
      await confirmLease(this.#service, this.#options.lease)
      await this.#options.postponedDeletions.update(realm, { at: this.#service.clock(), ...outcome })
      this.#record(realm, outcome)
      if ('result' in outcome)
        this.#log.report(name, outcome.result, retriesFaulty ? 'drift or interval' : 'resources changed')
      this.#announce(realm, outcome)
      const isPartial = withoutFinalizer.size > 0 || hasSecretFaults(outcome) || hasFailedTenants(outcome)
      if (!('result' in outcome)) return { requeueAfter: getInterval(realm) }
      const retryDelay = retriesFaulty
        ? undefined
        : this.#getFaultMemory(name).getRetryDelay(outcome.result.plan.create > 0)
      return isPartial ? getRetry(realm) : { requeueAfter: retryDelay ?? getInterval(realm) }
    } catch (error) {
      return this.#handleFailure(realm, error)
    }
  }

  #getFaultMemory(name: string): FaultMemory {
    const memory = this.#faultMemories.get(name) ?? new FaultMemory()
    this.#faultMemories.set(name, memory)
    return memory
  }

  /** Applies the realm unless it must be skipped. */
  async #apply(
    realm: ClusterRealm,
    run: Pick<RealmRunOptions, 'withoutFinalizer' | 'retriesFaulty'>,
  ): Promise<ReconcileOutcome> {
    const { lease, findSourcePermissions, isAdoptable, inventory } = this.#options
    const { name, owner } = realm
    const isOwner = owner !== undefined && inventory.findOwnerNamespace(name) === owner.namespace
    const outcome = await reconcileRealm(this.#service, this.#options.postponedDeletions.addTo(realm), {
      skipReason: findSkipReason(realm, this.#desired.realms),
      ...{ lease, findSourcePermissions, isAdoptable, isOwner, onError: this.#options.onError, ...run },
      faultMemory: this.#getFaultMemory(name),
      unresolved: this.#unresolvedFiles,
      appliedNamespaces: inventory.getNamespaces(name),
      dependentGitSources: isOwner ? inventory.listDependentGitSources(name, owner.namespace) : [],
    })
    if ('result' in outcome) inventory.recordRun(realm, outcome.result)
    return outcome
  }

  async #withSecrets(realm: ClusterRealm, outcome: ReconcileOutcome): Promise<ReconcileOutcome> {
    return 'result' in outcome ? { result: await this.#writeSecrets(realm, outcome.result) } : outcome
  }

  /** Writes the secrets of the realm's clients, and returns the result with the faults of resources whose secret was not written. */
  async #writeSecrets(realm: ClusterRealm, result: RealmRunResult): Promise<RealmRunResult> {
    const permitted = limitSourcePermissions(realm, this.#options.findSourcePermissions)
    return { ...result, secretFaults: await this.#secrets.write(permitted, result.faults) }
  }

  #record(
    realm: ClusterRealm,
    outcome: ReconcileOutcome | { readonly failure: string } | { readonly outage: Outage },
  ): void {
    this.#statusController.record(realm, { at: this.#service.clock(), ...outcome })
  }

  /** Reports changes to the other controllers, and prints pending approvals that no resource could report. */
  #announce({ name, owner }: ClusterRealm, outcome: ReconcileOutcome): void {
    if (!('result' in outcome)) return
    const { pendingApproval, outcome: runOutcome, plan } = outcome.result
    if (runOutcome === 'applied' && plan.create + plan.update + plan.delete > 0) this.#options.onRealmChange(name)
    if (!pendingApproval || owner) return
    const approval = `Approve it with "regent approve ${pendingApproval.plan}".`
    this.#options.log(`No resource declares the realm ${name} any more, and its plan is pending approval. ${approval}`)
  }

  #handleFailure(realm: ClusterRealm, error: unknown): ReconcileResult {
    // Another process holds the lease, and writes the statuses.
    if (isLeaseLost(error)) return {}
    this.#options.onError(error)
    const outage = findOutage(error)
    this.#record(realm, outage ? { outage } : { failure: getErrorMessage(error) })
    return getRetry(realm)
  }

  /** Writes the secrets of a realm again after one has changed in the realm or in the cluster. */
  async #rewriteSecrets(name: string): Promise<void> {
    const last = this.#statusController.findLast(name)
    if (!last || !('result' in last.reconciliation)) return
    const { result } = last.reconciliation
    // A reconciliation may write them at the same time: both write the desired secrets.
    const desired = this.#desired.realms.get(name)
    const current = await this.#writeSecrets(this.#getRealm(name), result)
    // Not the result of `#getRealm`: of a realm that nothing declares it is a new object each time.
    if (this.#desired.realms.get(name) !== desired) this.#secretQueue.add(name)
    if (!isDeepStrictEqual(current, result)) this.#statusController.replaceResult(last, current)
  }
}

const hasSecretFaults = (outcome: ReconcileOutcome): boolean =>
  'result' in outcome && (outcome.result.secretFaults?.size ?? 0) > 0

const hasFailedTenants = (outcome: ReconcileOutcome): boolean =>
  'result' in outcome && [...outcome.result.tenants.values()].some((tenant) => typeof tenant === 'string')

/**
 * Returns the milliseconds until an unchanged realm is reconciled again; undefined for never. Random by 10 %, so that realms do not
 * coincide.
 */
function getInterval({ owner }: ClusterRealm): number | undefined {
  const interval = readText(owner?.resource.spec?.interval)
  const seconds = interval ? parseDuration(interval) : DEFAULT_INTERVAL
  return seconds ? seconds * 1000 * (0.9 + Math.random() / 5) : undefined
}

/** Returns a failure that is retried after the `retryInterval` of the realm, or after the back-off. */
function getRetry({ owner }: ClusterRealm): ReconcileResult {
  const interval = readText(owner?.resource.spec?.retryInterval)
  return { failed: true, requeueAfter: (interval && parseDuration(interval) * 1000) || undefined }
}
