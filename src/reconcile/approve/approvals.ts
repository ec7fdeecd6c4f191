// Approvals: whether a plan may be applied although guards block it.
import { describeObject } from '../../kinds/tree.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { findPlanApproval, revokeApproval } from '../../service/sources/saved-plans.ts'
import { dryRun } from '../execute/execute.ts'
import type { PlannedRealm } from '../execute/realm-outcome.ts'
import type { AppliedApproval, Note } from '../model/action.ts'
import { digestRealmPlan } from '../plan/plan-digest.ts'
import { findStaleDeletions } from '../plan/stale.ts'
import { getSavedOutcome } from './plan-storage.ts'

/** A saved plan that is applied, with its approval. */
export interface AppliedPlanReference {
  /** The id of the saved plan. */
  readonly plan: string
  readonly approval?: AppliedApproval
}

/** The approval of a plan. `users`: ids of existing users who get their declared credentials. */
export interface ApprovedPlan extends Required<AppliedPlanReference> {
  readonly users: ReadonlySet<string> | undefined
}

/** A plan needs an approval and has none. `notes`: why an earlier approval is void. */
export interface MissingApproval {
  readonly notes: readonly Note[]
}

/**
 * Returns the approval of a plan; undefined if it needs none. An approval is void once the objects that the plan deletes have
 * changed. `savedPlan`: only the approval of that saved plan counts. No statement, or one and a dry run.
 */
export async function findApproval(
  service: Service,
  caller: Caller,
  { planned, savedPlan }: { readonly planned: PlannedRealm; readonly savedPlan?: string | undefined },
): Promise<ApprovedPlan | MissingApproval | undefined> {
  if (!planned.guards.length) return undefined
  const { realm } = planned.plan
  const saved = await findPlanApproval(service, { realm, digest: digestRealmPlan(planned), plan: savedPlan })
  if (!saved) return { notes: [] }
  const { plan, by, at, withCredentials } = saved
  const approved = getSavedOutcome(saved).realms.find((outcome) => outcome.plan.realm === realm)!
  const { consequences } = await dryRun(service, caller, planned)
  const changed = findStaleDeletions(realm, { ...approved.plan, ...approved }, { ...planned.plan, consequences })
  if (changed.length) {
    await revokeApproval(service, plan)
    const names = changed.map(({ kind, key }) => describeObject(kind, key)).join(', ')
    return { notes: [{ message: `The approval by ${by} is void, since objects to delete have changed: ${names}.` }] }
  }
  const users = planned.guards.flatMap(({ guard, objects }) =>
    guard === 'adoption' || guard === 'recreated' ? objects : [],
  )
  return {
    plan,
    approval: { plan, by, at: at.toISOString() },
    users: withCredentials ? new Set(users) : undefined,
  }
}
