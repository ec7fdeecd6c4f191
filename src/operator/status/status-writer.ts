// Writes the status of resources and events about its changes, and removes the finalizers of resources whose objects are deleted.
import { isDeepStrictEqual } from 'node:util'
import { getErrorMessage } from '../../lib/error-message.ts'
import { KEYCLOAK_IMPORT } from '../../realm-file/resources/keycloak-import.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import { shortenRevision } from '../../reconcile/model/attribution.ts'
import type { ClusterCache } from '../cluster/cluster-cache.ts'
import {
  type Condition,
  FINALIZER,
  isRegentResource,
  type Resource,
  type ResourceEvent,
  type ResourceStatus,
} from '../cluster/resource.ts'
import type { ResourceWriter } from '../cluster/resource-writer.ts'
import type { SecretWriter } from '../cluster/secret-writer.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ClusterRealm, UnresolvedResource } from '../desired/desired-realms.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { toImportConditions, toPendingApprovalCondition } from './conditions.ts'
import { findOutage } from './outage.ts'
import { getNamespaceResult } from './realm-run-result.ts'
import { isRemovalPostponed, type RealmReconciliation, toResourceStatus, toUnresolvedStatus } from './realm-status.ts'

/** A realm as it was reconciled, and the end of the reconciliation. */
export interface ReconciledRealm {
  readonly realm: ClusterRealm
  readonly reconciliation: RealmReconciliation
}

/** Options of a StatusWriter. */
export interface StatusWriterOptions {
  readonly writer: ResourceWriter
  readonly secretWriter: SecretWriter
  readonly clock: () => Date
}

/**
 * Writes the status of resources. An unchanged status is not written again. Methods that write several throw the first error of the
 * API server after all others were written.
 */
export class StatusWriter {
  readonly #cache: ClusterCache
  readonly #writer: ResourceWriter
  readonly #secretWriter: SecretWriter
  readonly #clock: () => Date
  /** Versions of resources whose status was compared with the current one. */
  readonly #compared = new WeakSet<Resource>()
  /** By uid: the last status of resources of Keycloak's operator, whose definitions have other fields. */
  readonly #keycloakStatuses = new Map<string, ResourceStatus>()

  constructor(cache: ClusterCache, { writer, secretWriter, clock }: StatusWriterOptions) {
    this.#cache = cache
    this.#writer = writer
    this.#secretWriter = secretWriter
    this.#clock = clock
  }

