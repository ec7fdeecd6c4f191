// The status of a RealmSource. Pure.
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { ReportedSourceStatus } from '../../reconcile/following/followed-source.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import type { ResourceStatus, RunRecord } from '../cluster/resource.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import {
  formatTimestamp,
  optionalField,
  type ReadyCondition,
  toCommonStatus,
  toFaultCondition,
  toPendingApprovalCondition,
} from '../status/conditions.ts'
import { renderPlanText } from '../status/plan-text.ts'
import type { RefusedApproval } from '../status/realm-run-result.ts'
import type { GitSource } from './git-source.ts'

/**
 * The result of a reconciliation: the status after an attempt, the reason why the source cannot be followed or finalized, a temporary
 * failure, or `progressing` while the first attempt runs.
 */
export type GitSourceResult =
  | ReportedSourceStatus
  | { readonly fault: ResourceFault }
  | { readonly failure: string }
  | 'progressing'

/** A RealmSource with the result of its last reconciliation. */
export interface ObservedGitSource {
  /** The version of the resource that was reconciled. */
  readonly source: GitSource
  readonly result: GitSourceResult
  /** The request for a reconciliation that the result belongs to. */
  readonly handledRequest?: string | undefined
  readonly realms: readonly string[]
  /** A plan that the annotation of the resource does not approve. */
  readonly refusedApproval?: RefusedApproval
  /** The number of objects that it manages. Absent: not counted yet. */
  readonly objectCount?: number
}

/** Returns the status of the resource. `prior`: its current status. */
export function toGitSourceStatus(
  observed: ObservedGitSource,
  prior: ResourceStatus,
  { drifts, now }: { readonly drifts: readonly Drift[]; readonly now: Date },
): ResourceStatus {
  const { source, result, realms } = observed
  const suspended = isReported(result) && result.isSuspended ? describeSuspension(source) : undefined
  const sourceDrifts = drifts.filter((drift) => drift.source === source.name)
  return {
    ...toCommonStatus(source, prior, {
      realm: realms.length ? [...realms].sort().join(', ') : prior.realm,
      ready: toReadyCondition(observed),
      suspended,
      drifts: sourceDrifts,
      now,
    }),
    drift: new Set(sourceDrifts.map(({ realm, kind, key }) => `${realm} ${kind} ${key.join()}`)).size,
    ...(isReported(result) ? toAttemptFields(observed, result, prior) : keepAttemptFields(observed, prior)),
  }
}

/** Lists the pending approvals of a run, at most one per realm. */
export const listPendingApprovals = (outcome: RunOutcome | undefined) =>
  (outcome?.realms ?? []).flatMap(({ pendingApproval }) => pendingApproval ?? [])

/** Whether a result is the status after an attempt. */
export const isReported = (result: GitSourceResult | undefined): result is ReportedSourceStatus =>
  typeof result === 'object' && 'status' in result

/** Returns the fields about attempts after one. A source that depends on others has not handled a request yet. */
function toAttemptFields(
  { handledRequest, objectCount }: ObservedGitSource,
  { status, outcome }: ReportedSourceStatus,
  prior: ResourceStatus,
): Partial<ResourceStatus> {
  const isBlocked = status.ready?.reason === 'DependencyNotReady'
  const history = (status.attempts ?? []).map(
    ({ revision = '', at, message }): RunRecord => ({
      revision,
      time: formatTimestamp(new Date(at)),
      outcome: message === undefined ? 'Applied' : 'Failed',
      ...optionalField('message', message),
    }),
  )
  const plan = summarizePlan(outcome) ?? prior.plan ?? (outcome && { create: 0, update: 0, delete: 0 })
  return {
    ...optionalField(
      'lastHandledReconcileAt',
      isBlocked ? prior.lastHandledReconcileAt : (handledRequest ?? prior.lastHandledReconcileAt),
    ),
    ...optionalField('lastAppliedRevision', status.applied?.revision),
    ...optionalField('lastAttemptedRevision', status.attempted?.revision),
    ...optionalField('plan', plan),
    ...optionalField('inventory', objectCount === undefined ? prior.inventory : { objects: objectCount }),
    ...(history.length && { history }),
  }
}

