// The operator: resolves what the resources of the cluster declare, and passes it on to the controllers of realms and RealmSources.
import { raceAbort } from '../lib/timing/race-abort.ts'
import type { WorkQueue } from '../lib/timing/work-queue.ts'
import type { ResourceReadiness, Service } from '../service/context/service.ts'
import type { SourcePermissionLookup } from '../service/context/source-permissions.ts'
import type { Lease } from '../service/context/store-types.ts'
import type { LeaseCandidate, LeaseWork } from '../service/operations/leases.ts'
import { type ClusterCache, findReadError, watchCluster } from './cluster/cluster-cache.ts'
import type { ClusterClient } from './cluster/cluster-client.ts'
import { ClusterLease, type LeaseName } from './cluster/cluster-lease.ts'
import type { ReadFailure } from './cluster/informer.ts'
import { isRegentResource, type Resource } from './cluster/resource.ts'
import { ResourceWriter } from './cluster/resource-writer.ts'
import { createSecretWriter, type SecretWriter } from './cluster/secret-writer.ts'
import type { WatchScope } from './cluster/watch-scope.ts'
import { resolveDesiredRealms } from './desired/desired-realms.ts'
import { findClusterPermissions } from './desired/namespace-permissions.ts'
import { FluxSources } from './git/flux-sources.ts'
import type { GitSourceDefaults } from './git/followed-git-source.ts'
import { parseGitSources } from './git/git-source.ts'
import { GitSourceController } from './git/git-source-controller.ts'
import { createOperatorQueue } from './operator-queue.ts'
import { type DriftIndex, watchDrift } from './realms/drift-index.ts'
import { type NamespaceInventory, readNamespaceInventory } from './realms/namespace-inventory.ts'
import { type PostponedDeletions, readPostponedDeletions } from './realms/postponed-deletions.ts'
import { RealmController, type RealmControllerOptions } from './realms/realm-controller.ts'
import { NamespaceStatuses } from './status/namespace-statuses.ts'
import { StatusWriter } from './status/status-writer.ts'

/** Name of the lease of the replica that applies resources. */
export const OPERATOR_LEASE = 'operate'

/** Options of the operator. */
export interface OperatorOptions
  extends Pick<RealmControllerOptions, 'findSourcePermissions' | 'isAdoptable' | 'publicUrl' | 'log' | 'onError'> {
  readonly cluster: ClusterClient
  /** The part of the cluster that is read. */
  readonly scope: WatchScope
  /** The Lease in the cluster that the operator must hold. Absent: the lease in the store suffices. */
  readonly clusterLease?: LeaseName
  /** Whether the operator applies resources of the namespace. */
  readonly isWatchedNamespace: (namespace: string) => boolean
  /** Defaults of RealmSources. */
  readonly gitDefaults: GitSourceDefaults
}

/** Milliseconds between an event and the resolution of the resources, so that events in a burst are handled together. */
const DEBOUNCE = 20
/** The only key of the operator's queue. */
const KEY = 'resources'

/** Creates the operator, which applies resources while this process holds the lease. */
export function createOperator(service: Service, options: OperatorOptions): LeaseCandidate {
  const { cluster, clusterLease, scope, log } = options
  let operator: Operator | undefined
  const findFailure = async (isHolder: boolean, milliseconds: number): Promise<unknown> => {
    if (!isHolder || !operator) return findReadError(cluster, scope)
    const failure = operator.findReadFailure()
    return failure && performance.now() - failure.since > milliseconds ? failure.error : undefined
  }
  return {
    start: (lease) => {
      operator = new Operator(service, options, lease)
      return operator
    },
    ...(clusterLease && { condition: new ClusterLease(cluster, { ...clusterLease, findFailure, log }) }),
    onNewHolder: (holder) => options.log(`The server ${holder} applies the resources of ${options.cluster.server}.`),
    onError: options.onError,
  }
}

/** The controllers, which start once the cache is synced, and their shared state. */
interface Controllers {
  readonly inventory: NamespaceInventory
  readonly driftIndex: DriftIndex
  readonly realms: RealmController
  readonly namespaceStatuses: NamespaceStatuses
  readonly git: GitSourceController
}

/** Counts Regent's resources with the same condition `Ready`. */
function countByReadiness(resources: readonly Resource[]): ResourceReadiness[] {
  const counts = new Map<string, ResourceReadiness>()
  for (const { kind, metadata, status } of resources.filter(isRegentResource)) {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    const labels = { kind, namespace: metadata.namespace!, reason: ready?.reason ?? 'Unknown' }
    const key = JSON.stringify(labels)
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { ...labels, isReady: ready?.status === 'True', count })
  }
  return [...counts.values()]
}

class Operator implements LeaseWork {
  readonly #service: Service
  readonly #options: OperatorOptions
  readonly #lease: Lease
  readonly #abort = new AbortController()
  readonly #cache: ClusterCache
  readonly #secretWriter: SecretWriter
  readonly #statusWriter: StatusWriter
  readonly #fluxSources: FluxSources
  readonly #queue: WorkQueue<string>
  #controllers: Controllers | undefined

