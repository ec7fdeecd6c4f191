// The status of the resources of a realm after a reconciliation. Pure.
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { ResourceStatus, RunRecord } from '../cluster/resource.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { SkipReason } from '../desired/dependencies.ts'
import type { ClusterRealm, UnresolvedResource } from '../desired/desired-realms.ts'
import { getRevision } from '../desired/realm-sources.ts'
import {
  findReadyCondition,
  findReconcileRequest,
  formatTimestamp,
  optionalField,
  type ReadyCondition,
  toCommonStatus,
  toFaultCondition,
  toPendingApprovalCondition,
} from './conditions.ts'
import type { Outage } from './outage.ts'
import { getNamespaceResult, hasChanges, type RealmRunResult } from './realm-run-result.ts'

/** The end of a reconciliation of a realm: the result of its run, a temporary failure, an outage, or the reason why there was no run. */
export type RealmReconciliation = { readonly at: Date } & (
  | { readonly result: RealmRunResult }
  | { readonly failure: string }
  | { readonly outage: Outage }
  | { readonly skipReason: SkipReason }
)

/** The state that the status of resources of a realm is computed from. */
export interface RealmStatusInput {
  readonly realm: ClusterRealm
  readonly reconciliation: RealmReconciliation
  readonly drifts: readonly Drift[]
  readonly now: Date
}

/** Runs in the history of a status, at most. */
const MAX_HISTORY = 5

/** Merges a reconciliation whose status was not written yet with the next one, so that its changes are reported. */
export function mergeReconciliations(
  unreported: RealmReconciliation,
  latest: RealmReconciliation,
): RealmReconciliation {
  if (!('result' in unreported && 'result' in latest)) return latest
  const [{ result: first }, { result: second }] = [unreported, latest]
  if (first.outcome !== 'applied' || second.outcome !== 'applied' || !hasChanges(first.plan) || hasChanges(second.plan))
    return latest
  return { at: unreported.at, result: { ...second, plan: first.plan } }
}

/** Returns the status of a resource of the realm. `prior`: its current status. */
export function toResourceStatus(
  declaring: DeclaringResource,
  prior: ResourceStatus,
  { realm, reconciliation, drifts, now }: RealmStatusInput,
): ResourceStatus {
  const { declaration, file } = declaring
  const isOwner = file === realm.owner?.file
  const resourceDrifts = drifts.filter((drift) => drift.file === file)
  const revision =
    declaration && getRevision(isOwner ? realm.resources.filter((resource) => resource.declaration) : [declaring])
  const skipped = 'skipReason' in reconciliation ? reconciliation.skipReason : undefined
  const suspended = skipped?.type === 'intended' ? skipped.message : undefined
  const hasChanged = declaring.removal !== undefined || prior.lastAttemptedRevision !== revision
  const retained = suspended !== undefined && !hasChanged ? findReadyCondition(prior) : undefined
  const ready = retained ?? toReadyCondition(declaring, realm, reconciliation)
  const isApplied = ready.status === 'True' && revision !== undefined
  // Without a run, no request is handled.
  const handledRequest = 'skipReason' in reconciliation ? prior.lastHandledReconcileAt : findReconcileRequest(declaring)
  return {
    ...toCommonStatus(declaring, prior, {
      ...{ realm: realm.name, ready, drifts: resourceDrifts, suspended, now },
      warnings: ready.status === 'True' ? listWarnings(declaring, prior, reconciliation) : [],
    }),
    ...optionalField('lastHandledReconcileAt', handledRequest),
    ...optionalField('lastAppliedRevision', isApplied ? revision : prior.lastAppliedRevision),
    ...optionalField('lastAttemptedRevision', revision ?? prior.lastAttemptedRevision),
    drift: new Set(resourceDrifts.map(({ kind, key }) => `${kind} ${key.join()}`)).size,
    ...(isOwner && toRunFields(prior, reconciliation, { revision, ready })),
  }
}

/**
 * Whether the object of a deleted resource cannot be deleted or released before something changes, such as an approval. Temporary failures
 * do not count, and neither does the resource of the realm itself.
 */
export function isRemovalPostponed(
  { file, namespace, removal, resource }: DeclaringResource,
  { owner }: ClusterRealm,
  reconciliation: RealmReconciliation,
): boolean {
  const wasApplied = resource.status?.lastAppliedRevision !== undefined
  if (!removal || !wasApplied || file === owner?.file) return false
  if ('skipReason' in reconciliation) return true
  if (!('result' in reconciliation)) return false
  const ofNamespace = getNamespaceResult(reconciliation.result, namespace)
  if (typeof ofNamespace === 'string') return false
  return ofNamespace.outcome !== 'applied' || reconciliation.result.faults.has(file)
}

/** Lists the warnings about a resource: those of the run, or the current ones if nothing was planned. */
function listWarnings(
  { file, namespace }: DeclaringResource,
  { conditions = [] }: ResourceStatus,
  reconciliation: RealmReconciliation,
): readonly string[] {
  const result = 'result' in reconciliation ? getNamespaceResult(reconciliation.result, namespace) : undefined
  if (typeof result === 'object' && result.warnings) return result.warnings.get(file) ?? []
  return conditions.flatMap(({ type, message }) => (type === 'Warning' ? message : []))
}

