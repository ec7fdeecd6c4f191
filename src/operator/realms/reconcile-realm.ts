// Reconciles one realm: applies it unless it is suspended or not ready, and approves its plan if an annotation does.
import { createDeadline, type Deadline } from '../../lib/timing/deadline.ts'
import { parseDuration } from '../../realm-file/resources/duration.ts'
import { failure, ServiceError } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import { approveByAnnotation } from '../cluster/approve-by-annotation.ts'
import { APPROVED_PLAN_ANNOTATION } from '../cluster/resource.ts'
import type { SkipReason } from '../desired/dependencies.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { listPendingPlans, type RealmRunResult, type RefusedApproval } from '../status/realm-run-result.ts'
import { applyRealm, type RealmRunOptions } from './realm-run.ts'

/** The outcome of a reconciliation: a run, or the reason why there was none. */
export type ReconcileOutcome = { readonly result: RealmRunResult } | { readonly skipReason: SkipReason }

/** Applies the realm unless there is a reason to skip it. Throws errors that no resource causes. */
export async function reconcileRealm(
  service: Service,
  realm: ClusterRealm,
  { skipReason, ...rest }: Omit<RealmRunOptions, 'deadline'> & { readonly skipReason: SkipReason | undefined },
): Promise<ReconcileOutcome> {
  if (skipReason) return { skipReason }
  const options = { ...rest, deadline: createRunDeadline(realm) }
  const result = await applyRealm(service, realm, options)
  const approval = await approvePlan(service, realm, result)
  if (approval === 'none') return { result }
  if (approval !== 'approved') return { result: { ...result, refusedApproval: approval } }
  return { result: await applyRealm(service, realm, options) }
}

/** Approves the pending plan of a run if an annotation of the realm's resource names it. Returns the refusal, if it may not. */
async function approvePlan(
  service: Service,
  { owner }: ClusterRealm,
  result: RealmRunResult,
): Promise<'none' | 'approved' | RefusedApproval> {
  const plan = owner?.resource.metadata.annotations?.[APPROVED_PLAN_ANNOTATION]
  if (!owner || plan === undefined || !listPendingPlans(result).includes(plan)) return 'none'
  try {
    await approveByAnnotation(service, owner.resource, plan)
    return 'approved'
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'forbidden')
      return { plan, reason: error.reason ?? error.message }
    throw error
  }
}

/** Returns the deadline of a run that starts now; undefined if the realm has no `timeout`. */
function createRunDeadline({ owner }: ClusterRealm): Deadline | undefined {
  const timeout = owner?.resource.spec?.timeout
  if (typeof timeout !== 'string') return undefined
  const message = `The run exceeded spec.timeout of ${owner!.file}, ${timeout}, and was rolled back.`
  return createDeadline(parseDuration(timeout) * 1000, failure('timeout', message))
}