  constructor(service: Service, options: OperatorOptions, lease: Lease) {
    const { cluster, scope, onError } = options
    this.#service = service
    this.#options = options
    this.#lease = lease
    const handler = { onChange: () => this.#enqueue(), onError }
    this.#cache = watchCluster(cluster, { scope, handler, signal: this.#abort.signal })
    this.#fluxSources = new FluxSources(cluster, { scope, handler, signal: this.#abort.signal })
    this.#secretWriter = createSecretWriter(cluster, this.#cache)
    this.#statusWriter = new StatusWriter(this.#cache, {
      writer: new ResourceWriter(cluster, this.#cache.put),
      secretWriter: this.#secretWriter,
      clock: service.clock,
    })
    this.#queue = createOperatorQueue(() => this.#reconcile(), onError, {
      name: 'resources',
      measurements: service.measurements,
    })
    this.#queue.add(KEY)
    service.listResourceReadiness = () => countByReadiness(this.#listWatched())
  }

  /** Returns the longest failure to read resources of some kind; undefined if all can be read. */
  findReadFailure(): ReadFailure | undefined {
    return this.#cache.findFailure()
  }

  async end(): Promise<void> {
    this.#abort.abort()
    this.#service.listResourceReadiness = undefined
    await this.#queue.close()
    this.#controllers?.driftIndex.stop()
    await this.#controllers?.namespaceStatuses.close()
    await this.#controllers?.git.close()
    await this.#controllers?.realms.close()
  }

  /** Queues a resolution of the resources. Does nothing until the controllers have started. */
  #enqueue(): void {
    if (this.#controllers) this.#queue.addAfter(KEY, DEBOUNCE)
  }

  /** Resolves the resources, and updates the controllers. */
  async #reconcile(): Promise<void> {
    this.#controllers ??= await this.#startControllers()
    if (!this.#controllers) return
    const { inventory, realms, git, namespaceStatuses } = this.#controllers
    const { findOwnerNamespace } = inventory
    const { resources, realmSources, ...snapshot } = this.#cache.getSnapshot()
    const isWatched = ({ metadata }: Resource) => this.#options.isWatchedNamespace(metadata.namespace!)
    realms.update(resolveDesiredRealms({ ...snapshot, resources: resources.filter(isWatched), findOwnerNamespace }))
    git.update(parseGitSources(realmSources.filter(isWatched), snapshot.findSecretText, this.#fluxSources.find))
    namespaceStatuses.update(resources.filter(isWatched))
  }

  #listWatched(): Resource[] {
    const { resources, realmSources } = this.#cache.getSnapshot()
    return [...resources, ...realmSources].filter(({ metadata }) =>
      this.#options.isWatchedNamespace(metadata.namespace!),
    )
  }

  /** Starts the controllers once the cache is synced. Returns undefined if the operator has ended before. */
  async #startControllers(): Promise<Controllers | undefined> {
    const { signal } = this.#abort
    const inventory = await readNamespaceInventory(this.#service, this.#options.isWatchedNamespace)
    const postponedDeletions = await readPostponedDeletions(this.#service)
    await raceAbort(this.#cache.synced, signal).catch(() => undefined)
    if (signal.aborted) return undefined
    // The first reconciliation of each realm handles drift that exists already.
    const driftIndex = await watchDrift(this.#service, (realm, needsCorrection) =>
      this.#handleDriftChange(realm, needsCorrection),
    )
    const realms = this.#startRealmController(inventory, postponedDeletions, driftIndex)
    this.#addPermissionLookup(realms)
    const namespaceStatuses = new NamespaceStatuses(this.#service, this.#lease, this.#options.onError)
    const git = this.#startGitController(inventory, driftIndex, realms)
    return { inventory, driftIndex, realms, namespaceStatuses, git }
  }

  /** Lets requests to the API that name a namespace as their source have its permissions, until the operator ends. */
  #addPermissionLookup(controller: RealmController): void {
    const { sourcePermissionLookups: lookups } = this.#service
    const { getNamespaceLabels } = this.#cache.getSnapshot()
    const find: SourcePermissionLookup = (source) =>
      findClusterPermissions(source, controller.realms.values(), getNamespaceLabels)
    lookups.push(find)
    this.#abort.signal.addEventListener('abort', () => lookups.splice(lookups.indexOf(find), 1))
  }

  #startRealmController(
    inventory: NamespaceInventory,
    postponedDeletions: PostponedDeletions,
    driftIndex: DriftIndex,
  ): RealmController {
    const { findSourcePermissions, isAdoptable, publicUrl, log, onError } = this.#options
    return new RealmController(this.#service, {
      ...{ lease: this.#lease, cache: this.#cache, statusWriter: this.#statusWriter, inventory, driftIndex },
      ...{ postponedDeletions, findSourcePermissions, isAdoptable, publicUrl, log, onError },
      secretWriter: this.#secretWriter,
      onRealmChange: (realm) => this.#controllers?.git.retryRefused(realm),
    })
  }

  #startGitController(
    inventory: NamespaceInventory,
    driftIndex: DriftIndex,
    realms: RealmController,
  ): GitSourceController {
    const { gitDefaults, findSourcePermissions, isAdoptable, log, onError } = this.#options
    const { getNamespaceLabels } = this.#cache.getSnapshot()
    return new GitSourceController(this.#service, {
      ...{ lease: this.#lease, defaults: gitDefaults, inventory, driftIndex, statusWriter: this.#statusWriter },
      ...{ warn: log, onError },
      getPermissionInputs: () => ({
        ...{ realms: realms.realms, getNamespaceLabels },
        ...{ findOwnerNamespace: inventory.findOwnerNamespace, findSourcePermissions, isAdoptable },
      }),
      onRealmChange: (realm) => {
        realms.reconcile(realm)
        this.#enqueue()
      },
    })
  }

  #handleDriftChange(realm: string, needsCorrection: boolean): void {
    this.#controllers?.realms.handleDriftChange(realm, needsCorrection)
    this.#controllers?.git.handleDriftChange(realm)
  }
}