  /** Adds finalizers to the resources of a realm. Returns the faults of those where that failed, by file. */
  async addFinalizers({ resources }: ClusterRealm): Promise<ReadonlyMap<string, ResourceFault>> {
    const declared = resources.filter(({ resource, declaration }) => declaration && isRegentResource(resource))
    const faults = await Promise.all(
      declared.map(async (declaring) => [declaring.file, await this.#addFinalizer(declaring)] as const),
    )
    return new Map(faults.flatMap(([file, fault]) => (fault ? [[file, fault] as const] : [])))
  }

  /** Writes the status of all resources of a realm, and removes the finalizers of those whose objects are deleted. */
  writeRealm({ realm, reconciliation }: ReconciledRealm, drifts: readonly Drift[]): Promise<void> {
    if ('outage' in reconciliation) return this.#writeOutage(realm, reconciliation)
    const pendingDeletion = findPendingDeletion(realm, reconciliation)
    const toStatus = (declaring: DeclaringResource) => (prior: ResourceStatus) =>
      toResourceStatus(declaring, prior, { realm, reconciliation, drifts, now: this.#clock() })
    return writeAll(realm.resources, (declaring) => {
      const { resource, removal, file } = declaring
      if (removal && (pendingDeletion || canRelease(declaring, reconciliation)))
        return this.release(declaring, file === realm.owner?.file ? pendingDeletion : undefined)
      if (isRemovalPostponed(declaring, realm, reconciliation))
        return this.release(declaring, toPostponementEvent(toStatus(declaring)(resource.status ?? {})))
      return this.write(declaring, toStatus(declaring))
    })
  }

  /** Writes the status of resources that belong to no realm, and removes the finalizers of deleted ones. */
  writeUnresolved(resources: readonly UnresolvedResource[]): Promise<void> {
    return writeAll(resources, (declaring) =>
      declaring.removal
        ? this.release(declaring)
        : this.write(declaring, (prior) => toUnresolvedStatus(declaring, prior, this.#clock())),
    )
  }

  /** Writes the status of one resource. `toStatus` computes it from the current one. `isSilent`: without events. */
  async write(
    { resource }: DeclaringResource,
    toStatus: (prior: ResourceStatus) => ResourceStatus,
    { isSilent = false } = {},
  ): Promise<void> {
    const latest = this.#cache.findLatest(resource)
    if (!latest) return
    const { uid } = latest.metadata
    const [isOfKeycloak, isImport] = [!isRegentResource(latest), latest.kind === KEYCLOAK_IMPORT]
    const written = isOfKeycloak && !isImport ? undefined : latest.status
    const prior = this.#keycloakStatuses.get(uid) ?? written ?? {}
    const status = addShortRevision(toStatus(prior))
    if (isOfKeycloak) this.#keycloakStatuses.set(uid, status)
    else await this.#writer.writeStatus(latest, status)
    if (isImport) await this.#writer.writeImportConditions(latest, toImportConditions(status))
    for (const event of isSilent ? [] : listEvents(prior, status)) await this.#writer.writeEvent(latest, event)
    this.#compared.add(latest)
  }

  /** Removes the finalizer of a resource. Its Secrets stay if its object stays. `event`: reported before. */
  async release({ resource, removal }: DeclaringResource, event?: ResourceEvent): Promise<void> {
    const latest = this.#cache.findLatest(resource)
    if (!latest) return
    if (removal === 'released') await this.#secretWriter.disown(latest)
    if (event) await this.#writer.writeEvent(latest, event)
    await this.#writer.removeFinalizer(latest)
    this.#compared.add(latest)
  }

  /** Whether the status of this version of the resource is up to date, or the resource is deleted. */
  isCompared(resource: Resource): boolean {
    return this.#compared.has(resource) || this.#cache.findLatest(resource) === undefined
  }

  /** Writes an outage to the resource of the realm, and to those whose deletion it delays. Only the former gets an event. */
  #writeOutage(realm: ClusterRealm, reconciliation: RealmReconciliation): Promise<void> {
    const { owner, resources } = realm
    const affected = resources.filter(({ file, removal }) => removal || file === owner?.file)
    return writeAll(affected, (declaring) =>
      this.write(
        declaring,
        (prior) => toResourceStatus(declaring, prior, { realm, reconciliation, drifts: [], now: this.#clock() }),
        { isSilent: declaring.file !== owner?.file },
      ),
    )
  }

  /** Adds the finalizer to a resource. @throws if the API server does not respond. Returns a fault where that failed. */
  async #addFinalizer({ resource }: DeclaringResource): Promise<ResourceFault | undefined> {
    const latest = this.#cache.findLatest(resource)
    try {
      return latest && (await this.#writer.addFinalizer(latest)) ? undefined : toFinalizerFault('it was deleted')
    } catch (error) {
      if (findOutage(error)) throw error
      return toFinalizerFault(getErrorMessage(error))
    }
  }
}

function addShortRevision(status: ResourceStatus): ResourceStatus {
  const { lastAppliedRevision: revision } = status
  return revision === undefined ? status : { ...status, shortRevision: shortenRevision(revision.replace(/^\w+:/, '')) }
}

/** Writes all resources, then throws the first error. */
async function writeAll<T>(resources: readonly T[], write: (resource: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(resources.map(write))
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

/**
 * Returns the event of a realm whose resource is deleted, and whose deletion is pending approval, since it has users: the resources must
 * not wait for that, or their namespace could not be deleted. Undefined if there is nothing to approve.
 */
function findPendingDeletion({ owner }: ClusterRealm, reconciliation: RealmReconciliation): ResourceEvent | undefined {
  const pendingApproval = 'result' in reconciliation ? reconciliation.result.pendingApproval : undefined
  if (owner?.removal !== 'deleted' || !pendingApproval) return undefined
  const { reason, message } = toPendingApprovalCondition(pendingApproval, undefined)
  return { type: 'Warning', reason, message: `The realm stays live, unmanaged. ${message}` }
}

/** Returns the event of a deleted resource whose object cannot be deleted now. */
function toPostponementEvent({ conditions = [] }: ResourceStatus): ResourceEvent | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready')
  return ready && { type: 'Warning', reason: ready.reason, message: `The object stays live for now. ${ready.message}` }
}

/** Whether the finalizer of a deleted resource may be removed: its object is deleted, or it was never applied. */
function canRelease({ file, resource, namespace }: DeclaringResource, reconciliation: RealmReconciliation): boolean {
  const wasApplied = resource.status?.lastAppliedRevision !== undefined
  if ('skipReason' in reconciliation) return !wasApplied
  if (!('result' in reconciliation)) return false
  const { result } = reconciliation
  const ofNamespace = getNamespaceResult(result, namespace)
  if (typeof ofNamespace === 'string') return false
  return ofNamespace.outcome === 'applied' ? !result.faults.has(file) : !wasApplied
}

/** A resource without a finalizer is not applied, since its deletion could be missed, and its object would stay. */
function toFinalizerFault(reason: string): ResourceFault {
  const message = `The resource is not applied, since the finalizer ${FINALIZER} cannot be added: ${reason}.`
  return { reason: 'FinalizerNotAdded', message, lacksFinalizer: true }
}

/** Lists the events about the changes of a status. */
function listEvents(before: ResourceStatus, after: ResourceStatus): ResourceEvent[] {
  const [ready, drifted, warning] = (['Ready', 'Drifted', 'Warning'] as const).map((type) =>
    findChangedCondition(type, before, after),
  )
  const events: ResourceEvent[] = []
  if (ready?.status === 'False') events.push({ type: 'Warning', reason: ready.reason, message: ready.message })
  if (drifted) events.push({ type: 'Warning', reason: 'Drifted', message: drifted.message })
  if (warning) events.push({ type: 'Warning', reason: warning.reason, message: warning.message })
  const [lastRun] = after.history ?? []
  if (lastRun?.outcome === 'Applied' && after.plan && !isDeepStrictEqual(lastRun, before.history?.[0])) {
    const { create, update, delete: deletions } = after.plan
    const message = `${create} created, ${update} updated, ${deletions} deleted`
    events.push({ type: 'Normal', reason: 'Applied', message })
  } else if (ready?.status === 'True') events.push({ type: 'Normal', reason: ready.reason, message: ready.message })
  return events
}

/** Finds the condition of a type if its reason or message has changed. */
function findChangedCondition(
  type: Condition['type'],
  before: ResourceStatus,
  after: ResourceStatus,
): Condition | undefined {
  const [old, current] = [before, after].map(({ conditions = [] }) =>
    conditions.find((condition) => condition.type === type),
  )
  return current && (old?.reason !== current.reason || old.message !== current.message) ? current : undefined
}
