// Saved plans: planned and saved, applied exactly as they were saved, or approved.
import { formatAddress } from '../../kinds/tree.ts'
import { hasPermission } from '../../service/context/admin-permissions.ts'
import { failure } from '../../service/context/errors.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { listLatestEntries } from '../../service/journal/journal.ts'
import {
  getPlanState,
  getSavedPlan,
  recordApproval,
  requireOpenPlan,
  type SavedPlanWithContent,
} from '../../service/sources/saved-plans.ts'
import { findPlanAuthors } from '../approve/plan-authors.ts'
import {
  getSavedOutcome,
  listRealmNames,
  type SavedPlanReference,
  storePlan,
  unpackSources,
} from '../approve/plan-storage.ts'
import type { PlannedRealm, RealmOutcome } from '../execute/realm-outcome.ts'
import type { RunInput } from '../merge/merge-sources.ts'
import { maskAction } from '../model/action.ts'
import { blame } from '../model/attribution.ts'
import { type DigestedPlan, digestRealmPlan } from '../plan/plan-digest.ts'
import { findStaleDeletions, findStaleObjects, type StaleObject } from '../plan/stale.ts'
import { applyRun, dryRunPlans, planRun, type RunOutcome } from './run.ts'

/** A saved plan is stale: the realm has changed since, and nothing was applied. */
export class StalePlanError extends Error {
  readonly stale: readonly StaleObject[]

  constructor(plan: string, stale: readonly StaleObject[]) {
    super(`The plan ${plan} is stale, since something has changed since it was saved. Plan again.`)
    this.stale = stale
  }
}

/** Plans sources and saves the plan. Throws `invalid` if the sources declare no realm. */
export async function planAndSave(input: RunInput): Promise<RunOutcome & { readonly saved: SavedPlanReference }> {
  const { service, caller, sources } = input
  const outcome = await planRun(input)
  if (!outcome.realms.length) throw failure('invalid', 'The sources declare no realm, so there is no plan to save.')
  const authors = await findPlanAuthors(service, caller, { sources, applied: new Map() })
  return { ...outcome, saved: await storePlan(service, caller, { sources, outcome, authors }) }
}

/**
 * Applies exactly a saved plan. `digest`: of the plan that the caller means. Throws StalePlanError if something has changed since;
 * `conflict` if the digest differs, or the plan is pending approval, applied or expired.
 */
export async function applySavedPlan(
  service: Service,
  caller: Caller,
  { id, digest }: { readonly id: string; readonly digest?: string | undefined },
): Promise<RunOutcome> {
  const saved = await getSavedPlan(service, caller, id)
  const now = service.clock()
  requireOpenPlan(saved, now)
  if (digest !== undefined && digest !== saved.digest)
    throw failure(
      'conflict',
      `The plan file was edited: its digest is not that of the saved plan ${id}. Use the original file, or plan again.`,
    )
  if (getPlanState(saved, now) === 'pending')
    throw failure('conflict', `The plan ${id} is pending approval. Run "regent approve ${id}".`)
  const sources = unpackSources(service, saved.sealedSources!)
  const only = listRealmNames(saved)
  const requireSame = (current: readonly CurrentPlan[]) => requireSamePlan({ service, caller }, saved, current)
  // A change in one realm prevents the apply in all of them.
  const plans = await dryRunPlans({ service, caller, sources, only })
  const byRealm = new Map(plans.map((plan) => [plan.planned.plan.realm, plan]))
  await requireSame([...only].map((realm) => ({ realm, ...byRealm.get(realm) })))
  return applyRun({
    service,
    caller,
    sources,
    only,
    savedPlan: { plan: id, requireSame: (planned) => requireSame([{ realm: planned.plan.realm, planned }]) },
  })
}

/** An approved plan, with the outcome of its apply if it was applied on its approval. */
export interface ApprovalOutcome {
  readonly plan: SavedPlanWithContent
  readonly outcome?: RunOutcome
}

/**
 * Approves a saved plan. If an apply of its sources left it pending, that apply continues now, with a new plan. Throws Forbidden,
 * `invalid` or `conflict`.
 */