/** Returns the status of a resource that belongs to no realm. `prior`: its current status. */
export function toUnresolvedStatus(declaring: UnresolvedResource, prior: ResourceStatus, now: Date): ResourceStatus {
  const { lastAppliedRevision, lastAttemptedRevision } = prior
  return {
    ...toCommonStatus(declaring, prior, { ready: toFaultCondition(declaring.fault), drifts: [], now }),
    ...optionalField('lastHandledReconcileAt', findReconcileRequest(declaring)),
    ...optionalField('lastAppliedRevision', lastAppliedRevision),
    ...optionalField('lastAttemptedRevision', lastAttemptedRevision),
  }
}

function toReadyCondition(
  declaring: DeclaringResource,
  realm: ClusterRealm,
  reconciliation: RealmReconciliation,
): ReadyCondition {
  if ('failure' in reconciliation) return toFailureCondition(declaring, reconciliation.failure)
  if ('outage' in reconciliation) {
    const { reason, message } = reconciliation.outage
    return { status: 'False', reason, message: getPrefix(declaring) + message, abnormal: 'Reconciling' }
  }
  if ('skipReason' in reconciliation) {
    const { reason, message, type } = reconciliation.skipReason
    const abnormal = type === 'stalled' ? 'Stalled' : 'Reconciling'
    const prefixed = getPrefix(declaring) + message
    return { status: 'False', reason, message: prefixed, ...(type !== 'intended' && { abnormal }) }
  }
  return toRunCondition(declaring, realm, reconciliation.result)
}

function toFailureCondition(declaring: DeclaringResource, failure: string): ReadyCondition {
  return { status: 'False', reason: 'Failed', message: getPrefix(declaring) + failure, abnormal: 'Reconciling' }
}

const getPrefix = ({ removal }: DeclaringResource): string => (removal ? 'The object is not deleted yet: ' : '')

function toRunCondition(declaring: DeclaringResource, { owner }: ClusterRealm, result: RealmRunResult): ReadyCondition {
  const { faults, secretFaults } = result
  const fault = faults.get(declaring.file) ?? secretFaults?.get(declaring.file)
  if (fault) return toFaultCondition(fault)
  if (owner?.removal && declaring.file !== owner.file)
    return toFaultCondition({
      reason: 'RealmNotFound',
      message: `The Realm of the object, ${owner.file}, was deleted.`,
      isTemporary: true,
    })
  if (declaring.isObserver)
    return { status: 'True', reason: 'Observed', message: 'The realm exists, and others manage it.' }
  const ofNamespace = getNamespaceResult(result, declaring.namespace)
  if (typeof ofNamespace === 'string') return toFailureCondition(declaring, ofNamespace)
  const { outcome, plan, pendingApproval } = ofNamespace
  if (pendingApproval) return toPendingApprovalCondition(pendingApproval, owner?.resource, result.refusedApproval)
  if (outcome === 'suspended') {
    const message = 'The realm was rolled back to an earlier revision. Resume with "regent source resume".'
    return { status: 'False', reason: 'RolledBack', message, abnormal: 'Stalled' }
  }
  if (outcome === 'planned' && hasChanges(plan)) {
    const counts = `create ${plan.create}, update ${plan.update} and delete ${plan.delete} objects`
    const message = `The mode is plan: an apply would ${counts}.`
    return { status: 'False', reason: 'Planned', message, abnormal: 'Stalled' }
  }
  return { status: 'True', reason: 'Applied', message: 'The declared state is live.' }
}

/** Returns the fields about runs of a realm. A run without changes adds nothing to the history. */
function toRunFields(
  prior: ResourceStatus,
  reconciliation: RealmReconciliation,
  { revision = '', ready }: { readonly revision: string | undefined; readonly ready: ReadyCondition },
): Partial<ResourceStatus> {
  const { plan, inventory, history = [] } = prior
  const toRun = (outcome: RunRecord['outcome'], message?: string): RunRecord => ({
    ...{ revision, time: formatTimestamp(reconciliation.at), outcome },
    ...optionalField('message', message),
  })
  if (!('result' in reconciliation)) {
    const runs = 'skipReason' in reconciliation ? history : addRun(history, toRun('Failed', ready.message))
    return {
      ...optionalField('plan', plan),
      ...optionalField('inventory', inventory),
      ...(runs.length && { history: runs }),
    }
  }
  const { result } = reconciliation
  const objects = { objects: result.objectCount }
  if (!hasChanges(result.plan) && !result.pendingApproval) {
    const runs = ready.status === 'False' ? addRun(history, toRun('Failed', ready.message)) : history
    return { plan: plan ?? result.plan, inventory: objects, ...(runs.length && { history: runs }) }
  }
  return {
    plan: {
      ...optionalField('id', result.pendingApproval?.plan),
      ...result.plan,
      ...optionalField('changes', result.changes),
    },
    inventory: objects,
    history: addRun(history, result.outcome === 'applied' ? toRun('Applied') : toRun('Planned', ready.message)),
  }
}

/** Adds a run to a history, unless the last run was the same. */
function addRun(history: readonly RunRecord[], run: RunRecord): readonly RunRecord[] {
  const [last] = history
  const isSame = last?.revision === run.revision && last.outcome === run.outcome && last.message === run.message
  const isRepeated = isSame && (run.outcome !== 'Applied' || last.time === run.time)
  return isRepeated ? history : [run, ...history].slice(0, MAX_HISTORY)
}