/** Returns the fields about earlier attempts, while there is no new one. */
function keepAttemptFields({ handledRequest }: ObservedGitSource, prior: ResourceStatus): Partial<ResourceStatus> {
  const { lastHandledReconcileAt, lastAppliedRevision, lastAttemptedRevision, plan, inventory, history } = prior
  return {
    ...optionalField('lastHandledReconcileAt', handledRequest ?? lastHandledReconcileAt),
    ...optionalField('lastAppliedRevision', lastAppliedRevision),
    ...optionalField('lastAttemptedRevision', lastAttemptedRevision),
    ...optionalField('plan', plan),
    ...optionalField('inventory', inventory),
    ...optionalField('history', history),
  }
}

function toReadyCondition({ source, result, refusedApproval }: ObservedGitSource): ReadyCondition {
  if (result === 'progressing')
    return {
      status: 'Unknown',
      reason: 'Progressing',
      message: 'Reconciliation is in progress.',
      abnormal: 'Reconciling',
    }
  if ('fault' in result) return toFaultCondition(result.fault)
  if ('failure' in result)
    return { status: 'False', reason: 'Failed', message: result.failure, abnormal: 'Reconciling' }
  // A suspended source keeps the condition of its last attempt.
  if (result.isSuspended && !result.status.ready)
    return { status: 'False', reason: 'Suspended', message: describeSuspension(source) }
  const [pendingApproval] = listPendingApprovals(result.outcome)
  if (pendingApproval && result.status.ready?.reason === 'PendingApproval')
    return toPendingApprovalCondition(pendingApproval, source.resource, refusedApproval)
  return toAttemptCondition(source, result)
}

function describeSuspension({ name, config }: GitSource): string {
  const solution = config?.spec.suspend ? 'Set spec.suspend to false' : `Run "regent source resume ${name}"`
  return `The source is suspended, and applied objects are retained. ${solution} to resume it.`
}

function toAttemptCondition(
  { name, config }: GitSource,
  { status: { ready, attempted } }: ReportedSourceStatus,
): ReadyCondition {
  const message = ready?.message.replaceAll('\n', '; ') ?? ''
  switch (ready?.reason) {
    case 'Applied':
      return { status: 'True', reason: 'Applied', message: 'The declared state is live.' }
    case 'Retrying':
      return { status: 'False', reason: 'Failed', message, abnormal: 'Reconciling' }
    case 'DependencyNotReady':
      return { status: 'False', reason: 'DependencyNotReady', message, abnormal: 'Reconciling' }
    case 'PendingApproval':
      return { status: 'False', reason: 'PendingApproval', message, abnormal: 'Stalled' }
    case 'RolledBack': {
      const text = `The source is ${message}. Resume it with "regent source resume ${name}".`
      return { status: 'False', reason: 'RolledBack', message: text, abnormal: 'Stalled' }
    }
    default: {
      const noun = config?.spec.sourceRef ? 'Revision' : 'Commit'
      const subject = attempted?.revision ? `${noun} ${attempted.revision} was not applied: ` : ''
      return { status: 'False', reason: 'Invalid', message: subject + message, abnormal: 'Stalled' }
    }
  }
}

/** Returns the number of changes by operation; undefined if there are none. */
function summarizePlan(outcome: RunOutcome | undefined): ResourceStatus['plan'] {
  const operations = (outcome?.realms ?? []).flatMap(({ plan }) => [
    ...plan.actions.map(({ operation }) => operation),
    ...(plan.creates ? ['create' as const] : []),
  ])
  if (!operations.length) return undefined
  const count = (counted: (typeof operations)[number]) => operations.filter((operation) => operation === counted).length
  const id = listPendingApprovals(outcome)[0]?.plan
  return {
    ...optionalField('id', id),
    ...{ create: count('create'), update: count('update'), delete: count('delete') },
    ...optionalField('changes', id === undefined ? undefined : renderPlanText(outcome!, true)),
  }
}