export async function approveSavedPlan(
  service: Service,
  caller: Caller,
  { id, withCredentials = false }: { readonly id: string; readonly withCredentials?: boolean | undefined },
): Promise<ApprovalOutcome> {
  const plan = await recordApproval(service, caller, { plan: id, withCredentials })
  if (!plan.isFromRun) return { plan }
  const { createdBy } = plan
  // A source applies with its own permissions, an administrator with those of the approver, who may only be permitted to approve.
  if (createdBy.kind !== 'source' && !(await canApply(service, caller, plan))) return { plan }
  const applier = createdBy.kind === 'source' ? { actor: createdBy } : caller
  const sources = unpackSources(service, plan.sealedSources!)
  return { plan, outcome: await applyRun({ service, caller: applier, sources, only: listRealmNames(plan) }) }
}

/** Whether the caller may apply to all realms of a plan. */
async function canApply(service: Service, caller: Caller, plan: SavedPlanWithContent): Promise<boolean> {
  const permissions = await service.getPermissions(caller)
  return [...listRealmNames(plan)].every((realm) => hasPermission(permissions, realm, 'administer-realm'))
}

/** The current plan of a realm, which is absent if there is nothing to do in it, and the outcome of its dry run. */
interface CurrentPlan {
  readonly realm: string
  readonly planned?: PlannedRealm
  readonly outcome?: RealmOutcome
}

/** Throws StalePlanError unless the current plans equal the saved one. */
async function requireSamePlan(
  access: { readonly service: Service; readonly caller: Caller },
  saved: SavedPlanWithContent,
  current: readonly CurrentPlan[],
): Promise<void> {
  const stale: StaleObject[] = []
  for (const plan of current) {
    const changes = compareWithSaved(saved, plan)
    stale.push(...(plan.planned ? await addAuthors(access, plan.planned, changes) : changes))
  }
  if (stale.length) throw new StalePlanError(saved.id, stale)
}

/** Returns the changes since a plan was saved; empty if the current plan equals it. */
function compareWithSaved(saved: SavedPlanWithContent, { realm, planned, outcome }: CurrentPlan): StaleObject[] {
  const current: DigestedPlan = planned ?? { plan: { realm, creates: false, actions: [] } }
  const savedOutcome = getSavedOutcome(saved).realms.find(({ plan }) => plan.realm === realm)
  const then = { actions: savedOutcome?.plan.actions ?? [], consequences: savedOutcome?.consequences ?? [] }
  const now = {
    actions: current.plan.actions.map(maskAction),
    consequences: outcome?.consequences ?? then.consequences,
  }
  const digest = saved.realms.find(({ name }) => name === realm)?.digest
  const isDifferent = digestRealmPlan(current) !== digest
  const changes = [
    ...(isDifferent ? findStaleObjects(realm, then.actions, now.actions) : []),
    ...findStaleDeletions(realm, then, now),
  ]
  // Changes inside a deleted realm are not part of the plan, so only the realm is named.
  return isDifferent && !changes.length ? [{ realm, kind: 'realm', key: [realm], object: 'changed' }] : changes
}

/** Adds the authors of changes, from the journal. */
async function addAuthors(
  { service, caller }: { readonly service: Service; readonly caller: Caller },
  { input }: PlannedRealm,
  changes: readonly StaleObject[],
): Promise<StaleObject[]> {
  if (!input.exists || !changes.length) return [...changes]
  // The inventory holds the ids of deleted objects.
  const ids = new Map([
    ...input.managed.map(({ kind, key, object }) => [formatAddress(kind, key), object] as const),
    ...input.live.flatMap(({ kind, key, id }) => (id ? [[formatAddress(kind, key), id] as const] : [])),
  ])
  const identified = changes.map((change) => ({
    change,
    id: change.id ?? ids.get(formatAddress(change.kind, change.key)),
  }))
  const objects = identified.flatMap(({ change: { kind }, id }) => (id === undefined ? [] : [{ kind, object: id }]))
  const entries = await service.read(caller, input.currentName, (context) => listLatestEntries(context, objects))
  const changedBy = blame(entries)
  return identified.map(({ change, id }): StaleObject => {
    const by = id === undefined ? undefined : changedBy(change.kind, id, change.path)
    return { ...change, ...(by && { by }) }
  })
}
